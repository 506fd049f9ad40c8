package client_test

import (
	"bytes"
	"errors"
	"image"
	"image/png"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/testenv"
)

func picture(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 400, 200))))
	return b.Bytes()
}

// Images are published, edited and read, and deleted from the disk with their post or their
// author.
func TestImagesOnRealServer(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	var dir string
	h, stop := embedded(func(c *configs.Config) { dir = c.DataDir })
	t.Cleanup(stop)
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	ana := connect(t, server.URL, client.WithAgent("u_1"))

	post, err := ana.CreatePost(ctx, client.NewPost{Caption: "The lake", Key: "k", Images: []client.NewImage{{Data: picture(t), Alt: "A lake"}, {Data: picture(t)}}})
	require.NoError(t, err)
	require.Len(t, post.Images, 2)
	require.Equal(t, []any{400, 200, "#000000", "A lake"}, []any{post.Images[0].Width, post.Images[0].Height, post.Images[0].Color, post.Images[0].Alt})
	again, err := ana.CreatePost(ctx, client.NewPost{Caption: "The lake", Key: "k", Images: []client.NewImage{{Data: picture(t), Alt: "A lake"}, {Data: picture(t)}}})
	require.NoError(t, err)
	require.Equal(t, post.ID, again.ID)
	require.Equal(t, post.Images, again.Images)
	alts := []string{"A pond", "The same"}
	edited, err := ana.EditPost(ctx, post.ID, client.PostEdit{Alts: &alts})
	require.NoError(t, err)
	require.Equal(t, "A pond", edited.Images[0].Alt)
	page, err := ana.Timeline(ctx, "", 20)
	require.NoError(t, err)
	require.Equal(t, edited.Images, page.Items[0].Images)
	for url, side := range map[string]int{post.Images[0].URL: 400, post.Images[0].Thumbnail: 320} {
		res, err := http.Get(server.URL + url)
		require.NoError(t, err)
		p, _, err := image.Decode(res.Body)
		require.NoError(t, errors.Join(err, res.Body.Close()))
		require.Equal(t, side, p.Bounds().Dx())
	}
	_, err = ana.CreatePost(ctx, client.NewPost{Images: []client.NewImage{{Data: []byte("<svg/>")}}})
	var refused *client.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, 41501, refused.Code)

	require.Equal(t, 4, filesIn(t, dir))
	require.NoError(t, ana.DeletePost(ctx, post.ID))
	untilNoFiles(t, dir)
	_, err = ana.CreatePost(ctx, client.NewPost{Images: []client.NewImage{{Data: picture(t)}}})
	require.NoError(t, err)
	require.Equal(t, 2, filesIn(t, dir))
	card, err := ana.PutAuthorImage(ctx, "u_1", picture(t))
	require.NoError(t, err)
	require.Equal(t, 3, filesIn(t, dir))
	res, err := http.Get(server.URL + card.ImageURL)
	require.NoError(t, err)
	p, _, err := image.Decode(res.Body)
	require.NoError(t, errors.Join(err, res.Body.Close()))
	require.Equal(t, 320, p.Bounds().Dx())
	known, err := ana.Author(ctx, "u_1")
	require.NoError(t, err)
	require.Equal(t, card.ImageURL, known.ImageURL)
	_, err = ana.PutAuthorImage(ctx, "u_1", []byte("<svg/>"))
	require.ErrorAs(t, err, &refused)
	require.Equal(t, 41501, refused.Code)
	require.NoError(t, ana.DeleteAuthor(ctx, "u_1"))
	untilNoFiles(t, dir)
}

// filesIn returns the number of images in a server's data_dir.
func filesIn(t *testing.T, dataDir string) (n int) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(dataDir, "media"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(path) != ".attrs" {
			n++
		}
		if errors.Is(err, fs.ErrNotExist) { // removed concurrently
			return nil
		}
		return err
	})
	require.NoError(t, err)
	return n
}

func untilNoFiles(t *testing.T, dataDir string) {
	t.Helper()
	testenv.WaitFor(t, func() bool { return filesIn(t, dataDir) == 0 }, "the job removes the images")
}
