package handler

import (
	"fmt"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestDrainNotReady checks that a draining server is not ready, gives the reason, and
// still answers requests.
func TestDrainNotReady(t *testing.T) {
	t.Parallel()
	drain := NewDrain()
	f := newFixture(t, func(_ *Config, d *Deps) { d.Drain = drain })
	got := f.do(t, "GET", "/readyz", "")
	require.Equal(t, http.StatusOK, got.status)
	require.Empty(t, got.header.Get("Connection"))

	drain.Begin(time.Hour)
	drain.Begin(time.Hour)
	got = f.do(t, "GET", "/readyz", "")
	require.Equal(t, http.StatusServiceUnavailable, got.status)
	require.Equal(t, 50301, got.Code)
	require.Equal(t, "not ready: the server is stopping", got.Msg)
	require.JSONEq(t, `{"dependencies":{}}`, string(got.Data))
	require.Equal(t, "1", got.header.Get("Retry-After"))
	for _, path := range []string{"/livez", "/v1/feed/guest", "/v1/agents/u_1/profile", "/none"} {
		got := f.do(t, "GET", path, "")
		require.NotEqual(t, http.StatusServiceUnavailable, got.status, path)
		require.Equal(t, "close", got.header.Get("Connection"), path)
	}
}

// TestDrainEndsStreamsGradually checks that a drain ends all streams spread over its duration,
// including those that begin meanwhile.
func TestDrainEndsStreamsGradually(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const over, readers = 10 * time.Second, 40
		s := openStreams(t)
		ends := make(chan time.Duration, readers+1)
		var begun time.Time
		listen := func(agent string) {
			_, body, res := s.get(agent)
			require.Equal(t, http.StatusOK, res.StatusCode)
			block(t, body)
			go func() {
				_, _ = io.ReadAll(body)
				ends <- time.Since(begun)
			}()
		}
		for i := range readers {
			listen(fmt.Sprintf("r%d", i))
		}
		begun = time.Now()
		s.drain.Begin(over)
		listen("late")
		early, late := 0, 0
		for range readers + 1 {
			switch end := <-ends; {
			case end < over/2:
				early++
			case end <= over:
				late++
			default:
				t.Fatalf("a stream outlives the drain: %s", end)
			}
		}
		require.Greater(t, early, readers/8, "they are spread")
		require.Greater(t, late, readers/8, "they are spread")
		require.NoError(t, s.server.Shutdown(t.Context()))
	})
}
