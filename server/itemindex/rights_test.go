package itemindex

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
)

// refusals are how Elasticsearch refuses a write, and what is reported of it for an index.
var refusals = map[string]struct{ cause, says string }{
	"the user has lost the right": {
		`{"type":"security_exception","reason":"action [indices:data/write/bulk] is unauthorized for user [freshet]"}`,
		"its user lacks the privilege write for %s",
	},
	"the cluster is read-only, which no setting of the index says": {
		`{"type":"cluster_block_exception","reason":"blocked by: [FORBIDDEN/6/cluster read-only (api)];"}`,
		"%s: blocked by: [FORBIDDEN/6/cluster read-only (api)];",
	},
}

// TestRefusedWritesReported lets Elasticsearch refuse writes to one of the indices, and accept them again.
func TestRefusedWritesReported(t *testing.T) {
	t.Parallel()
	for name, refusal := range refusals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testRefusedWrites(t, refusal.cause, refusal.says)
		})
	}
}

func testRefusedWrites(t *testing.T, cause, says string) {
	address, index := testenv.Elastic(t)
	forward := testenv.Forward(t, address, nil)
	var revoked atomic.Value
	revoked.Store("")
	elastic := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		of := revoked.Load().(string)
		if of != "" && strings.HasPrefix(r.URL.Path, "/"+of+"-write/_bulk") {
			w.Header().Set("X-Elastic-Product", "Elasticsearch")
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"error":`+cause+`,"status":403}`)
			return
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(elastic.Close)
	s := at(t, elastic.URL, index)
	require.NoError(t, s.watch.Try(t.Context()))
	s.begin()
	for _, of := range []string{index, index + "-agents", index + "-ranking"} {
		revoked.Store(of)
		s.watch.checkWrites(t.Context())
		state := s.watch.Check(left)(t.Context())
		require.Error(t, state.Err)
		assert.True(t, state.Optional)
		assert.Equal(t, "reachable, but writes are refused: "+fmt.Sprintf(says, of), state.Reason)
		revoked.Store("")
		s.watch.checkWrites(t.Context())
		require.NoError(t, s.watch.Check(left)(t.Context()).Err)
	}
}
