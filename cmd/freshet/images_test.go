package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io/fs"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social/media/s3"
)

func picture(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 400, 200))))
	return b.Bytes()
}

// stored lists the contents of an image store, including files being written.
func stored(t *testing.T, address string) (keys []string) {
	t.Helper()
	at, err := url.Parse(address)
	require.NoError(t, err)
	if at.Scheme == "file" {
		require.NoError(t, fs.WalkDir(os.DirFS(filepath.FromSlash(at.Path)), ".", func(name string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				keys = append(keys, name)
			}
			return err
		}))
		return keys
	}
	store, err := s3.Open(at)
	require.NoError(t, err)
	defer func() { assert.NoError(t, store.Close()) }()
	keys, err = store.Keys(t.Context(), math.MaxInt)
	require.NoError(t, err)
	return keys
}

// TestKill9DuringImageUpload kills a server while posts with images are uploaded: every stored
// post has all its images, whether or not its author got an answer, and no other files are left
// once the remaining jobs have run.
func TestKill9DuringImageUpload(t *testing.T) {
	t.Parallel()
	for name, place := range map[string]func(t *testing.T, dataDir string) (setting, address string){
		"file": func(_ *testing.T, dataDir string) (setting, address string) {
			return "", "file://" + filepath.ToSlash(filepath.Join(dataDir, "media"))
		},
		"S3": func(t *testing.T, _ string) (setting, address string) {
			address = testenv.S3(t) + "&prefix=" + testenv.Unique() + "/"
			return address, address
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := settings(t, "embedded")
			var address string
			s["MEDIA_URL"], address = place(t, s["DATA_DIR"])
			var mu sync.Mutex
			answered := map[string]client.Post{}
			file := picture(t)
			p := start(t, s)
			for life := range 4 {
				ctx, cancel := context.WithCancel(t.Context())
				var wg sync.WaitGroup
				for i := range 6 {
					wg.Go(func() {
						c, err := client.New(p.url, client.WithAgent(fmt.Sprintf("u_%d", i)))
						for err == nil && ctx.Err() == nil {
							var post client.Post
							post, err = c.CreatePost(ctx, client.NewPost{Images: []client.NewImage{{Data: file}, {Data: file, Alt: "x"}}})
							if err == nil {
								mu.Lock()
								answered[post.ID] = post
								mu.Unlock()
							}
						}
					})
				}
				enough := func() bool { mu.Lock(); defer mu.Unlock(); return len(answered) > 8*(life+1) }
				testenv.WaitFor(t, enough, "enough posts")
				p.kill(t)
				cancel()
				wg.Wait()
				p = start(t, s)
			}
			require.Positive(t, len(answered))
			for _, post := range answered {
				require.Len(t, post.Images, 2)
			}
			admin, err := client.New(p.url, client.WithAdminToken(adminToken))
			require.NoError(t, err)
			sweep(t, admin)
			files := 0
			for i := range 6 {
				files += checkPosts(t, p.url, fmt.Sprintf("u_%d", i), answered)
			}
			require.Empty(t, answered, "posts that were confirmed are lost")
			assert.Len(t, stored(t, address), files, "files without a post")
			for _, key := range stored(t, address) {
				assert.NotContains(t, key, ".", "a file that was being written")
			}
		})
	}
}

// sweep runs the image jobs that are due an hour later, and waits for them.
func sweep(t *testing.T, admin *client.Client) {
	t.Helper()
	ask := client.JobFilter{Kind: "images", Limit: 1000}
	page, err := admin.Jobs(t.Context(), ask)
	require.NoError(t, err)
	t.Logf("%d posts were not finished", len(page.Jobs))
	for _, j := range page.Jobs {
		err := admin.RetryJob(t.Context(), j.ID)
		require.True(t, err == nil || errors.Is(err, client.ErrNotFound), "%v", err)
	}
	testenv.WaitFor(t, func() bool {
		page, err := admin.Jobs(t.Context(), ask)
		return err == nil && len(page.Jobs) == 0
	}, "the jobs of images")
}

// checkPosts reads all images of an author's posts, removes the posts from answered, and returns
// the number of their files.
func checkPosts(t *testing.T, url, author string, answered map[string]client.Post) (files int) {
	t.Helper()
	c, err := client.New(url, client.WithAgent(author))
	require.NoError(t, err)
	for cursor := ""; ; {
		page, err := c.AuthorPosts(t.Context(), author, cursor, 100)
		require.NoError(t, err)
		for _, post := range page.Items {
			require.Len(t, post.Images, 2)
			delete(answered, post.ID)
			for _, image := range post.Images {
				for _, path := range []string{image.URL, image.Thumbnail} {
					files++
					readImage(t, url+path)
				}
			}
		}
		if !page.HasMore {
			return files
		}
		cursor = page.NextCursor
	}
}

func readImage(t *testing.T, url string) {
	t.Helper()
	res, err := http.Get(url)
	require.NoError(t, err)
	defer func() { assert.NoError(t, res.Body.Close()) }()
	require.Equal(t, http.StatusOK, res.StatusCode, url)
	_, _, err = image.Decode(res.Body)
	require.NoError(t, err)
}

func TestPostCommandWithImages(t *testing.T) {
	t.Parallel()
	p := start(t, settings(t, "embedded"))
	file := write(t, "lake.png", string(picture(t)))
	got := freshet(t, "", "post", "--server", p.url, "--agent", "u_1", "--json", "--image", file, "--alt", "A lake", "--image", file, "Two lakes")
	require.Zero(t, got.code, got.errs)
	assert.Contains(t, got.out, `"alt": "A lake"`)
	assert.Equal(t, 2, strings.Count(got.out, `"thumbnail"`))
	for flags, want := range map[string]string{
		"--image /no/such/file": "no such file",
		"--alt x caption":       "--alt",
		"":                      "caption",
	} {
		got := freshet(t, "", append([]string{"post", "--server", p.url, "--agent", "u_1"}, strings.Fields(flags)...)...)
		assert.NotZero(t, got.code, flags)
		assert.Contains(t, got.errs, want, flags)
	}
}
