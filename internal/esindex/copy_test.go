package esindex_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/esindex"
)

// losesShard is a client whose pages after the first lack a shard, as when a node goes away meanwhile.
type losesShard struct{ esindex.Client }

func (c losesShard) Perform(req *http.Request) (*http.Response, error) {
	res, err := c.Client.Perform(req)
	if err != nil || req.URL.Path != "/_search/scroll" {
		return res, err
	}
	body, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	body = bytes.Replace(body, []byte(`"failed":0`), []byte(`"failed":1`), 1)
	res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return res, err
}

// TestExportWhole exports an index of several pages whole. One whose shard goes away meanwhile is an error, and
// not an index with fewer documents.
func TestExportWhole(t *testing.T) {
	t.Parallel()
	client, index := connect(t)
	send(t, client, http.MethodPut, "/"+index, `{"settings":{"number_of_replicas":0}}`)
	n := 0
	require.NoError(t, esindex.Import(t.Context(), client, index, func() (d esindex.Document, more bool, err error) {
		n++
		d.ID, d.Source = fmt.Sprintf("doc_%d", n), []byte(`{"n":1}`)
		return d, n <= 2500, nil
	}))
	found := map[string]bool{}
	export := func(client esindex.Client) error {
		return esindex.Export(t.Context(), client, index, func(d esindex.Document) error { found[d.ID] = true; return nil })
	}
	require.NoError(t, export(client))
	assert.Len(t, found, 2500)
	require.ErrorIs(t, export(losesShard{client}), esindex.ErrUnavailable)
	require.NoError(t, esindex.Export(t.Context(), client, index+"-none", func(esindex.Document) error { return nil }))
}
