package esindex_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/esindex"
)

// node answers like Elasticsearch and passes on the requests.
func node(t *testing.T, status int, asked chan<- *http.Request) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked != nil {
			asked <- r
		}
		w.Header().Set("X-Elastic-Product", "Elasticsearch")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{}`)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

func TestConnectSendsCredentials(t *testing.T) {
	for name, c := range map[string]struct {
		cfg  esindex.ClientConfig
		user string // in the address
		want string // header
	}{
		"nobody":              {},
		"key":                 {cfg: esindex.ClientConfig{APIKey: "a2V5"}, want: "APIKey a2V5"},
		"user in the address": {user: "u:p@", want: "Basic dTpw"},
	} {
		t.Run(name, func(t *testing.T) {
			asked := make(chan *http.Request, 1)
			address := "http://" + c.user + node(t, http.StatusOK, asked)[len("http://"):]
			c.cfg.Addresses = []string{address + "/below/"}
			client, err := esindex.Connect(c.cfg)
			require.NoError(t, err)
			require.NoError(t, esindex.Do(t.Context(), client, http.MethodPost, "/items/_search", "a=1", []byte(`{}`), nil))
			got := <-asked
			assert.Equal(t, c.want, got.Header.Get("Authorization"))
			assert.Equal(t, "/below/items/_search?a=1", got.URL.String())
			assert.Equal(t, "application/json", got.Header.Get("Content-Type"))
			assert.Equal(t, "freshet", got.UserAgent())
		})
	}
}

func TestConnectTriesOtherNode(t *testing.T) {
	client, err := esindex.Connect(esindex.ClientConfig{Addresses: []string{
		"http://127.0.0.1:1", node(t, http.StatusServiceUnavailable, nil), node(t, http.StatusOK, nil),
	}})
	require.NoError(t, err)
	for range 6 { // wherever the rotation begins
		require.NoError(t, esindex.Do(t.Context(), client, http.MethodPost, "/items/_search", "", []byte(`{}`), nil))
	}
}

func TestConnectRefuses(t *testing.T) {
	_, err := esindex.Connect(esindex.ClientConfig{})
	require.ErrorContains(t, err, "no Elasticsearch address")
	_, err = esindex.Connect(esindex.ClientConfig{Addresses: []string{"http://h:9200", "http://u:secret@h:9200 1"}})
	require.ErrorContains(t, err, "address 2")
	require.NotContains(t, err.Error(), "secret")
}
