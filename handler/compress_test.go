package handler

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
)

// served is a real server around a fixture, with a client that does not decompress answers.
type served struct {
	t   *testing.T
	url string
}

func serveCompressed(t *testing.T, docs []feed.Doc) served {
	t.Helper()
	f := newFixture(t, func(_ *Config, d *Deps) {
		d.Rankings = newRankings(t)
	})
	f.feed.answer = func(context.Context, engine.Request) (engine.Answer, error) { return engine.Answer{Docs: docs}, nil }
	srv := httptest.NewServer(f.handler)
	t.Cleanup(srv.Close)
	return served{t, srv.URL}
}

func (s served) call(method, path, body string, headers ...string) (*http.Response, []byte) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	require.NoError(s.t, err)
	r.Header.Set("Accept-Encoding", "identity")
	for _, h := range append([]string{asAgent, asAdmin}, headers...) {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(r)
	require.NoError(s.t, err)
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	require.NoError(s.t, err)
	if length := res.Header.Get("Content-Length"); length != "" && method != http.MethodHead {
		require.Equal(s.t, strconv.Itoa(len(data)), length)
	}
	return res, data
}

func unpack(t *testing.T, encoding string, data []byte) string {
	t.Helper()
	var r io.Reader = bytes.NewReader(data)
	switch encoding {
	case "gzip":
		z, err := gzip.NewReader(r)
		require.NoError(t, err)
		r = z
	case "zstd":
		z, err := zstd.NewReader(r)
		require.NoError(t, err)
		defer z.Close()
		r = z
	default:
		require.Empty(t, encoding)
	}
	plain, err := io.ReadAll(r)
	require.NoError(t, err)
	return string(plain)
}

const refreshBody = `{"action":"refresh"}`

func TestCompressedAnswers(t *testing.T) {
	t.Parallel()
	long, short := serveCompressed(t, benchDocs()), serveCompressed(t, nil)
	for _, tt := range []struct {
		name               string
		server             served
		method, path, body string
		accept, want       string
	}{
		{"gzip", long, "POST", "/v1/feed", refreshBody, "gzip", "gzip"},
		{"zstd", long, "POST", "/v1/feed", refreshBody, "zstd", "zstd"},
		{"what browsers send", long, "POST", "/v1/feed", refreshBody, "gzip, deflate, br, zstd", "zstd"},
		{"preference", long, "POST", "/v1/feed", refreshBody, "zstd;q=0.5, gzip", "gzip"},
		{"refused", long, "POST", "/v1/feed", refreshBody, "gzip;q=0, br", ""},
		{"unknown", long, "POST", "/v1/feed", refreshBody, "br", ""},
		{"as it is", long, "POST", "/v1/feed", refreshBody, "identity", ""},
		{"below 1 KiB", short, "POST", "/v1/feed", refreshBody, "gzip", ""},
		{"a short refusal", long, "POST", "/v1/feed", "{}", "gzip", ""},

		{"a page", short, "GET", "/", "", "gzip", "gzip"},
		{"an asset", long, "GET", "/assets/feed/feed.js", "", "gzip, deflate, br, zstd", "zstd"},
		{"the description", long, "GET", "/openapi.json", "", "gzip", "gzip"},
		{"the description, zstd only", long, "GET", "/openapi.json", "", "zstd", "zstd"},
		{"the description as it is", long, "GET", "/openapi.json", "", "identity", ""},
		{"metrics, once", long, "GET", "/metrics", "", "gzip", "gzip"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			res, data := tt.server.call(tt.method, tt.path, tt.body, "Accept-Encoding: "+tt.accept)
			assert.Equal(t, tt.want, res.Header.Get("Content-Encoding"))
			plain := unpack(t, tt.want, data)
			if !strings.Contains(tt.path, "metrics") {
				_, same := tt.server.call(tt.method, tt.path, tt.body)
				assert.Equal(t, string(same), plain, "it unpacks to what others get")
			}
			if tt.want != "" {
				assert.Less(t, len(data), len(plain)/2)
			}
			if !strings.Contains(tt.path, "metrics") {
				assert.True(t, varies(res.Header, "Accept-Encoding"))
			}
		})
	}
}

