package s3

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/minio/minio-go/v7"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

// inBucket opens a prefix of a real bucket.
func inBucket(t *testing.T) *Store {
	t.Helper()
	s, err := open(t, testenv.S3(t)+"&prefix="+testenv.Unique()+"/")
	require.NoError(t, err)
	return s
}

func (s *Store) names(t *testing.T, under string, deep bool) (names []string) {
	t.Helper()
	require.NoError(t, s.Each(t.Context(), under, deep, func(name string, size int64) error {
		names = append(names, fmt.Sprintf("%s=%d", name, size))
		return nil
	}))
	return names
}

// TestUploads writes objects of sizes around those of one and of more parts, in pieces: each is there only when it
// is finished, whole.
func TestUploads(t *testing.T) {
	t.Parallel()
	s := inBucket(t)
	const part = 5 << 20 // the least that S3 allows
	content := make([]byte, 2*part+part/2)
	for i := range content {
		content[i] = byte(i * 7 / 3)
	}
	for _, size := range []int{0, 1, part - 1, part, part + 1, 2 * part, len(content)} {
		name := "of/" + strconv.Itoa(size)
		u := s.Create(t.Context(), name)
		u.size = part
		for piece := range slices.Chunk(content[:size], 1_000_003) {
			_, err := u.Write(piece)
			require.NoError(t, err)
		}
		assert.Empty(t, s.names(t, name, true))
		require.NoError(t, u.Finish())
		assert.LessOrEqual(t, cap(u.rest), 2*part)
		r, err := s.Open(t.Context(), name)
		require.NoError(t, err)
		got, err := io.ReadAll(r)
		require.NoError(t, err)
		require.NoError(t, r.Close())
		assert.True(t, bytes.Equal(content[:size], got), "%d bytes", size)
	}
	assert.Len(t, s.names(t, "of/", true), 7)
	assert.Equal(t, []string{"of/=0"}, s.names(t, "", false))

	for name, end := range map[string]func(*Upload) error{
		"given up": (*Upload).Abort,
		"killed":   func(*Upload) error { return s.RemoveUnfinished(t.Context(), "") },
	} {
		u := s.Create(t.Context(), name)
		u.size = part
		_, err := u.Write(content)
		require.NoError(t, err)
		assert.Equal(t, 1, s.unfinished(t))
		require.NoError(t, end(u))
		assert.Zero(t, s.unfinished(t), name)
		require.NoError(t, s.RemoveUnfinished(t.Context(), ""))
		assert.Empty(t, s.names(t, name, true))
		require.Error(t, u.Finish(), "what was removed cannot be finished")
	}
	u := s.Create(t.Context(), "none")
	_, err := u.Write([]byte("x"))
	require.NoError(t, err)
	require.NoError(t, u.Abort())
	assert.Empty(t, s.names(t, "none", true))
}

func (s *Store) unfinished(t *testing.T) (n int) {
	t.Helper()
	for u := range s.client.ListIncompleteUploads(t.Context(), s.bucket, s.prefix, true) {
		require.NoError(t, u.Err)
		n++
	}
	return n
}

// TestSwap replaces an object only if it is the one that the caller knows.
func TestSwap(t *testing.T) {
	t.Parallel()
	s, ctx := inBucket(t), t.Context()
	_, _, err := s.Get(ctx, "mark")
	require.ErrorIs(t, err, feed.ErrNotFound)
	_, err = s.Swap(ctx, "mark", []byte("x"), "0123456789abcdef0123456789abcdef")
	require.ErrorIs(t, err, ErrChanged, "there is none")
	first, err := s.Swap(ctx, "mark", []byte("one"), "")
	require.NoError(t, err)
	_, err = s.Swap(ctx, "mark", []byte("two"), "")
	require.ErrorIs(t, err, ErrChanged)
	second, err := s.Swap(ctx, "mark", []byte("two"), first)
	require.NoError(t, err)
	_, err = s.Swap(ctx, "mark", []byte("three"), first)
	require.ErrorIs(t, err, ErrChanged)
	data, etag, err := s.Get(ctx, "mark")
	require.NoError(t, err)
	assert.Equal(t, "two", string(data))
	assert.Equal(t, second, etag)
}

// TestSwapWithoutConditions has a store that knows no conditional writes: objects are replaced.
func TestSwapWithoutConditions(t *testing.T) {
	t.Parallel()
	store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-Match")+r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotImplemented)
			_, _ = io.WriteString(w, "<Error><Code>NotImplemented</Code></Error>")
			return
		}
		w.Header().Set("ETag", `"new"`)
	}))
	t.Cleanup(store.Close)
	s, err := open(t, "s3://bucket?region=r&use_path_style=true&anonymous=true&endpoint="+store.URL)
	require.NoError(t, err)
	etag, err := s.Swap(t.Context(), "mark", []byte("x"), "old")
	require.NoError(t, err)
	assert.Equal(t, "new", etag)
}

// TestCutConnections reads an object whose connections are cut: it is read on, and never mixed with another version.
func TestCutConnections(t *testing.T) {
	t.Parallel()
	content := strings.Repeat("0123456789", 10_000)
	etag, after := "first", 30_000
	store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		match := r.Header.Get("If-Match")
		if match != "" && match != strconv.Quote(etag) {
			w.WriteHeader(http.StatusPreconditionFailed)
			_, _ = io.WriteString(w, "<Error><Code>PreconditionFailed</Code></Error>")
			return
		}
		at := 0
		if r.Header.Get("Range") != "" {
			_, _ = fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &at)
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", at, len(content)-1, len(content)))
		}
		w.Header().Set("ETag", strconv.Quote(etag))
		w.Header().Set("Last-Modified", "Tue, 01 Dec 2026 00:00:00 GMT")
		w.Header().Set("Content-Length", strconv.Itoa(len(content)-at))
		if at > 0 {
			w.WriteHeader(http.StatusPartialContent)
		}
		_, _ = io.WriteString(w, content[at:min(at+after, len(content))])
		if at+after < len(content) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_ = conn.Close()
			}
		}
	}))
	t.Cleanup(store.Close)
	s, err := open(t, "s3://bucket?region=r&use_path_style=true&anonymous=true&endpoint="+store.URL)
	require.NoError(t, err)
	data, _, err := s.Get(t.Context(), "x")
	require.NoError(t, err)
	assert.Equal(t, content, string(data))

	r, err := s.Open(t.Context(), "x")
	require.NoError(t, err)
	etag = "second"
	_, err = io.ReadAll(r)
	require.ErrorContains(t, err, ofChange)

	after = 0 // nothing more comes
	_, _, err = s.Get(t.Context(), "x")
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

// TestTooLarge gives more than an object may have.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	u := &Upload{ctx: t.Context(), store: &Store{}, name: "x", size: 1 << 20, rest: make([]byte, 1<<20), parts: make([]minio.CompletePart, mostParts)}
	_, err := u.Write([]byte("x"))
	require.ErrorContains(t, err, "x has more than 9 GB")
}
