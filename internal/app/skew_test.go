package app

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestADifferingClockIsTold has this server's clock be wrong, by Redis's.
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

			d := &doctor{cfg: cfg, clock: clock}
			d.lookAtRedis(t.Context())
			if c.want {
				assert.Contains(t, got.Body.String(), "clock differs from this server's by")
				assert.Contains(t, d.findings[0].Detail, "its clock differs from this machine's by")
			} else {
				assert.NotContains(t, got.Body.String(), "warning")
				assert.Equal(t, OK, d.findings[0].Level, "%v", d.findings)
			}
		})
	}
}

func TestSkew(t *testing.T) {
	for _, c := range []struct{ sent, theirs, received, want int }{
		{0, 5, 10, 0}, {0, 0, 0, 0}, {10, 5, 12, 5}, {0, 15, 10, 5}, {0, 10, 10, 0},
	} {
		at := func(s int) time.Time { return noon.Add(time.Duration(s) * time.Second) }
		assert.Equal(t, time.Duration(c.want)*time.Second, skew(at(c.sent), at(c.theirs), at(c.received)), "%+v", c)
	}
}