func TestCompressedAnswerETags(t *testing.T) {
	t.Parallel()
	s := serveCompressed(t, nil)
	experiments := make([]string, 20)
	for i := range experiments {
		experiments[i] = `{"name":"x` + strconv.Itoa(i) + `","share":0.01}`
	}
	res, data := s.call("PUT", "/v1/ranking", `{"experiments":[`+strings.Join(experiments, ",")+`]}`)
	require.Equal(t, 200, res.StatusCode, string(data))
	for _, path := range []string{"/v1/ranking", "/openapi.json", "/", "/assets/console/ranking/ranking.js"} {
		tags := map[string]bool{}
		for _, accept := range []string{"identity", "gzip", "zstd"} {
			res, _ := s.call("GET", path, "", "Accept-Encoding: "+accept)
			require.Equal(t, 200, res.StatusCode)
			tag := res.Header.Get("ETag")
			tags[tag] = true
			require.Regexp(t, `^"[0-9a-z-]+"$`, tag, "a strong one")
			for _, have := range []string{tag, "W/" + tag, `"other", ` + tag, "*"} {
				again, body := s.call("GET", path, "", "Accept-Encoding: "+accept, "If-None-Match: "+have)
				assert.Equal(t, 304, again.StatusCode, "%s %s %s", path, accept, have)
				assert.Empty(t, body)
				assert.Empty(t, again.Header.Get("Content-Encoding"))
				if have != "*" {
					assert.Equal(t, tag, again.Header.Get("ETag"), "the tag of what the client has")
				}
			}
			if path == "/v1/ranking" {
				put, answer := s.call("PUT", path, `{"experiments":[`+strings.Join(experiments, ",")+`]}`, "If-Match: "+tag)
				assert.Equal(t, 200, put.StatusCode, string(answer))
				late, _ := s.call("PUT", path, `{"experiments":[]}`, "If-Match: "+tag)
				assert.Equal(t, 412, late.StatusCode)
			}
		}
		if path != "/v1/ranking" { // the version of its answer changed in between
			assert.GreaterOrEqual(t, len(tags), 2, "encodings have tags of their own: %v", tags)
		}
		head, _ := s.call("HEAD", strings.Replace(path, "/v1/ranking", "/livez", 1), "", "Accept-Encoding: gzip")
		assert.Equal(t, 200, head.StatusCode)
		assert.NotEmpty(t, head.Header.Get("Content-Length"))
	}
}

func TestCompressedAnswerEmpty(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *Config, _ *Deps) { c.CORS = CORS{Origins: []string{app}} })
	res := f.ask("OPTIONS", "/v1/feed", app, "Access-Control-Request-Method: POST", "Accept-Encoding: gzip")
	require.Equal(t, http.StatusNoContent, res.StatusCode)
	require.Empty(t, res.Header.Get("Content-Encoding"))
	require.True(t, varies(res.Header, "Origin") && varies(res.Header, "Accept-Encoding"))
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Empty(t, body)
}

// TestAcceptEncoding checks Accept-Encoding by RFC 9110: a coding may have a weight, and 0 refuses
// it.
func TestAcceptEncoding(t *testing.T) {
	t.Parallel()
	s := serveCompressed(t, nil)
	for accept, want := range map[string]string{
		"gzip": "gzip", "GZIP": "gzip", "gzip;q=0.5, zstd;q=1": "zstd", "br, gzip; q=0.001": "gzip", "identity;q=1,gzip;q=1.0": "gzip",
		"gzip;q=0": "", "gzip; q=0.000, identity": "", "br": "", "x-gzipped": "", "gzip;q=much": "",
	} {
		res, _ := s.call("GET", "/openapi.json", "", "Accept-Encoding: "+accept)
		assert.Equal(t, want, res.Header.Get("Content-Encoding"), accept)
	}
	for _, path := range []string{"/docs", "/metrics"} {
		res, _ := s.call("GET", path, "")
		assert.Equal(t, 200, res.StatusCode, path)
		assert.Equal(t, "nosniff", res.Header.Get("X-Content-Type-Options"), path)
	}
}
