package client_test

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
)

// TestFetchExportContinues: a transfer that is cut continues where it ended, and one of another file does not.
func TestFetchExportContinues(t *testing.T) {
	t.Parallel()
	content := bytes.Repeat([]byte("0123456789"), 50_000)
	var mu sync.Mutex
	name, ranges := `"one"`, []string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "/v1/agents/u_1/export/file", r.URL.Path)
		mu.Lock()
		ranges = append(ranges, r.Header.Get("Range"))
		w.Header().Set("ETag", name)
		mu.Unlock()
		cut := &cutAfter{ResponseWriter: w, left: 200_000}
		http.ServeContent(cut, r, "", time.Time{}, bytes.NewReader(content))
	}))
	defer server.Close()
	c, err := client.New(server.URL, client.WithRetries(2, time.Millisecond))
	require.NoError(t, err)
	defer c.Close()
	var got bytes.Buffer
	n, err := c.FetchExport(t.Context(), "u_1", &got)
	require.NoError(t, err)
	assert.EqualValues(t, len(content), n)
	assert.True(t, bytes.Equal(content, got.Bytes()))
	mu.Lock()
	assert.Equal(t, []string{"", "bytes=200000-", "bytes=400000-"}, ranges)
	mu.Unlock()

	got.Reset()
	full := errors.New("the disk is full")
	_, err = c.FetchExport(t.Context(), "u_1", failing{full})
	require.ErrorIs(t, err, full)
	n, err = c.FetchExport(t.Context(), "u_1", renaming{&got, func() {
		mu.Lock()
		defer mu.Unlock()
		name = `"two"`
	}})
	require.ErrorContains(t, err, "was replaced")
	assert.EqualValues(t, 200_000, n)
}

// cutAfter cuts the connection after some bytes.
type cutAfter struct {
	http.ResponseWriter
	left int
}

func (c *cutAfter) Write(p []byte) (int, error) {
	some := p[:min(len(p), c.left)]
	n, err := c.ResponseWriter.Write(some)
	c.left -= n
	if c.left == 0 {
		_ = http.NewResponseController(c.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, err
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// renaming calls a function with the first bytes.
type renaming struct {
	*bytes.Buffer
	first func()
}

func (r renaming) Write(p []byte) (int, error) {
	r.first()
	return r.Buffer.Write(p)
}

// TestFetchExportRefused returns what the server says.
func TestFetchExportRefused(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"code":40401,"msg":"the export is not ready yet"}`))
	}))
	defer server.Close()
	c, err := client.New(server.URL)
	require.NoError(t, err)
	defer c.Close()
	n, err := c.FetchExport(t.Context(), "u_1", &strings.Builder{})
	require.ErrorIs(t, err, client.ErrNotFound)
	require.ErrorContains(t, err, "not ready yet")
	assert.Zero(t, n)
}
