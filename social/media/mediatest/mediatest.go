// Package mediatest is the conformance suite for [media.Store]. Every backend must pass it.
package mediatest

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"io"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social/media"
)

// Open opens an empty store for a test, and closes it with t.Cleanup.
type Open func(t *testing.T) media.Store

// Run runs the suite.
func Run(t *testing.T, open Open) {
	for name, test := range map[string]func(t *testing.T, s media.Store){
		"what is put is read, from any place": reads,
		"put replaces":                        replaces,
		"delete":                              deletes,
		"keys":                                keys,
		"a context that has ended":            ended,
		"many at once":                        atOnce,
		"probe":                               probe,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

// picture returns a PNG of the given width and a few kilobytes.
func picture(t *testing.T, width int) media.File {
	t.Helper()
	p := image.NewNRGBA(image.Rect(0, 0, width, 40))
	for i := range p.Pix {
		p.Pix[i] = byte(i * i >> 3)
	}
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, p))
	return media.File{Type: "image/png", Data: b.Bytes()}
}

func put(t *testing.T, s media.Store, key string, f media.File) {
	t.Helper()
	require.NoError(t, s.Put(t.Context(), key, f))
}

func open(t *testing.T, s media.Store, key string) media.Reader {
	t.Helper()
	r, err := s.Open(t.Context(), key)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, r.Close()) })
	return r
}

func requireFile(t *testing.T, s media.Store, key string, want media.File) {
	t.Helper()
	r := open(t, s, key)
	require.Equal(t, want.Type, r.ContentType())
	got, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, want.Data, got)
}

func reads(t *testing.T, s media.Store) {
	f := picture(t, 50)
	put(t, s, "ab/one", f)
	requireFile(t, s, "ab/one", f)

	r, size := open(t, s, "ab/one"), int64(len(f.Data))
	part := make([]byte, 20)
	for _, at := range []struct {
		offset int64
		whence int
		want   int64
	}{
		{0, io.SeekEnd, size},
		{100, io.SeekStart, 100},
		{30, io.SeekCurrent, 150},
		{0, io.SeekCurrent, 170},
		{7, io.SeekStart, 7},
		{-20, io.SeekEnd, size - 20},
		{-30, io.SeekCurrent, size - 30},
		{0, io.SeekStart, 0},
	} {
		got, err := r.Seek(at.offset, at.whence)
		require.NoError(t, err)
		require.Equal(t, at.want, got)
		if got == size {
			_, err := r.Read(part)
			require.ErrorIs(t, err, io.EOF)
			continue
		}
		_, err = io.ReadFull(r, part)
		require.NoError(t, err)
		require.Equal(t, f.Data[got:got+20], part, "from %d", got)
	}
	_, err := r.Seek(-1, io.SeekStart)
	require.Error(t, err)
	got, err := r.Seek(10, io.SeekEnd)
	require.NoError(t, err)
	require.Equal(t, size+10, got)
	_, err = r.Read(part)
	require.ErrorIs(t, err, io.EOF)
}

func replaces(t *testing.T, s media.Store) {
	first, second := picture(t, 50), picture(t, 9)
	put(t, s, "ab/one", first)
	put(t, s, "ab/one", second)
	put(t, s, "ab/two", first)
	requireFile(t, s, "ab/one", second)
	requireFile(t, s, "ab/two", first)
}

func deletes(t *testing.T, s media.Store) {
	put(t, s, "ab/one", picture(t, 50))
	put(t, s, "ab/two", picture(t, 9))
	for range 2 {
		require.NoError(t, s.Delete(t.Context(), "ab/one"))
		_, err := s.Open(t.Context(), "ab/one")
		require.ErrorIs(t, err, feed.ErrNotFound)
	}
	require.NoError(t, s.Delete(t.Context(), "never/there"))
	requireFile(t, s, "ab/two", picture(t, 9))
}

func keys(t *testing.T, s media.Store) {
	list := func(most int) []string {
		t.Helper()
		got, err := s.Keys(t.Context(), most)
		require.NoError(t, err)
		return got
	}
	assert.Empty(t, list(5))
	for _, key := range []string{"b/2", "a/3", "a/1", "b/4"} {
		put(t, s, key, picture(t, 3))
	}
	assert.Equal(t, []string{"a/1", "a/3", "b/2", "b/4"}, list(5))
	assert.Equal(t, []string{"a/1", "a/3", "b/2", "b/4"}, list(4))
	assert.Equal(t, []string{"a/1", "a/3", "b/2"}, list(3))
	assert.Equal(t, []string{"a/1"}, list(1))
	require.NoError(t, s.Delete(t.Context(), "a/1"))
	assert.Equal(t, []string{"a/3"}, list(1))
}

func ended(t *testing.T, s media.Store) {
	f := picture(t, 3)
	put(t, s, "a/1", f)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, s.Put(ctx, "a/2", f), context.Canceled)
	_, err := s.Open(ctx, "a/1")
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, s.Delete(ctx, "a/1"), context.Canceled)
	_, err = s.Keys(ctx, 1)
	require.ErrorIs(t, err, context.Canceled)
	requireFile(t, s, "a/1", f)
}

func atOnce(t *testing.T, s media.Store) {
	one, other := picture(t, 50), picture(t, 60)
	put(t, s, "a/same", one)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			mine := fmt.Sprintf("a/%d", i)
			assert.NoError(t, s.Put(t.Context(), mine, one))
			assert.NoError(t, s.Put(t.Context(), "a/same", []media.File{one, other}[i%2]))
			r, err := s.Open(t.Context(), "a/same")
			if !assert.NoError(t, err) {
				return
			}
			got, err := io.ReadAll(r)
			assert.NoError(t, err)
			assert.NoError(t, r.Close())
			assert.True(t, bytes.Equal(got, one.Data) || bytes.Equal(got, other.Data), "it is one of the two files, complete")
			assert.NoError(t, s.Delete(t.Context(), mine))
		})
	}
	wg.Wait()
	left, err := s.Keys(t.Context(), 100)
	require.NoError(t, err)
	assert.Equal(t, []string{"a/same"}, left)
}

func probe(t *testing.T, s media.Store) {
	now := time.Unix(1_796_000_000, 0)
	require.NoError(t, media.Probe(t.Context(), s, now))
	left, err := s.Keys(t.Context(), 1)
	require.NoError(t, err)
	assert.Empty(t, left)

	// Probes that were killed leave their file, which a later one removes; others may be in progress.
	killed := func(ago time.Duration) string {
		return "-probe/" + strconv.FormatInt(now.Add(-ago).Unix(), 10) + "-x"
	}
	kept := []string{killed(time.Second), "-probe/by hand", "00/00f0"}
	for _, key := range append([]string{killed(time.Hour), killed(24 * time.Hour)}, kept...) {
		require.NoError(t, s.Put(t.Context(), key, media.File{Type: "text/plain", Data: []byte("x")}))
	}
	require.NoError(t, media.Probe(t.Context(), s, now))
	left, err = s.Keys(t.Context(), 10)
	require.NoError(t, err)
	assert.Equal(t, kept, left)
}
