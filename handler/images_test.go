package handler

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/media"
	"github.com/freshet/freshet/social/media/folder"
	socialsqlite "github.com/freshet/freshet/social/sqlite"
)

// gallery is a handler with a store of posts and a store of images.
type gallery struct {
	*fixture
	store  *socialsqlite.Store
	folder *folder.Store
	images *brokenImages
}

// brokenImages are real images with stores that a test can make fail.
type brokenImages struct {
	*media.Processor
	*media.Files
	save error
}

func (b *brokenImages) Save(ctx context.Context, post string, images []media.Image) ([]social.Image, int, error) {
	if b.save != nil {
		return nil, 0, b.save
	}
	return b.Files.Save(ctx, post, images)
}

func newGallery(t *testing.T) *gallery {
	t.Helper()
	g := &gallery{}
	var err error
	g.folder, err = folder.Open(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { _ = g.folder.Close() }) // the test may have closed it already
	g.fixture, g.store = socialFixture(t, func(_ *Config, d *Deps) {
		g.images = &brokenImages{Processor: media.NewProcessor(media.Config{}), Files: media.NewFiles(g.folder, d.Social.Store, time.Minute)}
		d.Social.Images = g.images
	})
	return g
}

func (g *gallery) blobs(t *testing.T) int {
	t.Helper()
	keys, err := g.folder.Keys(t.Context(), 1000)
	require.NoError(t, err)
	return len(keys)
}

func pngOf(t testing.TB, w, h int) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))))
	return b.Bytes()
}

func jpegOf(t testing.TB, w, h int) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, w, h)), nil))
	return b.Bytes()
}

// form returns a form with the fields of a post; with post "" it omits that field.
func form(t testing.TB, post string, files ...[]byte) (body, kind string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i, file := range files {
		h := textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf(`form-data; name="image"; filename="%d.svg"`, i)}, "Content-Type": {"image/svg+xml"}} // the declared type is ignored
		part, err := w.CreatePart(h)
		require.NoError(t, err)
		_, err = part.Write(file)
		require.NoError(t, err)
	}
	if post != "" {
		require.NoError(t, w.WriteField("post", post))
	}
	require.NoError(t, w.Close())
	return b.String(), "Content-Type: " + w.FormDataContentType()
}

func (g *gallery) post(t testing.TB, agent, post string, files [][]byte, headers ...string) reply {
	t.Helper()
	body, kind := form(t, post, files...)
	return g.do(t, "POST", "/v1/posts", body, append(headers, as(agent), kind)...)
}

func (g *gallery) get(t testing.TB, method, url string, headers ...string) (*http.Response, []byte) {
	t.Helper()
	r := httptest.NewRequest(method, url, nil)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	w := httptest.NewRecorder()
	g.handler.ServeHTTP(w, r)
	return w.Result(), w.Body.Bytes()
}

type photo struct {
	ID      string
	Caption string
	Images  []social.Image
}

func TestPostWithImages(t *testing.T) {
	t.Parallel()
	g := newGallery(t)
	r := g.post(t, "ann", `{"caption":"Two","images":[{"alt":"A lake"},{"alt":""}]}`, [][]byte{jpegOf(t, 640, 480), pngOf(t, 30, 40)})
	require.Equal(t, http.StatusCreated, r.status, r.body)
	p := data[photo](t, r)
	require.Len(t, p.Images, 2)
	assert.Equal(t, []any{640, 480, "A lake", "#000000"}, []any{p.Images[0].Width, p.Images[0].Height, p.Images[0].Alt, p.Images[0].Color})
	assert.Equal(t, []any{30, 40, ""}, []any{p.Images[1].Width, p.Images[1].Height, p.Images[1].Alt})
	assert.Equal(t, 4, g.blobs(t))
	for _, where := range []string{"/v1/posts/" + p.ID, "/v1/timeline", "/v1/authors/ann/posts"} {
		again := g.do(t, "GET", where, "", as("ann"))
		want, err := json.Marshal(p.Images)
		require.NoError(t, err)
		assert.Contains(t, again.body, `"images":`+string(want), where)
	}
	for i, kind := range []string{"image/jpeg", "image/png"} {
		res, body := g.get(t, "GET", p.Images[i].URL)
		require.Equal(t, 200, res.StatusCode)
		assert.Equal(t, kind, res.Header.Get("Content-Type"))
		assert.Equal(t, "nosniff", res.Header.Get("X-Content-Type-Options"))
		assert.Equal(t, "cross-origin", res.Header.Get("Cross-Origin-Resource-Policy"))
		assert.Equal(t, "public, max-age=31536000, immutable", res.Header.Get("Cache-Control"))
		config, _, err := image.DecodeConfig(bytes.NewReader(body))
		require.NoError(t, err)
		assert.Equal(t, p.Images[i].Width, config.Width)
	}
	res, body := g.get(t, "GET", p.Images[0].Thumbnail, as("anybody"))
	require.Equal(t, 200, res.StatusCode)
	config, _, err := image.DecodeConfig(bytes.NewReader(body))
	require.NoError(t, err)
	assert.Equal(t, []int{320, 240}, []int{config.Width, config.Height})

	edited := g.do(t, "PATCH", "/v1/posts/"+p.ID, `{"alts":["A pond","A tree"]}`, as("ann"))
	assert.Equal(t, []string{"A pond", "A tree"}, []string{data[photo](t, edited).Images[0].Alt, data[photo](t, edited).Images[1].Alt})

	alone := g.post(t, "ann", `{}`, [][]byte{pngOf(t, 2, 2)})
	require.Equal(t, http.StatusCreated, alone.status, "an image needs no caption: %s", alone.body)
	without := g.post(t, "ann", `{"caption":"a form without files"}`, nil)
	require.Equal(t, http.StatusCreated, without.status, without.body)
}

