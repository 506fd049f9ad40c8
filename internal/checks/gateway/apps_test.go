package gateway

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/png"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/media"
)

// form returns a post with n images, each close to the maximal size.
func form(t *testing.T, n int) (kind string, body []byte) {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 1320, 1320))
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(img.Pix)
	for i := 3; i < len(img.Pix); i += 4 {
		img.Pix[i] = 255
	}
	var file, b bytes.Buffer
	require.NoError(t, (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&file, img))
	require.LessOrEqual(t, file.Len(), media.MaxBytes)
	require.Greater(t, file.Len(), media.MaxBytes-32<<10)
	m := multipart.NewWriter(&b)
	require.NoError(t, m.WriteField("post", `{"caption":"Noise"}`))
	for range n {
		part, err := m.CreateFormFile("image", "noise.png")
		require.NoError(t, err)
		_, err = part.Write(file.Bytes())
		require.NoError(t, err)
	}
	require.NoError(t, m.Close())
	return m.FormDataContentType(), b.Bytes()
}

// TestGatewayUploads sends images through the gateway: one of almost the maximal size, which
// guests can then see, and more than the server accepts, which the server itself refuses.
func TestGatewayUploads(t *testing.T) {
	t.Parallel()
	w := open(t, configs.ModeHeader)
	kind, body := form(t, 1)
	send := func() answer {
		return w.send("POST", "/v1/posts", with(with(guises(), w.login("u_evil")), http.Header{"Content-Type": {kind}}), body)
	}
	got := send()
	require.Equal(t, http.StatusCreated, got.status, "%s", got.body)
	isAgent(t, got.one(t, "an upload"), "u_evil", "an upload")
	var in struct {
		Data struct {
			Author struct{ ID string }
			Images []struct{ URL string }
		}
	}
	require.NoError(t, json.Unmarshal(got.body, &in))
	require.Len(t, in.Data.Images, 1, "%s", got.body)
	assert.Equal(t, "u_evil", in.Data.Author.ID)
	seen := w.send("GET", in.Data.Images[0].URL, nil, nil)
	assert.Equal(t, http.StatusOK, seen.status)
	assert.True(t, strings.HasPrefix(seen.header.Get("Content-Type"), "image/"))

	kind, body = form(t, social.MaxImages+1)
	got = send()
	assert.Equal(t, http.StatusUnprocessableEntity, got.status, "%s", got.body)
	assert.Contains(t, string(got.body), "no more than 10")
}

// TestGatewayStreams waits for an event, and for the heartbeat, which takes longer than the
// timeout of other answers.
func TestGatewayStreams(t *testing.T) {
	t.Parallel()
	w := open(t, configs.ModeHeader)
	w.direct("u_evil", "PUT", "/v1/agents/u_evil/following/u_friend", "")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	resp := w.begin(ctx, "GET", "/v1/stream", with(guises(), w.login("u_evil")), nil)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	lines := bufio.NewScanner(resp.Body)
	until := func(what string) {
		t.Helper()
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), what) {
				return
			}
		}
		t.Fatalf("the stream ended before %q: %v", what, lines.Err())
	}
	until("id:")
	w.direct("u_friend", "POST", "/v1/posts", `{"caption":"Told at once"}`)
	until(`data: {"count":1}`)
	until(":")
}

// TestGatewayPreflights checks that the server answers preflights without a login and without a
// call of the session service.
func TestGatewayPreflights(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{configs.ModeHeader, configs.ModeJWT} {
		w := open(t, mode)
		for _, r := range w.routes(w.fixture()) {
			if r.who == inside {
				continue
			}
			got := w.send("OPTIONS", r.path, http.Header{
				"Origin": {listed}, "Access-Control-Request-Method": {r.method}, "Access-Control-Request-Headers": {"content-type"},
			}, nil)
			assert.Equal(t, http.StatusNoContent, got.status, "%s %s: %s", r.method, r.path, got.body)
			assert.Equal(t, listed, got.header.Get("Access-Control-Allow-Origin"), r.path)
			assert.Zero(t, got.asked, r.path)
			isAgent(t, got.one(t, r.path), "", r.path)
		}
	}
}

// TestCrossSiteForms sends forms that another site submits in the browser of a signed-in reader.
func TestCrossSiteForms(t *testing.T) {
	t.Parallel()
	w := open(t, configs.ModeHeader)
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	require.NoError(t, m.WriteField("post", `{"caption":"Not mine"}`))
	require.NoError(t, m.Close())
	for _, tt := range []struct {
		name, origin, site string
		status             int
	}{
		{"another site", "https://evil.example", "cross-site", http.StatusForbidden},
		{"another site, old browser", "https://evil.example", "", http.StatusForbidden},
		{"another port, old browser", "https://feed.example.com", "", http.StatusForbidden},
		{"a sandboxed page", "null", "", http.StatusForbidden},
		{"a listed site", listed, "cross-site", http.StatusCreated},
		{"a page behind the gateway", site, "same-origin", http.StatusCreated},
		{"the same, old browser", site, "", http.StatusCreated},
	} {
		header := with(w.login("u_evil"), http.Header{"Content-Type": {m.FormDataContentType()}, "Origin": {tt.origin}})
		if tt.site != "" {
			header.Set("Sec-Fetch-Site", tt.site)
		}
		got := w.send("POST", "/v1/posts", header, b.Bytes())
		assert.Equal(t, tt.status, got.status, "%s: %s", tt.name, got.body)
	}
}

// TestGatewayCompressesOnce checks that an answer is compressed once for a client that accepts
// gzip.
func TestGatewayCompressesOnce(t *testing.T) {
	t.Parallel()
	w := open(t, configs.ModeHeader)
	victims := w.fixture()
	got := w.send("GET", "/v1/posts/"+victims["posts/{id}"], http.Header{"Accept-Encoding": {"gzip"}}, nil)
	assert.Equal(t, http.StatusOK, got.status)
	assert.Equal(t, []string{"gzip"}, got.header["Content-Encoding"])
	assert.True(t, slices.Contains(got.header.Values("Vary"), "Accept-Encoding"))
}
