package media_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/media"
	"github.com/freshet/freshet/social/media/folder"
	"github.com/freshet/freshet/social/media/s3"
	socialsqlite "github.com/freshet/freshet/social/sqlite"
)

// inFolder returns a file store in a folder that the test can damage.
func inFolder(t *testing.T) (media.Store, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "media")
	s, err := folder.Open(dir)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	return s, dir
}

func inS3(t *testing.T, address string) media.Store {
	t.Helper()
	at, err := url.Parse(address)
	require.NoError(t, err)
	s, err := s3.Open(at)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	return s
}

func rows(t *testing.T) *socialsqlite.Store {
	t.Helper()
	s, err := socialsqlite.Open(t.Context(), filepath.Join(t.TempDir(), "social.db"), social.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	return s
}

func filesOf(t *testing.T, s media.Store) []string {
	t.Helper()
	keys, err := s.Keys(t.Context(), 1000)
	require.NoError(t, err)
	return keys
}

func pictures(t *testing.T, n int) (list []media.Image) {
	t.Helper()
	for i := range n {
		var b bytes.Buffer
		require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 400+i, 300))))
		m, err := media.NewProcessor(media.Config{}).Make(t.Context(), b.Bytes())
		require.NoError(t, err)
		list = append(list, m)
	}
	return list
}

func keyOf(url string) string { return strings.TrimPrefix(url, social.ImagePath) }

func TestFiles(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T) media.Store{
		"file": func(t *testing.T) media.Store { s, _ := inFolder(t); return s },
		"S3":   func(t *testing.T) media.Store { return inS3(t, testenv.S3(t)+"&prefix="+testenv.Unique()+"/") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, store := open(t), rows(t)
			f := media.NewFiles(b, store, time.Minute)
			ctx := t.Context()
			require.NoError(t, f.Ping(ctx))
			list := pictures(t, 2)
			saved, n, err := f.Save(ctx, "post:1", list)
			require.NoError(t, err)
			require.Len(t, filesOf(t, b), 4)
			require.Equal(t, 4, n)
			p := social.Post{ID: "post:1", Author: "a", Audience: social.Audience{Public: true}, CreatedAt: time.Now().Unix(), Images: saved}
			_, err = f.Owner(ctx, keyOf(saved[0].URL))
			require.ErrorIs(t, err, feed.ErrNotFound, "its post is not there yet")
			_, _, err = store.CreatePost(ctx, p, social.Creation{Files: n})
			require.NoError(t, err)
			require.NoError(t, f.Release(ctx, "post:1"), "it has them")
			for i, image := range saved {
				assert.Equal(t, []int{list[i].Width, list[i].Height}, []int{image.Width, image.Height})
				for url, file := range map[string]media.File{image.URL: list[i].Full, image.Thumbnail: list[i].Thumb} {
					post, err := f.Owner(ctx, keyOf(url))
					require.NoError(t, err)
					require.Equal(t, "post:1", post)
					reads(t, f, keyOf(url), file)
				}
			}
			require.NoError(t, store.DeletePost(ctx, "post:1", "a", time.Time{}))
			for range 2 {
				require.NoError(t, f.Release(ctx, "post:1"))
				require.Empty(t, filesOf(t, b))
			}
			_, err = f.Open(ctx, keyOf(saved[0].URL))
			require.ErrorIs(t, err, feed.ErrNotFound)
			_, err = f.Open(ctx, "../../x")
			require.ErrorIs(t, err, feed.ErrNotFound)

			// When a process dies after storing the files, the job of the post removes them.
			_, _, err = f.Save(ctx, "post:2", list)
			require.NoError(t, err)
			require.NoError(t, f.Release(ctx, "post:2"))
			require.Empty(t, filesOf(t, b))
		})
	}
}

// reads checks that a file can be read from its beginning, and in part.
func reads(t *testing.T, f *media.Files, key string, want media.File) {
	t.Helper()
	r, err := f.Open(t.Context(), key)
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	assert.Equal(t, want.Type, r.ContentType())
	got, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, want.Data, got)
	size, err := r.Seek(0, io.SeekEnd)
	require.NoError(t, err)
	require.Equal(t, int64(len(want.Data)), size)
	_, err = r.Seek(7, io.SeekStart)
	require.NoError(t, err)
	part := make([]byte, 20)
	_, err = io.ReadFull(r, part)
	require.NoError(t, err)
	require.Equal(t, want.Data[7:27], part)
}

