package esindex_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/esindex"
)

// TestPing checks that a user without the right to query the cluster's health queries the index
// instead.
func TestPing(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		status, index int
		own           bool
		up            bool
	}{
		{200, 500, true, true},
		{403, 200, true, true},
		{403, 403, true, false},
		{403, 404, true, false},
		{403, 200, false, false},
		{401, 200, true, false},
		{429, 200, true, false},
		{503, 200, true, false},
		{200, 200, false, false},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if tt.own {
				w.Header().Set("X-Elastic-Product", "Elasticsearch")
			}
			status := tt.status
			if r.URL.Path == "/items" {
				status = tt.index
			}
			w.WriteHeader(status)
		}))
		client, err := esindex.Connect(esindex.ClientConfig{Addresses: []string{server.URL}})
		require.NoError(t, err)
		if err = esindex.Ping(t.Context(), client, "items"); tt.up {
			assert.NoError(t, err, "%+v", tt)
		} else {
			assert.Error(t, err, "%+v", tt)
		}
		server.Close()
	}
}