func TestImageRangesAndConditions(t *testing.T) {
	t.Parallel()
	g := newGallery(t)
	p := data[photo](t, g.post(t, "ann", `{}`, [][]byte{pngOf(t, 300, 200)}))
	url := p.Images[0].URL
	res, whole := g.get(t, "GET", url)
	tag := res.Header.Get("ETag")
	require.NotEmpty(t, tag)
	head, none := g.get(t, "HEAD", url)
	assert.Equal(t, []any{200, fmt.Sprint(len(whole)), tag}, []any{head.StatusCode, head.Header.Get("Content-Length"), head.Header.Get("ETag")})
	assert.Empty(t, none)
	for value, want := range map[string]string{"bytes=0-9": string(whole[:10]), "bytes=5-": string(whole[5:]), "bytes=-7": string(whole[len(whole)-7:]), "bytes=09-9": string(whole[9:10])} {
		res, body := g.get(t, "GET", url, "Range: "+value)
		assert.Equal(t, http.StatusPartialContent, res.StatusCode, value)
		assert.Equal(t, want, string(body), value)
	}
	res, refusal := g.get(t, "GET", url, "Range: bytes=999999-")
	assert.Equal(t, http.StatusRequestedRangeNotSatisfiable, res.StatusCode)
	assert.Contains(t, string(refusal), `"code":41601`)
	assert.Equal(t, "no-store", res.Header.Get("Cache-Control"))
	assert.Equal(t, fmt.Sprintf("bytes */%d", len(whole)), res.Header.Get("Content-Range"))
	for _, value := range []string{
		"bytes=0-1,4-5,8-9", "bytes=-0", "bytes=5-2", "bytes=10-9", "bytes=a-b", "bytes=--1", "items=0-1", "bytes=0-99999999999999999999", "bytes",
	} {
		res, body := g.get(t, "GET", url, "Range: "+value)
		assert.Equal(t, []any{200, string(whole)}, []any{res.StatusCode, string(body)}, "%s is no plain range", value)
	}
	for _, header := range []string{`If-Match: "another"`, "If-Unmodified-Since: Mon, 01 Jan 2001 00:00:00 GMT"} {
		res, _ := g.get(t, "GET", url, header)
		if res.StatusCode != 200 {
			assert.Equal(t, "no-store", res.Header.Get("Cache-Control"), "no cache gives it to others: %s", header)
		}
	}
	res, body := g.get(t, "GET", url, "If-None-Match: "+tag)
	assert.Equal(t, http.StatusNotModified, res.StatusCode)
	assert.Empty(t, body)
	res, body = g.get(t, "GET", url, "Range: bytes=0-9", `If-Range: "another"`)
	assert.Equal(t, []int{200, len(whole)}, []int{res.StatusCode, len(body)})
}

