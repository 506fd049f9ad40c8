package server

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestADifferingClockIsTold(t *testing.T) {
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
