package handler

import (
	"bytes"
	"context"
	"errors"
	"image"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/media"
)

// avatar uploads an avatar as an agent.
func (g *gallery) avatar(t testing.TB, agent string, file []byte, headers ...string) reply {
	t.Helper()
	body, kind := form(t, "", file)
	return g.do(t, "PUT", "/v1/authors/"+agent+"/image", body, append(slices.Clone(headers), kind)...)
}

// settle removes the files that jobs remove.
func (g *gallery) settle(t testing.TB) {
	t.Helper()
	list, err := g.store.Lease(t.Context(), 100, time.Minute)
	require.NoError(t, err)
	for _, j := range list {
		require.NoError(t, g.images.Release(t.Context(), j.Key))
	}
}

func TestAvatar(t *testing.T) {
	t.Parallel()
	g := newGallery(t)
	require.Equal(t, 200, g.do(t, "PUT", "/v1/authors/ann", `{"name":"Ann","bio":"Rain"}`, as("ann")).status)
	r := g.avatar(t, "ann", jpegOf(t, 640, 480), as("ann"))
	require.Equal(t, 200, r.status, r.body)
	card := data[social.Author](t, r)
	require.Equal(t, []string{"ann", "Ann", "Rain"}, []string{card.ID, card.Name, card.Bio})
	require.Equal(t, 1, g.blobs(t), "only in the size that is shown")
	first := card.ImageURL
	for _, headers := range [][]string{nil, {as("ann")}, {as("stranger")}, {asAdmin}} {
		res, body := g.get(t, "GET", first, headers...)
		require.Equal(t, 200, res.StatusCode)
		assert.Equal(t, "public, max-age=31536000, immutable", res.Header.Get("Cache-Control"))
		config, _, err := image.DecodeConfig(bytes.NewReader(body))
		require.NoError(t, err)
		assert.Equal(t, []int{320, 240}, []int{config.Width, config.Height})
	}
	p := data[photo](t, g.post(t, "ann", `{"caption":"Two"}`, nil))
	for _, where := range []string{"/v1/authors/ann", "/v1/posts/" + p.ID, "/v1/timeline"} {
		assert.Contains(t, g.do(t, "GET", where, "", as("ann")).body, `"image_url":"`+first+`"`, where)
	}
	assert.Contains(t, g.do(t, "POST", "/v1/authors/cards", `{"authors":["ann"]}`, as("bob")).body, first)

	require.Equal(t, 200, g.do(t, "PATCH", "/v1/authors/ann", `{"image_url":"https://api.example.com`+first+`","name":"A."}`, as("ann")).status)
	g.settle(t)
	require.Equal(t, 1, g.blobs(t), "the same image by its complete address")
	second := data[social.Author](t, g.avatar(t, "ann", pngOf(t, 30, 40), asAdmin)).ImageURL
	g.settle(t)
	require.Equal(t, 1, g.blobs(t))
	res, _ := g.get(t, "GET", first, as("ann"))
	assert.Equal(t, 404, res.StatusCode)
	res, _ = g.get(t, "GET", second)
	assert.Equal(t, 200, res.StatusCode)
	require.Equal(t, 200, g.do(t, "PATCH", "/v1/authors/ann", `{"image_url":null}`, as("ann")).status)
	res, _ = g.get(t, "GET", second)
	assert.Equal(t, 404, res.StatusCode, "at once")
	g.settle(t)
	require.Zero(t, g.blobs(t))
}

// TestAvatarOfOthers: an address in a card gives no right to a file, and takes none away.
func TestAvatarOfOthers(t *testing.T) {
	t.Parallel()
	g := newGallery(t)
	private := data[photo](t, g.post(t, "ann", `{"audience":{}}`, [][]byte{pngOf(t, 8, 8)})).Images[0].Thumbnail
	ours := data[social.Author](t, g.avatar(t, "ann", pngOf(t, 8, 8), as("ann"))).ImageURL
	for _, url := range []string{private, ours, social.ImagePath + strings.Repeat("0", 32)} {
		for _, agent := range []string{"ann", "eve"} {
			if agent == "ann" && url == ours {
				continue
			}
			require.Equal(t, 200, g.do(t, "PATCH", "/v1/authors/"+agent, `{"image_url":"`+url+`"}`, as(agent)).status)
			res, _ := g.get(t, "GET", private)
			assert.Equal(t, 404, res.StatusCode, "it stays private")
			require.Equal(t, 200, g.do(t, "PATCH", "/v1/authors/"+agent, `{"image_url":null}`, as(agent)).status)
			if agent == "ann" {
				ours = data[social.Author](t, g.avatar(t, "ann", pngOf(t, 8, 8), as("ann"))).ImageURL
			}
		}
	}
	g.settle(t)
	res, _ := g.get(t, "GET", private, as("ann"))
	assert.Equal(t, 200, res.StatusCode, "it is still there")
	res, _ = g.get(t, "GET", ours)
	assert.Equal(t, 200, res.StatusCode)
	require.Equal(t, 3, g.blobs(t))
	assert.Equal(t, 403, g.avatar(t, "ann", pngOf(t, 8, 8), as("eve")).status)
}

