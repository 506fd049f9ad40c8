package main

import (
	"net/http"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
)

// TestDrainOnSignals: a server drains on SIGTERM, but not on Ctrl-C or with a drain time of 0. A
// second signal stops a draining server.
func TestDrainOnSignals(t *testing.T) {
	t.Parallel()
	status := func(p *process) int {
		res, err := http.Get(p.url + "/readyz")
		if err != nil {
			return 0
		}
		require.NoError(t, res.Body.Close())
		return res.StatusCode
	}
	t.Run("SIGTERM", func(t *testing.T) {
		t.Parallel()
		p := start(t, settings(t, "embedded"), "--server.drain", "10m")
		p.signal(syscall.SIGTERM)
		testenv.WaitFor(t, func() bool { return status(p) == http.StatusServiceUnavailable }, "a server that is not ready")
		p.signal(syscall.SIGTERM)
		p.ended(t)
	})
	t.Run("Ctrl-C", func(t *testing.T) {
		t.Parallel()
		p := start(t, settings(t, "embedded"), "--server.drain", "10m")
		p.signal(syscall.SIGINT)
		p.ended(t)
		assert.Zero(t, p.cmd.ProcessState.ExitCode(), "log:\n%s", p.log)
	})
	t.Run("switched off", func(t *testing.T) {
		t.Parallel()
		p := start(t, settings(t, "embedded"), "--server.drain", "0")
		p.signal(syscall.SIGTERM)
		p.ended(t)
		assert.Zero(t, p.cmd.ProcessState.ExitCode(), "log:\n%s", p.log)
	})
}