func TestImageVisibility(t *testing.T) {
	t.Parallel()
	g := newGallery(t)
	_, err := g.store.Follow(t.Context(), "friend", "ann", time.Time{})
	require.NoError(t, err)
	p := data[photo](t, g.post(t, "ann", `{"audience":{"followers":true},"mentions":["known"]}`, [][]byte{pngOf(t, 8, 8)}))
	for _, url := range []string{p.Images[0].URL, p.Images[0].Thumbnail} {
		for _, agent := range []string{"ann", "friend", "known"} {
			res, _ := g.get(t, "GET", url, as(agent))
			require.Equal(t, 200, res.StatusCode, agent)
			assert.Equal(t, "private, no-store", res.Header.Get("Cache-Control"))
			assert.Contains(t, res.Header.Get("Vary"), "X-Agent-ID")
			assert.Empty(t, res.Header.Get("Cross-Origin-Resource-Policy"))
		}
		res, _ := g.get(t, "GET", url, asAdmin)
		require.Equal(t, 200, res.StatusCode, "a moderator")
		assert.Equal(t, "private, no-store", res.Header.Get("Cache-Control"))
		log, err := g.store.Audit(t.Context(), 0, 1)
		require.NoError(t, err)
		require.Equal(t, []any{social.ActionRead, p.ID}, []any{log[0].Action, log[0].Object.ID}, "which is logged")
		for _, headers := range [][]string{nil, {as("stranger")}, {asAdmin, as("stranger")}} {
			res, body := g.get(t, "GET", url, headers...)
			require.Equal(t, 404, res.StatusCode, headers)
			unknown, same := g.get(t, "GET", social.ImagePath+strings.Repeat("0", 32), headers...)
			assert.Equal(t, unknown.StatusCode, res.StatusCode)
			assert.Equal(t, string(same), string(body), "it is not told from one that is not there")
		}
	}
	reply := data[photo](t, g.post(t, "friend", `{"reply_to":"`+p.ID+`"}`, [][]byte{pngOf(t, 8, 8)}))
	other := data[photo](t, g.post(t, "known", `{"reply_to":"`+p.ID+`"}`, [][]byte{pngOf(t, 8, 8)}))
	_, err = g.store.Unfollow(t.Context(), "friend", "ann", time.Time{})
	require.NoError(t, err)
	for post, status := range map[*photo]int{&p: 404, &other: 404, &reply: 200} {
		res, _ := g.get(t, "GET", post.Images[0].URL, as("friend"))
		assert.Equal(t, status, res.StatusCode, "not any more, except for one's own reply")
	}
	require.NoError(t, g.store.DeletePost(t.Context(), p.ID, "ann", time.Time{}))
	for agent, post := range map[string]photo{"ann": p, "friend": reply} {
		res, _ := g.get(t, "GET", post.Images[0].URL, as(agent))
		assert.Equal(t, 404, res.StatusCode)
	}
	for _, key := range []string{"x", "..%2f..%2fetc%2fpasswd", strings.Repeat("A", 32)} {
		res, _ := g.get(t, "GET", social.ImagePath+key)
		assert.Equal(t, 404, res.StatusCode, key)
	}
}