// A store that accepts only some of the files retains none of them.
func TestSaveAtomic(t *testing.T) {
	t.Parallel()
	whole, dir := inFolder(t)
	store := rows(t)
	f := media.NewFiles(whole, store, time.Minute)
	// A file blocks each of most folders. As keys are random, the free folders accept some of the
	// files, but not all.
	for i := range 256 {
		if i%8 != 0 {
			require.NoError(t, os.WriteFile(filepath.Join(dir, folderName(i)), nil, 0o600))
		}
	}
	list := pictures(t, 10)
	for range 5 {
		_, _, err := f.Save(t.Context(), "post:"+testenv.Unique(), list)
		require.ErrorIs(t, err, media.ErrUnavailable)
	}
	require.NoError(t, filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		require.NoError(t, err)
		if !info.IsDir() {
			require.Zero(t, info.Size(), "%s was left", path)
		}
		return nil
	}))
}

func folderName(i int) string {
	const digits = "0123456789abcdef"
	return string([]byte{digits[i/16], digits[i%16]})
}

func TestStoreDown(t *testing.T) {
	t.Parallel()
	b := inS3(t, "s3://freshet?region=us-east-1&endpoint=http://127.0.0.1:1&use_path_style=true&anonymous=true")
	store := rows(t)
	f := media.NewFiles(b, store, time.Minute)
	_, _, err := f.Save(t.Context(), "post:1", pictures(t, 1))
	require.ErrorIs(t, err, media.ErrUnavailable)
	_, err = f.Open(t.Context(), strings.Repeat("0", 32))
	require.ErrorIs(t, err, media.ErrUnavailable)
	require.ErrorIs(t, f.Ping(t.Context()), media.ErrUnavailable)
	require.ErrorIs(t, f.Release(t.Context(), "post:1"), media.ErrUnavailable)
	keys, err := store.UnusedFiles(t.Context(), "post:1")
	require.NoError(t, err)
	require.Len(t, keys, 2, "what may be stored is not forgotten")
}

// listed is a store whose files can be listed and not read.
type listed struct{ media.Store }

func (listed) Open(context.Context, string) (media.Reader, error) {
	return nil, errors.New("access denied")
}

func TestPingWithoutReadPermission(t *testing.T) {
	t.Parallel()
	s, _ := inFolder(t)
	f := media.NewFiles(listed{s}, rows(t), time.Minute)
	require.NoError(t, f.Ping(t.Context()), "there is nothing to read")
	require.NoError(t, s.Put(t.Context(), "00/"+strings.Repeat("0", 32), media.File{Type: "image/png", Data: []byte("x")}))
	err := f.Ping(t.Context())
	require.ErrorIs(t, err, media.ErrUnavailable)
	require.ErrorContains(t, err, "cannot read an image: access denied")
	require.NoError(t, media.NewFiles(s, rows(t), time.Minute).Ping(t.Context()))
}

// hanging is an S3 server that accepts every connection and never answers.
func hanging(t *testing.T) media.Store {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	return inS3(t, "s3://freshet?region=us-east-1&endpoint=http://"+listener.Addr().String()+"&use_path_style=true&anonymous=true")
}

// TestStoreHangs checks that a writer gets the error that the store is unavailable, and that
// the record of files the store may hold remains.
func TestStoreHangs(t *testing.T) {
	t.Parallel()
	store := rows(t)
	f := media.NewFiles(hanging(t), store, 50*time.Millisecond)
	_, _, err := f.Save(t.Context(), "post:1", pictures(t, 2))
	require.ErrorIs(t, err, media.ErrUnavailable)
	require.ErrorIs(t, f.Release(t.Context(), "post:1"), media.ErrUnavailable)
	keys, err := store.UnusedFiles(t.Context(), "post:1")
	require.NoError(t, err)
	require.Len(t, keys, 4)
}

// slow is a store that takes a second for each file.
type slow struct{ media.Store }

func (s slow) Put(ctx context.Context, key string, f media.File) error {
	select {
	case <-time.After(time.Second):
		return s.Store.Put(ctx, key, f)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestImagesOfPostShareDeadline checks that all images of a post share one deadline, whatever
// their number.
func TestImagesOfPostShareDeadline(t *testing.T) {
	t.Parallel()
	list, store := pictures(t, 10), rows(t)
	inside, _ := inFolder(t)
	synctest.Test(t, func(t *testing.T) {
		f := media.NewFiles(slow{inside}, store, 3500*time.Millisecond)
		began := time.Now()
		_, _, err := f.Save(t.Context(), "post:1", list)
		require.ErrorIs(t, err, media.ErrUnavailable)
		require.Equal(t, 3500*time.Millisecond, time.Since(began))
		_, n, err := f.Save(t.Context(), "post:2", list[:6])
		require.NoError(t, err, "several at once")
		require.Equal(t, 12, n)
	})
}
