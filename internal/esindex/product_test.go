package esindex_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/esindex"
)

// The answers of roots.
const (
	openSearch2   = `{"version":{"distribution":"opensearch","number":"2.19.1"},"tagline":"The OpenSearch Project: https://opensearch.org/"}`
	openSearch1   = `{"version":{"distribution":"opensearch","number":"1.3.20"},"tagline":"The OpenSearch Project: https://opensearch.org/"}`
	compatible    = `{"version":{"number":"7.10.2"},"tagline":"The OpenSearch Project: https://opensearch.org/"}`
	elasticsearch = `{"version":{"number":"7.10.2"},"tagline":"You Know, for Search"}`
	loginForm     = `{"login":"please"}`
)

// product is a server without the header of Elasticsearch.
type product struct {
	root   string      // its answer to GET /; "" refuses it
	header http.Header // of all answers
	roots  int         // how often its root was asked
}

// RoundTrip implements [http.RoundTripper].
func (p *product) RoundTrip(req *http.Request) (*http.Response, error) {
	status, body := http.StatusOK, `{"hits":{"hits":[]}}`
	switch req.URL.Path {
	case "/":
		p.roots++
		body = p.root
		if body == "" {
			status, body = http.StatusForbidden, `{"error":{"type":"security_exception","reason":"no permissions for [cluster:monitor/main]"},"status":403}`
		}
	case "/missing":
		status, body = http.StatusNotFound, ""
	}
	return &http.Response{StatusCode: status, Header: p.header.Clone(), Body: io.NopCloser(strings.NewReader(body)), Request: req}, nil
}

func (p *product) client(t *testing.T) esindex.Client {
	t.Helper()
	if p.header == nil {
		p.header = http.Header{"Content-Type": {"application/json; charset=UTF-8"}}
	}
	client, err := esindex.Connect(esindex.ClientConfig{Addresses: []string{"http://node"}, Transport: p})
	require.NoError(t, err)
	return client
}

// search returns whether the answer to a search was used.
func search(t *testing.T, client esindex.Client) (read bool, err error) {
	t.Helper()
	err = esindex.Do(t.Context(), client, http.MethodPost, "/items/_search", "", []byte("{}"), func([]byte) error { read = true; return nil })
	return read, err
}

func TestConnectOtherProduct(t *testing.T) {
	t.Parallel()
	for root, says := range map[string]string{
		loginForm:     "",
		`<html>`:      "",
		openSearch1:   "it is OpenSearch 1.3.20",
		compatible:    "it is OpenSearch",
		elasticsearch: "it is Elasticsearch 7.10.2",
	} {
		read, err := search(t, (&product{root: root}).client(t))
		require.ErrorIs(t, err, esindex.ErrUnavailable)
		require.ErrorContains(t, err, "does not come from Elasticsearch 8")
		require.ErrorContains(t, err, says)
		require.False(t, read)
	}
	page := &product{root: openSearch2, header: http.Header{"Content-Type": {"text/html"}}}
	read, err := search(t, page.client(t))
	require.ErrorContains(t, err, "does not come from Elasticsearch 8", "whatever its root says")
	require.False(t, read)
	refuses := &product{}
	_, err = search(t, refuses.client(t))
	require.ErrorIs(t, err, esindex.ErrUnavailable)
	require.ErrorContains(t, err, "cluster:monitor/main", "the right that the user lacks")
}

// TestConnectOpenSearch checks that the answers of OpenSearch 2, which do not name it, are used while its
// root names it, and that the root is asked once in seconds.
func TestConnectOpenSearch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &product{root: openSearch2}
		client := p.client(t)
		for range 10 {
			read, err := search(t, client)
			require.NoError(t, err)
			require.True(t, read)
		}
		assert.Equal(t, 1, p.roots)
		err := esindex.Do(t.Context(), client, http.MethodHead, "/missing", "", nil, nil)
		var e *esindex.Error
		require.ErrorAs(t, err, &e)
		assert.False(t, e.Foreign, "404 is the answer of OpenSearch")
		about, err := esindex.CheckProduct(t.Context(), client)
		require.NoError(t, err)
		assert.Equal(t, "OpenSearch 2.19.1", about.String())
		assert.True(t, about.Tested())

		p.root = loginForm // the address leads to something else now
		time.Sleep(5 * time.Second)
		read, err := search(t, client)
		require.ErrorContains(t, err, "does not come from Elasticsearch 8")
		require.False(t, read)
		err = esindex.Do(t.Context(), client, http.MethodHead, "/missing", "", nil, nil)
		require.ErrorAs(t, err, &e)
		assert.True(t, e.Foreign)

		p.root = openSearch2
		read, err = search(t, client)
		require.NoError(t, err, "it is back")
		require.True(t, read)
	})
}

// TestConnectOpenSearchHeader checks that OpenSearch 3, which names itself in each answer, is not asked.
func TestConnectOpenSearchHeader(t *testing.T) {
	t.Parallel()
	p := &product{header: http.Header{"X-Opensearch-Version": {"OpenSearch/3.0.0 (opensearch)"}, "Content-Type": {"application/json"}}}
	read, err := search(t, p.client(t))
	require.NoError(t, err)
	require.True(t, read)
	assert.Zero(t, p.roots)
}

// TestUnwritable has the errors of a document that cannot be written as JSON, and others like them.
func TestUnwritable(t *testing.T) {
	t.Parallel()
	for want, errs := range map[bool][]*esindex.Error{
		true:  {{Status: 500, Type: "x_content_parse_exception"}, {Status: 400, Type: "json_parse_exception"}}, // Elasticsearch's, OpenSearch's
		false: {{Status: 400, Type: "x_content_parse_exception"}, {Status: 400, Type: "parsing_exception"}, {Status: 503, Type: "json_parse_exception"}},
	} {
		for _, err := range errs {
			assert.Equal(t, want, esindex.Unwritable(err), "%v", err)
		}
	}
}