func TestPostWithInvalidImages(t *testing.T) {
	t.Parallel()
	g := newGallery(t)
	good := pngOf(t, 8, 8)
	large := append(jpegOf(t, 8, 8), make([]byte, media.MaxBytes)...)
	for name, c := range map[string]struct {
		post   string
		files  [][]byte
		status int
		code   int
	}{
		"SVG":                  {`{}`, [][]byte{good, []byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`)}, 415, 41501},
		"a polyglot":           {`{}`, [][]byte{append(jpegOf(t, 8, 8), "PK\x03\x04"...)}, 415, 41501},
		"an unknown type":      {`{}`, [][]byte{[]byte("hello")}, 415, 41501},
		"nothing in a file":    {`{}`, [][]byte{{}}, 415, 41501},
		"truncated":            {`{}`, [][]byte{good, jpegOf(t, 64, 64)[:300]}, 422, 42201},
		"over 5 MB":            {`{}`, [][]byte{good, large}, 413, 41301},
		"eleven":               {`{}`, slices.Repeat([][]byte{good}, 11), 422, 42201},
		"neither":              {`{"caption":" "}`, nil, 422, 42201},
		"too many alts":        {`{"images":[{"alt":"a"},{"alt":"b"}]}`, [][]byte{good}, 422, 42201},
		"a long alt":           {`{"images":[{"alt":"` + strings.Repeat("x", social.MaxAlt+1) + `"}]}`, [][]byte{good}, 422, 42201},
		"somebody's circle":    {`{"audience":{"circles":["c"]}}`, [][]byte{good}, 422, 42201},
		"no post":              {``, [][]byte{good}, 400, 40001},
		"a post that is no":    {`{"caption":`, [][]byte{good}, 400, 40001},
		"an unknown field":     {`{"nope":1}`, [][]byte{good}, 400, 40001},
		"a malformed mention":  {`{"mentions":["a b"]}`, [][]byte{good}, 422, 42201},
		"the author of others": {`{"author":"bob"}`, [][]byte{good}, 400, 40001},
	} {
		r := g.post(t, "ann", c.post, c.files)
		if name == "a malformed mention" {
			assert.Equal(t, 400, r.status, r.body)
			continue
		}
		assert.Equal(t, []int{c.status, c.code}, []int{r.status, r.Code}, "%s: %s", name, r.body)
	}
	asJSON := g.do(t, "POST", "/v1/posts", `{"caption":"x","images":[{"alt":"a"}]}`, as("ann"))
	assert.Equal(t, 42201, asJSON.Code, asJSON.body)
	body, kind := form(t, `{}`, good)
	cut := g.do(t, "POST", "/v1/posts", body[:len(body)-40], as("ann"), kind)
	assert.Equal(t, 40001, cut.Code, cut.body)
	strange := g.do(t, "POST", "/v1/posts", strings.ReplaceAll(body, `name="image"`, `name="photo"`), as("ann"), kind)
	assert.Equal(t, 40001, strange.Code, strange.body)
	unbounded := g.do(t, "POST", "/v1/posts", body, as("ann"), "Content-Type: multipart/form-data")
	assert.Equal(t, 40001, unbounded.Code, unbounded.body)
	packed := g.do(t, "POST", "/v1/posts", body, as("ann"), kind, "Content-Encoding: gzip")
	assert.Equal(t, 40001, packed.Code, packed.body)
	nobody := g.do(t, "POST", "/v1/posts", body, kind)
	assert.Equal(t, 40101, nobody.Code, nobody.body)
	g.leftNothing(t)
}

// TestPostWithTruncatedForm truncates a form at every position, as a client or a proxy
// does that ends the transfer regularly. None may create a post.
func TestPostWithTruncatedForm(t *testing.T) {
	t.Parallel()
	g := newGallery(t)
	const field = "--b\r\nContent-Disposition: form-data; name="
	body := field + "post\r\n\r\n{\"caption\":\"x\"}\r\n" + field + "image\r\n\r\n" + string(pngOf(t, 1, 1)) + "\r\n--b--\r\n"
	kind := "Content-Type: multipart/form-data; boundary=b"
	for n := range len(body) - len("\r\n") {
		r := g.do(t, "POST", "/v1/posts", body[:n], as("ann"), kind)
		require.Equal(t, 40001, r.Code, "%d of %d bytes: %s", n, len(body), r.body)
	}
	g.leftNothing(t)
	r := g.do(t, "POST", "/v1/posts", strings.TrimSuffix(body, "\r\n"), as("ann"), kind)
	require.Equal(t, 201, r.status, "the last line end may be missing: %s", r.body)
	require.Len(t, data[photo](t, r).Images, 1)
}

// leftNothing checks that there is no file, no post and no job.
func (g *gallery) leftNothing(t *testing.T) {
	t.Helper()
	assert.Zero(t, g.blobs(t))
	list, err := g.store.Grid(t.Context(), "ann", "ann", social.Position{}, 10)
	require.NoError(t, err)
	assert.Empty(t, list)
	for _, kind := range []jobs.Kind{jobs.Deliver, jobs.Index} {
		rows, err := g.store.List(t.Context(), jobs.Filter{Kind: kind})
		require.NoError(t, err)
		assert.Empty(t, rows)
	}
}

func TestPostWithImagesRetried(t *testing.T) {
	t.Parallel()
	g := newGallery(t)
	files := [][]byte{pngOf(t, 8, 8), jpegOf(t, 9, 9)}
	first := g.post(t, "ann", `{"caption":"x"}`, files, "Idempotency-Key: k")
	require.Equal(t, 201, first.status, first.body)
	again := g.post(t, "ann", `{"caption":"x"}`, files, "Idempotency-Key: k")
	require.Equal(t, 200, again.status, again.body)
	assert.JSONEq(t, string(first.Data), string(again.Data))
	assert.Equal(t, 4, g.blobs(t))
	for _, other := range [][][]byte{{files[1], files[0]}, {files[0]}, {pngOf(t, 8, 9), files[1]}} {
		r := g.post(t, "ann", `{"caption":"x"}`, other, "Idempotency-Key: k")
		assert.Equal(t, 40901, r.Code, r.body)
	}
	assert.Equal(t, 4, g.blobs(t), "nothing is left of those that were refused")
}

func TestImagesStoresDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, imagesWhileStoresAreDown)
}

func imagesWhileStoresAreDown(t *testing.T) {
	g := newGallery(t)
	g.images.save = fmt.Errorf("%w: no route", media.ErrUnavailable)
	r := g.post(t, "ann", `{}`, [][]byte{pngOf(t, 8, 8)})
	assert.Equal(t, []any{503, 50301}, []any{r.status, r.Code}, r.body)
	assert.NotEmpty(t, r.header.Get("Retry-After"))
	assert.NotContains(t, r.body, "no route")
	g.leftNothing(t)
	words := g.do(t, "POST", "/v1/posts", `{"caption":"posts go on"}`, as("ann"))
	require.Equal(t, 201, words.status, words.body)
	g.images.save = nil
	p := data[photo](t, g.post(t, "ann", `{}`, [][]byte{pngOf(t, 8, 8)}))
	require.NoError(t, g.folder.Close())
	res, body := g.get(t, "GET", p.Images[0].URL)
	assert.Equal(t, 503, res.StatusCode, string(body))
	assert.Equal(t, "no-store", res.Header.Get("Cache-Control"), "what failed is not kept for a year")
	seen := g.do(t, "GET", "/v1/posts/"+p.ID, "", as("ann"))
	assert.Equal(t, 200, seen.status, "the post goes on")
}

func TestImagesOff(t *testing.T) {
	t.Parallel()
	f, _ := socialFixture(t, nil)
	body, kind := form(t, `{}`, pngOf(t, 8, 8))
	r := f.do(t, "POST", "/v1/posts", body, as("ann"), kind)
	assert.Equal(t, 41501, r.Code, r.body)
	assert.Contains(t, r.Msg, "media.url")
	assert.Equal(t, 404, f.do(t, "GET", social.ImagePath+strings.Repeat("0", 32), "").status)
}

func TestImageUploadLimits(t *testing.T) {
	t.Parallel()
	g := newGallery(t)
	// Clients that stop sending hold their slots.
	slow := func(agent string) {
		r, w := io.Pipe()
		t.Cleanup(func() { assert.NoError(t, w.Close()) })
		req := httptest.NewRequest("POST", "/v1/posts", r)
		req.Header.Set("X-Agent-Id", agent)
		req.Header.Set("Content-Type", "multipart/form-data; boundary=x")
		go g.handler.ServeHTTP(httptest.NewRecorder(), req)
		_, err := w.Write([]byte("--x\r\nContent-Disposition: form-data; name=image\r\n\r\n\x89")) // returns when the server has read it
		require.NoError(t, err)
	}
	small := [][]byte{pngOf(t, 8, 8)}
	for range agentUploads {
		slow("slow")
	}
	again := g.post(t, "slow", `{}`, small)
	assert.Equal(t, []any{429, 42901}, []any{again.status, again.Code}, again.body)
	assert.NotEmpty(t, again.header.Get("Retry-After"))
	other := g.post(t, "ann", `{}`, small)
	assert.Equal(t, 201, other.status, "one agent does not keep others from posting: %s", other.body)
	for i := range imageUploads - agentUploads {
		slow(fmt.Sprint("slow", i))
	}
	r := g.post(t, "ann", `{}`, small)
	assert.Equal(t, []any{503, 50301}, []any{r.status, r.Code}, r.body)
	assert.NotEmpty(t, r.header.Get("Retry-After"))
	words := g.do(t, "POST", "/v1/posts", `{"caption":"not these"}`, as("ann"))
	assert.Equal(t, 201, words.status, words.body)
}

func TestImageUploadsShareMemory(t *testing.T) {
	t.Parallel()
	u := newImageUploading()
	large, err := u.enter("a")
	require.NoError(t, err)
	small, err := u.enter("b")
	require.NoError(t, err)
	require.NoError(t, small.hold(10))
	require.NoError(t, large.hold(uploadMemory-20))
	require.ErrorIs(t, small.hold(11), feed.ErrBusy)
	require.NoError(t, small.hold(10))
	require.NoError(t, small.hold(-20))
	large.leave()
	require.NoError(t, small.hold(uploadMemory))
	small.leave()
	require.Empty(t, u.agents, "nothing is kept of agents")
	require.NoError(t, u.memory.enter(uploadMemory))
	require.NoError(t, u.all.enter(imageUploads))
}
