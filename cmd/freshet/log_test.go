package main

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
)

// startLogging starts a server that logs to the file.
func startLogging(t *testing.T, log *os.File) *process {
	t.Helper()
	path, err := binary()
	require.NoError(t, err)
	addr := testenv.FreeAddr(t) // it cannot be read from the server's log
	p := &process{cmd: exec.Command(path, "serve"), url: "http://" + addr, log: &buffer{}, exited: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), "FRESHET_SERVER_ADDR="+addr, "FRESHET_DATA_DIR="+t.TempDir(), "FRESHET_AUTH_ADMIN_TOKEN="+adminToken)
	p.cmd.Stderr = log
	require.NoError(t, p.cmd.Start())
	go func() { _ = p.cmd.Wait(); close(p.exited) }()
	t.Cleanup(func() { p.signal(syscall.SIGKILL); <-p.exited })
	testenv.WaitFor(t, func() bool { return p.status("/readyz") == http.StatusOK }, "the server is ready")
	return p
}

// status returns the status of a GET, or 0 without a response.
func (p *process) status(path string) int {
	res, err := http.Get(p.url + path)
	if err != nil {
		return 0
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// refreshes makes n calls, each of which logs a line.
func (p *process) refreshes(t *testing.T, n int) {
	t.Helper()
	for range n {
		require.NoError(t, p.post(t.Context(), http.DefaultClient, "/v1/feed", "u_1", `{"action":"refresh"}`, &struct{}{}))
	}
}

// fillPipe writes until the pipe is full, like a log that has not been read for a long time.
func fillPipe(t *testing.T, w *os.File) (n int) {
	t.Helper()
	conn, err := w.SyscallConn()
	require.NoError(t, err)
	require.NoError(t, conn.Control(func(fd uintptr) {
		require.NoError(t, syscall.SetNonblock(int(fd), true))
		for err := error(nil); err == nil; n++ {
			_, err = syscall.Write(int(fd), []byte{'\n'})
		}
		require.NoError(t, syscall.SetNonblock(int(fd), false))
	}))
	return n - 1
}

// TestLogReaderStalled checks that a server whose log reader has stalled keeps serving, reports the
// number of lines dropped, and stops.
func TestLogReaderStalled(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	full := fillPipe(t, w)
	p := startLogging(t, w)
	require.NoError(t, w.Close()) // the server holds the other copy
	p.refreshes(t, 10)
	assert.Equal(t, http.StatusOK, p.status("/livez"))

	// When the reader resumes, it gets every queued line.
	_, err = io.CopyN(io.Discard, r, int64(full))
	require.NoError(t, err)
	p.signal(syscall.SIGTERM)
	log, err := io.ReadAll(r)
	require.NoError(t, err)
	<-p.exited
	assert.Zero(t, p.cmd.ProcessState.ExitCode())
	assert.Equal(t, 10, strings.Count(string(log), "route=/v1/feed"))
	assert.Contains(t, string(log), "msg=stopped")
}

// TestLogReaderStalledAtShutdown checks that the server stops although its last lines cannot be
// written.
func TestLogReaderStalledAtShutdown(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	fillPipe(t, w)
	p := startLogging(t, w)
	require.NoError(t, w.Close())
	p.signal(syscall.SIGTERM)
	<-p.exited
	assert.Zero(t, p.cmd.ProcessState.ExitCode())
}

// TestLogReaderEnds checks that the server survives the end of its log reader.
func TestLogReaderEnds(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	p := startLogging(t, w)
	require.NoError(t, w.Close())
	require.NoError(t, r.Close())
	p.refreshes(t, 3)
	p.signal(syscall.SIGTERM)
	<-p.exited
	assert.Zero(t, p.cmd.ProcessState.ExitCode())
}
