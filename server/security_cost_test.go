package server

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
)

func hides(from, n int) string {
	events := make([]string, n)
	for i := range events {
		events[i] = fmt.Sprintf(`{"type":"hide","id":"none_%d"}`, from+i)
	}
	return `{"events":[` + strings.Join(events, ",") + `]}`
}

// TestOneAgentHidesAllItCan has one agent hide 500 unknown items per call, in many concurrent
// calls, again and again.
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
			if code == 42202 {
				return
			}
			assert.Zero(t, code)
			assert.JSONEq(t, `{"accepted":0,"not_shown":500}`, data)
		})
	}
	wg.Wait()
	p, err := a.Engine.Profile(t.Context(), "u_1")
	require.NoError(t, err)
	require.Len(t, p.MutedItems, feed.MaxMutedItems)
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
