package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLoad runs the load generator for a few seconds against a real server:
// no error, no repeat, and all that was delivered is accounted for. The long
// run is by hand; see docs/reliability.md.
func TestLoad(t *testing.T) {
	generator := filepath.Join(t.TempDir(), "freshet-bench")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", generator, "../freshet-bench").CombinedOutput()
	require.NoError(t, err, "%s", out)
	for _, mode := range []string{"embedded", "services"} {
		t.Run(mode, func(t *testing.T) {
			p := start(t, settings(t, mode))
			p.fill(t, 3000)
			searchable(t, p)
			cmd := exec.CommandContext(t.Context(), generator, "load",
				"--server", p.url, "--token", adminToken, "--rate", "60", "--for", "6s", "--agents", "100", "--ingest", "500ms")
			var report bytes.Buffer
			cmd.Stdout, cmd.Stderr = &report, &report
			require.NoError(t, cmd.Run(), "%s\nserver:\n%s", &report, p.log)
			t.Logf("%s", &report)
			p.terminate(t)
			delivered, recorded, deferred := p.totals(t)
			assert.Positive(t, delivered)
			assert.Equal(t, delivered, recorded+deferred)
		})
	}
}

// terminate ends the server as an operator would, and waits for it.
func (p *process) terminate(t *testing.T) {
	t.Helper()
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case <-p.exited:
	case <-time.After(time.Minute):
		t.Fatalf("the server does not stop; its log:\n%s", p.log)
	}
}