func TestInvalidAvatar(t *testing.T) {
	t.Parallel()
	g := newGallery(t)
	for name, c := range map[string]struct {
		file         []byte
		status, code int
	}{
		"SVG":        {[]byte("<svg/>"), 415, 41501},
		"a polyglot": {append(jpegOf(t, 8, 8), "PK\x03\x04"...), 415, 41501},
		"truncated":  {jpegOf(t, 64, 64)[:300], 422, 42201},
		"over 5 MB":  {append(jpegOf(t, 8, 8), make([]byte, media.MaxBytes)...), 413, 41301},
		"nothing":    {nil, 415, 41501},
	} {
		r := g.avatar(t, "ann", c.file, as("ann"))
		assert.Equal(t, []int{c.status, c.code}, []int{r.status, r.Code}, "%s: %s", name, r.body)
	}
	const to = "/v1/authors/ann/image"
	good := pngOf(t, 8, 8)
	body, kind := form(t, "", good)
	two, twoKind := form(t, "", good, good)
	post, postKind := form(t, "{}", good)
	none, noneKind := form(t, "")
	for text, r := range map[string]reply{
		"multipart/form-data":            g.do(t, "PUT", to, `{"image":"x"}`, as("ann")),
		"no more than 1":                 g.do(t, "PUT", to, two, as("ann"), twoKind),
		"send only the field image":      g.do(t, "PUT", to, post, as("ann"), postKind),
		"has no field image":             g.do(t, "PUT", to, none, as("ann"), noneKind),
		"for itself":                     g.do(t, "PUT", to, body, as("eve"), kind),
		"X-Agent-ID":                     g.do(t, "PUT", to, body, kind),
		"reserved":                       g.do(t, "PUT", "/v1/authors/@server/image", body, asAdmin, kind),
		"size":                           g.do(t, "PUT", to+"?size=8", body, as("ann"), kind),
		"the form cannot be read":        g.do(t, "PUT", to, body, as("ann"), "Content-Type: multipart/form-data"),
		"does not support Content-Encod": g.do(t, "PUT", to, body, as("ann"), kind, "Content-Encoding: gzip"),
		"the body":                       g.do(t, "PUT", to, strings.Replace(body, "\r\n", strings.Repeat(" ", MaxAvatarBody)+"\r\n", 1), as("ann"), kind),
	} {
		assert.NotEqual(t, 200, r.status, text)
		assert.Less(t, r.status, 500, r.body)
		assert.Contains(t, r.body, text)
	}
	g.leftNothing(t)
	g.fixture, _ = socialFixture(t, nil)
	r := g.avatar(t, "ann", good, as("ann"))
	assert.Equal(t, 41501, r.Code)
	assert.Contains(t, r.body, "media.url is not set")
}

// refusingCards is a store that fails to save avatars.
type refusingCards struct {
	social.Store
	err error
}

func (r *refusingCards) PutAvatar(context.Context, string, string) (social.Author, error) {
	return social.Author{}, r.err
}

// TestAvatarNotSaved: an upload whose card is not saved leaves no file.
func TestAvatarNotSaved(t *testing.T) {
	t.Parallel()
	g := newGallery(t)
	refusing := &refusingCards{err: errors.Join(feed.ErrForbidden)}
	g.fixture, g.store = socialFixture(t, func(_ *Config, d *Deps) {
		refusing.Store = d.Social.Store
		g.images = &brokenImages{Processor: media.NewProcessor(media.Config{}), Files: media.NewFiles(g.folder, d.Social.Store, time.Minute)}
		d.Social.Store, d.Social.Images = refusing, g.images
	})
	r := g.avatar(t, "ann", pngOf(t, 8, 8), as("ann"))
	require.Equal(t, http.StatusForbidden, r.status, r.body)
	g.leftNothing(t)
}
