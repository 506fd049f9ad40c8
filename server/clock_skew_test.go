package server

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/internal/testenv"
)

// TestClockJumpRepeatsNothing checks that a server that runs or starts while its clock is off by
// more than the window repeats nothing after the clock is corrected.
func TestClockJumpRepeatsNothing(t *testing.T) {
	testenv.WithoutRace(t)
	const day = 24 * time.Hour
	t.Parallel()
	for _, jump := range []time.Duration{8 * day, -8 * day, 365 * day} {
		for name, asked := range map[string]bool{"without a request": false, "with a request": true} {
			for way, restarted := range map[string]bool{"running": false, "restarted": true} {
				for _, paged := range []bool{false, true} {
					t.Run(fmt.Sprint(jump, ", ", name, ", ", way, ", paged ", paged), func(t *testing.T) {
						clock, cfg := at(noon), embedded(t)
						a := open(t, cfg, WithClock(clock.Now))
						move := func(by time.Duration) {
							clock.Advance(by)
							if restarted {
								require.NoError(t, a.Close(context.WithoutCancel(t.Context())))
								a = open(t, cfg, WithClock(clock.Now))
							}
						}
						put(t, a, madeItems(120)...)
						shown := ids(ask(t, a, refresh("u_1", 50)))
						require.Len(t, shown, 50)
						waitRecorded(t, a)
						for _, group := range shown { // the grace period is over
							require.NoError(t, a.stores.dedup.ClearPending(t.Context(), []dedup.Impression{{Agent: "u_1", Group: group}}))
						}
						move(jump)
						then := refresh("u_1", 50)
						if asked {
							_ = ask(t, a, refresh("u_2", 10))
							waitRecorded(t, a)
						}
						if paged { // of a session that was ranked by the wrong clock
							_ = ask(t, a, refresh("u_1", 1))
							then = loadMore("u_1", 50)
						}
						move(-jump)
						next := ids(ask(t, a, then))
						assert.Len(t, next, 50)
						assert.Empty(t, intersection(shown, next), "shown again")
					})
				}
			}
		}
	}
}

// TestClockSkewIsReported opens servers whose clock differs from that of Redis by an hour: they are
// ready, and /readyz reports the difference.
func TestClockSkewIsReported(t *testing.T) {
	cfg, _ := redisAlone(t)
	for _, c := range []struct {
		off  time.Duration
		want bool
	}{{0, false}, {-time.Hour, true}, {time.Hour, true}} {
		t.Run(c.off.String(), func(t *testing.T) {
			cfg.DataDir = t.TempDir()
			clock := func() time.Time { return time.Now().Add(c.off) }
			a := open(t, cfg, WithClock(clock))
			got := httptest.NewRecorder()
			a.Handler.ServeHTTP(got, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", nil))
			assert.Equal(t, http.StatusOK, got.Code, "it can answer")
			if c.want {
				assert.Contains(t, got.Body.String(), "clock differs from this server's by")
			} else {
				assert.NotContains(t, got.Body.String(), "warning")
			}
		})
	}
}
