package spool_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup/spool"
)

// logged is a log buffer that is safe for concurrent use.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *logged) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// damage is a way to make a segment unreadable.
type damage struct {
	name  string
	do    func(t *testing.T, path string)
	aside bool // whether a file remains to be set aside
}

var damages = []damage{
	{"deleted", func(t *testing.T, path string) { require.NoError(t, os.Remove(path)) }, false},
	{"written by a newer version", func(t *testing.T, path string) {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		data[7]++
		require.NoError(t, os.WriteFile(path, data, 0o600))
	}, true},
	{"a directory", func(t *testing.T, path string) {
		require.NoError(t, os.Remove(path))
		require.NoError(t, os.MkdirAll(filepath.Join(path, "something"), 0o700))
	}, true},
	{"a link to nowhere", func(t *testing.T, path string) {
		require.NoError(t, os.Remove(path))
		require.NoError(t, os.Symlink(path+".nowhere", path))
	}, true},
}

// threeSegments spools a0 to a2, each in a separate segment.
func threeSegments(t *testing.T, sp *spool.Spool, dir string) []string {
	t.Helper()
	for _, g := range []string{"a0", "a1", "a2"} {
		require.NoError(t, sp.Keep("u_1", []string{g}, noon))
	}
	files := segments(t, dir)
	require.Len(t, files, 3)
	return files
}

func requireAside(t *testing.T, path string, want bool) {
	t.Helper()
	_, err := os.Lstat(path + ".unreadable")
	assert.Equal(t, want, err == nil, "set aside: %v", err)
	_, err = os.Lstat(path)
	assert.ErrorIs(t, err, os.ErrNotExist, "its place is free")
}

// TestUnreadableSegmentSetAside makes the second of three segments unreadable, in a running
// spool and before a restart.
func TestUnreadableSegmentSetAside(t *testing.T) {
	t.Parallel()
	for _, damage := range damages {
		for _, restart := range []bool{false, true} {
			name := damage.name
			if restart {
				name += ", then a restart"
			}
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { setAside(t, damage, restart) })
			})
		}
	}
}

func setAside(t *testing.T, damage damage, restart bool) {
	s, dir := newOthers(t), t.TempDir()
	s.set("note") // no segment is read while it is being damaged
	var log logged
	cfg := spool.Config{SegmentBytes: 1, Logger: log.logger()}
	sp := s.open(t, dir, cfg)
	files := threeSegments(t, sp, dir)
	if restart {
		require.NoError(t, sp.Close(t.Context()))
	}
	damage.do(t, files[1])
	if restart {
		sp = s.open(t, dir, cfg)
	}
	s.set("")
	pass(2)
	requireAside(t, files[1], damage.aside)
	assert.Empty(t, segments(t, dir))
	assert.True(t, s.seen(t, "a0"))
	assert.False(t, s.seen(t, "a1"))
	assert.True(t, s.seen(t, "a2"))
	if damage.aside || !restart { // a deletion between two runs cannot be noticed
		assert.Equal(t, 1, strings.Count(log.String(), "level=WARN"), "one warning: %s", log.String())
	}

	require.NoError(t, sp.Keep("u_1", []string{"later"}, noon))
	pass(3)
	assert.True(t, s.seen(t, "later"))
	require.NoError(t, sp.Close(t.Context()))
	s.open(t, dir, cfg)
	if damage.aside || !restart {
		assert.Equal(t, 1, strings.Count(log.String(), "level=WARN"), "nor at the next start: %s", log.String())
	}
}

// TestUnreadableSegmentSpoolFull fills the spool while its oldest segment is unreadable.
func TestUnreadableSegmentSpoolFull(t *testing.T) {
	t.Parallel()
	for _, damage := range damages {
		t.Run(damage.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { givesWay(t, damage) })
		})
	}
}

func givesWay(t *testing.T, damage damage) {
	s, dir := newOthers(t), t.TempDir()
	s.set("note")
	var log logged
	sp := s.open(t, dir, spool.Config{MaxBytes: 1000, SegmentBytes: 100, Logger: log.logger()})
	for range 5 {
		require.NoError(t, sp.Keep("u_1", []string{"old", "older", "oldest"}, noon))
	}
	oldest := segments(t, dir)[0]
	damage.do(t, oldest)
	for range 200 {
		require.NoError(t, sp.Keep("u_1", []string{"a", "b", "c"}, noon))
	}
	left := segments(t, dir)
	assert.Greater(t, len(left), 5, "what can be read is kept as far as there is room")
	assert.Less(t, len(left), 12)
	requireAside(t, oldest, damage.aside)
	require.NoError(t, sp.Close(t.Context()))
	s.set("")
	s.open(t, dir, spool.Config{})
	pass(2)
	assert.True(t, s.seen(t, "a"))
}

// TestUnreadableSegmentSameName sets aside two segments that have the same name.
func TestUnreadableSegmentSameName(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, dir := newStore(t), t.TempDir()
		path := filepath.Join(dir, "00000000000000000001.spool")
		for _, content := range []string{"FRSHJNL\xff", "FRSHJNL\xfe"} {
			require.NoError(t, os.MkdirAll(filepath.Join(path, content), 0o700))
			require.NoError(t, open(t, dir, s, noon, spool.Config{}).Close(t.Context()))
		}
		assert.DirExists(t, path+".unreadable")
		assert.DirExists(t, path+".1.unreadable")
	})
}
