package server

import (
	"bytes"
	"errors"
	"image"
	"image/png"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
)

// TestMediaTempFilesRemovedAtStart starts over files as fileblob leaves them when it is killed. If
// there are other servers, only files that are too old to be still in progress are removed.
func TestMediaTempFilesRemovedAtStart(t *testing.T) {
	t.Parallel()
	const whole, old, young = "b614c9cea7bc946a3702861695974d8a", "b614c9cea7bc946a3702861695974d8a.18eaabc26ea3fc47.tmp", "b6ef53a5a001c0a5af77edc347d74ac8.18eaabc26ea3fc48.tmp"
	fill := func(dir string) {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "b6"), 0o750))
		for _, name := range []string{whole, old, young} {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "b6", name), []byte("x"), 0o600))
		}
		long := time.Now().Add(-2 * social.ReservedFor)
		require.NoError(t, os.Chtimes(filepath.Join(dir, "b6", old), long, long))
	}
	cfg := embedded(t)
	dir := filepath.Join(cfg.DataDir, "media")
	fill(dir)
	open(t, cfg)
	assert.FileExists(t, filepath.Join(dir, "b6", whole))
	assert.NoFileExists(t, filepath.Join(dir, "b6", old))
	assert.NoFileExists(t, filepath.Join(dir, "b6", young))
}

// TestMediaObjectStoreHangs accepts calls and never answers: a post with images is refused before
// its call times out, and leaves nothing behind.
func TestMediaObjectStoreHangs(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	cfg := embedded(t)
	cfg.Server.RequestTimeout = 3 * time.Second
	cfg.Media.URL = "s3://freshet?region=us-east-1&endpoint=http://" + listener.Addr().String() + "&use_path_style=true&anonymous=true"
	a := open(t, cfg)
	server := httptest.NewServer(a.Handler)
	t.Cleanup(server.Close)

	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	require.NoError(t, form.WriteField("post", `{"caption":"x","audience":{"public":true}}`))
	part, err := form.CreateFormFile("image", "x.png")
	require.NoError(t, err)
	require.NoError(t, png.Encode(part, image.NewGray(image.Rect(0, 0, 8, 8))))
	require.NoError(t, form.Close())
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/v1/posts", &body)
	require.NoError(t, err)
	req.Header.Set("X-Agent-ID", "ann")
	req.Header.Set("Content-Type", form.FormDataContentType())
	res, err := (&http.Client{Timeout: cfg.Server.RequestTimeout}).Do(req)
	require.NoError(t, err, "it is answered before the client gives up")
	answer, err := io.ReadAll(res.Body)
	require.NoError(t, errors.Join(err, res.Body.Close()))
	assert.Equal(t, http.StatusServiceUnavailable, res.StatusCode)
	assert.Contains(t, string(answer), "images are unavailable; try again later")
	grid, err := a.Social.Grid(t.Context(), "ann", "ann", social.Position{}, 5)
	require.NoError(t, err)
	assert.Empty(t, grid)
}
