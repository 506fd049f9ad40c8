package main

import (
	"bytes"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/load"
)

// TestLoad runs the load generator for two seconds against a real server:
// no error, no repeat, and all that was delivered is accounted for. The long
// run is by hand; see docs/reliability.md.
func TestLoad(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"embedded", "services"} {
		t.Run(mode, func(t *testing.T) {
			p := start(t, settings(t, mode))
			p.fill(t, 3000)
			searchable(t, p)
			var report bytes.Buffer
			require.NoError(t, load.Run(t.Context(), load.Settings{
				Server: p.url, Token: adminToken, Rate: 60, Length: 2 * time.Second, Agents: 30, Limit: 10, Ingest: 200 * time.Millisecond, Prefix: "load_",
			}, &report), "%s\nserver:\n%s", &report, p.log)
			t.Logf("%s", &report)
			p.signal(syscall.SIGTERM)
			p.ended(t)
			delivered, recorded, deferred := p.totals(t)
			assert.Positive(t, delivered)
			assert.Equal(t, delivered, recorded+deferred)
		})
	}
}
