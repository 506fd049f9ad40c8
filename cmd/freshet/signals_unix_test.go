//go:build unix

package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSignalsFromTheStart sends a server each signal that must not end it, while it reads its configuration:
// it starts, and makes up for the reload.
func TestSignalsFromTheStart(t *testing.T) {
	t.Parallel()
	passHangups(t)
	for _, sent := range []syscall.Signal{syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2} {
		t.Run(sent.String(), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "freshet.yaml")
			require.NoError(t, syscall.Mkfifo(path, 0o600))
			p := spawn(t, nil, "serve", "--config", path)
			w, err := os.OpenFile(path, os.O_WRONLY, 0) // waits until the server reads
			require.NoError(t, err)
			p.signal(sent)
			_, err = w.WriteString("data_dir: " + t.TempDir() + "\n")
			require.NoError(t, err)
			require.NoError(t, w.Close())
			p.listens(t)
			if sent == syscall.SIGHUP {
				p.says(t, 1, "the configuration was not reloaded; the one in force stays") // a pipe cannot be read again
			}
			p.signal(sent)
			p.status("/livez")
			p.signal(syscall.SIGTERM)
			<-p.exited
			assert.Zero(t, p.cmd.ProcessState.ExitCode(), "log:\n%s", p.log)
		})
	}
}

// TestHangupEndsOtherCommands checks that a command that is no server ends with its terminal.
func TestHangupEndsOtherCommands(t *testing.T) {
	t.Parallel()
	passHangups(t)
	path := filepath.Join(t.TempDir(), "freshet.yaml")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	p := spawn(t, nil, "config", "check", "--config", path)
	w, err := os.OpenFile(path, os.O_WRONLY, 0)
	require.NoError(t, err)
	p.signal(syscall.SIGHUP)
	<-p.exited
	require.NoError(t, w.Close())
	status := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	assert.Equal(t, syscall.SIGHUP, status.Signal(), "log:\n%s", p.log)
}
