package main

import (
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
)

// smallDisk mounts a file system of 8 MB.
func smallDisk(t *testing.T) string {
	t.Helper()
	return disk(t, "size=8m")
}

// disk mounts a file system.
func disk(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options)
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

// TestNoInodes: on a disk that has free bytes but no room for another file, doctor and server say so, and
// not that the rights are wrong. Once there is room, the server starts.
func TestNoInodes(t *testing.T) {
	t.Parallel()
	dir := disk(t, "size=64m,nr_inodes=60")
	s := settings(t, "embedded")
	s["DATA_DIR"] = filepath.Join(dir, "data")
	p := start(t, s)
	p.signal(syscall.SIGTERM)
	p.ended(t)
	var err error
	var fillers []string
	for err == nil {
		fillers = append(fillers, filepath.Join(dir, "filler"+strconv.Itoa(len(fillers))))
		err = os.WriteFile(fillers[len(fillers)-1], nil, 0o600)
	}
	require.ErrorIs(t, err, syscall.ENOSPC)
	path, err := binary()
	require.NoError(t, err)
	fillers = fillers[:len(fillers)-1]
	run := func(args ...string) string {
		out, err := exec.CommandContext(t.Context(), path, append(args, "--data_dir", s["DATA_DIR"])...).CombinedOutput()
		require.Error(t, err, args[0])
		return string(out)
	}
	assert.Contains(t, run("doctor"), "inodes (df -i)")
	for free := range 5 { // one, for the journal, lets it come to the first database
		said := run("serve", "--server.addr", "127.0.0.1:0")
		assert.Contains(t, said, "no space left on device", free)
		assert.NotContains(t, said, "can be read and written", free)
		require.NoError(t, os.Remove(fillers[free]))
	}
	for _, name := range fillers[5:] {
		require.NoError(t, os.Remove(name))
	}
	start(t, s)
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

// TestFewInodes: the doctor warns before a disk has no inodes left.
func TestFewInodes(t *testing.T) {
	t.Parallel()
	dir := disk(t, "size=64m,nr_inodes=400")
	var err error
	var fillers []string
	for err == nil {
		fillers = append(fillers, filepath.Join(dir, "filler"+strconv.Itoa(len(fillers))))
		err = os.WriteFile(fillers[len(fillers)-1], nil, 0o600)
	}
	require.ErrorIs(t, err, syscall.ENOSPC)
	path, err := binary()
	require.NoError(t, err)
	doctor := func() string {
		out, err := exec.CommandContext(t.Context(), path, "doctor", "--data_dir", dir).CombinedOutput()
		require.NoError(t, err, string(out))
		return string(out)
	}
	for _, name := range fillers[:10] {
		require.NoError(t, os.Remove(name))
	}
	says := doctor()
	assert.Contains(t, says, "its disk is nearly full: ")
	assert.Contains(t, says, " of 400 inodes are free")
	for _, name := range fillers[10 : len(fillers)-1] {
		require.NoError(t, os.Remove(name))
	}
	assert.NotContains(t, doctor(), "nearly full")
}

// TestBackupOnFullDisk backs up onto a disk that has no room, and restores onto one: each call fails and says
// so, the backup of before stays as it was, and once there is room the same call continues.
func TestBackupOnFullDisk(t *testing.T) {
	t.Parallel()
	s := stoppedWithImages(t)
	disk := smallDisk(t)
	dir := filepath.Join(disk, "backup")
	runs(t, s, "backup", dir)
	filler := filepath.Join(disk, "filler")
	fillUp(t, filler)
	require.NoError(t, os.WriteFile(filepath.Join(s["DATA_DIR"], "media", "aa", "second"), make([]byte, 1<<20), 0o600))
	assert.Contains(t, fails(t, s, "backup", dir), "no space left on device")
	to := map[string]string{"DATA_DIR": filepath.Join(t.TempDir(), "restored")}
	runs(t, to, "restore", dir)
	runs(t, to, "restore", "--verify", dir)
	assert.NoFileExists(t, filepath.Join(to["DATA_DIR"], "media", "aa", "second"))
	require.NoError(t, os.Remove(filler))
	runs(t, s, "backup", dir)

	small := smallDisk(t)
	to["DATA_DIR"] = filepath.Join(small, "restored")
	filler = filepath.Join(small, "filler")
	fillUp(t, filler)
	require.NoError(t, os.Truncate(filler, 6<<20))
	assert.Contains(t, fails(t, to, "restore", dir), "no space left on device")
	assert.Contains(t, fails(t, to, "serve"), "run the freshet restore again")
	require.NoError(t, os.Remove(filler))
	runs(t, to, "restore", dir)
	runs(t, to, "restore", "--verify", dir)
	assert.FileExists(t, filepath.Join(to["DATA_DIR"], "media", "aa", "second"))
}
