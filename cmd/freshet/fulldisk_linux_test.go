package main

import (
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
)

// smallDisk mounts a file system of 8 MB.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=8m")
	if errors.Is(err, syscall.EPERM) {
		t.Skip("run this test as root: it mounts a small disk")
	}
	require.NoError(t, err)
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// fillUp fills the disk completely.
func fillUp(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	for chunk := make([]byte, 1<<20); len(chunk) > 0; {
		if _, err := f.Write(chunk); err != nil {
			chunk = chunk[:len(chunk)/2]
		}
	}
}

// ready returns the status and the body of /readyz.
func (p *process) ready(t *testing.T) (int, string) {
	t.Helper()
	res, err := http.Get(p.url + "/readyz")
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(body)
}

// TestDiskFull: an embedded server that cannot store impressions is not ready, and says why, until
// space is available. If it is stopped in that state it ends at once, reports what it could not
// write, and loses nothing.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t)
	filler := filepath.Join(disk, "filler")
	s := map[string]string{"DATA_DIR": filepath.Join(disk, "data"), "SERVER_SHUTDOWN_TIMEOUT": "1h"}
	p := start(t, s)
	p.fill(t, 3000)
	r := newReaders(t, 8)
	r.read(t.Context(), p, 20)

	for range 2 {
		fillUp(t, filler)
		r.read(t.Context(), p, 1000) // until each reader has been refused
		status, says := p.ready(t)
		require.Equal(t, http.StatusServiceUnavailable, status)
		assert.Contains(t, says, `"data_dir":{"state":"down","error":"no space left on device"}`)
		require.NoError(t, os.Remove(filler))
		testenv.WaitFor(t, func() bool { status, _ := p.ready(t); return status == http.StatusOK }, "a server that is ready again")
		r.read(t.Context(), p, 20)
	}

	fillUp(t, filler)
	r.read(t.Context(), p, 1000)
	p.signal(syscall.SIGTERM)
	p.ended(t) // without waiting for the shutdown timeout of an hour
	assert.Zero(t, p.cmd.ProcessState.ExitCode(), "log:\n%s", p.log)
	assert.Contains(t, p.log.String(), "could not be folded into a filter file. Nothing is lost")
	require.NoError(t, os.Remove(filler))
	p = start(t, s)
	r.read(t.Context(), p, 20) // fails the test if an item is delivered twice
}
