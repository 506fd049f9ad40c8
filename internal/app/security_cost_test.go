package app

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/events"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/testenv"
)

// hides is a body that hides n items nobody has ever heard of.
func hides(from, n int) string {
	events := make([]string, n)
	for i := range events {
		events[i] = fmt.Sprintf(`{"type":"hide","id":"none_%d"}`, from+i)
	}
	return `{"events":[` + strings.Join(events, ",") + `]}`
}

// TestOneAgentHidesAllItCan has one agent hide 500 unknown items a call, many
// calls at once, again and again.
func TestOneAgentHidesAllItCan(t *testing.T) {
	t.Parallel()
	a, s := untrusted(t, embedded(t))
	unchanged := seed(t, a, s)
	var wg sync.WaitGroup
	n := make([]int, 48)
	for w := range n {
		wg.Go(func() {
			mine := outsider{t, s.url, &n[w]}
			_, code, data := mine.call("POST", "/v1/events", hides(500*w, 500), asU1)
			assert.Zero(t, code)
			assert.JSONEq(t, `{"accepted":0,"not_shown":500}`, data)
		})
	}
	wg.Wait()
	p, err := a.Engine.Profile(t.Context(), "u_1")
	require.NoError(t, err)
	require.Len(t, p.MutedItems, feed.MaxMutes)
	for _, who := range []string{asU1, "X-Agent-ID: u_3"} {
		_, code, data := s.call("POST", "/v1/feed", `{"action":"refresh"}`, who)
		require.Zero(t, code)
		require.Contains(t, data, `"doc_0"`)
	}
	_, code, _ := s.call("POST", "/v1/events", hides(0, 501), asU1)
	require.Equal(t, 40001, code)
	_, code, _ = s.call("POST", "/v1/events", `{"type":"click","id":"`+strings.Repeat("a", 256<<10)+`"}`, asU1)
	require.Equal(t, 41301, code)
	unchanged()
}

// TestHidesOfOneAgentWaitForEachOther counts the writes of an agent's profile: as
// many as calls, not as many as it takes when all of them start over each time
// that one gets through.
func TestHidesOfOneAgentWaitForEachOther(t *testing.T) {
	t.Parallel()
	cfg := services(t)
	var writes atomic.Int64
	pass := testenv.Forward(t, cfg.Elasticsearch.Addresses[0], nil)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/"+esindex.Agents(cfg.Elasticsearch.Index)+"/_bulk" {
			writes.Add(1)
		}
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	cfg.Elasticsearch.Addresses = []string{proxy.URL}
	a := open(t, cfg)
	const calls = 24
	var wg sync.WaitGroup
	for i := range calls {
		wg.Go(func() {
			_, err := a.Engine.React(t.Context(), "u_1", []engine.Act{act(events.Hide, fmt.Sprint("none_", i))})
			assert.NoError(t, err)
		})
		wg.Go(func() {
			assert.NoError(t, a.Engine.PutProfile(t.Context(), "u_1", feed.Profile{Keywords: feed.Keywords(fmt.Sprint("k", i))}))
		})
	}
	wg.Wait()
	require.EqualValues(t, 2*calls, writes.Load())
	p, err := a.Engine.Profile(t.Context(), "u_1")
	require.NoError(t, err)
	require.Len(t, p.MutedItems, calls)
}
