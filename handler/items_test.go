package handler

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/internal/testenv"
)

const line = `{"id":"a","title":"A","update_time":1}` + "\n"

func gzipped(t testing.TB, parts ...[]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	require.NoError(t, err)
	for _, p := range parts {
		_, err := w.Write(p)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func upload(t *testing.T, url string, body io.Reader, headers ...string) reply {
	t.Helper()
	r, err := http.NewRequest("POST", url+"/v1/items", body)
	require.NoError(t, err)
	r.Header.Set("X-Admin-Token", adminToken)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	return decodeReply(t, res)
}

func reportOf(t *testing.T, r reply) (report api.Upload) {
	t.Helper()
	require.NoError(t, json.Unmarshal(r.Data, &report), r.body)
	return report
}

func TestUploadItems(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(newFixture(t, nil).handler)
	defer srv.Close()
	lines := []byte(strings.Repeat(line, 1000))
	packed := gzipped(t, lines)
	damaged := bytes.Clone(gzipped(t, lines))
	damaged[len(damaged)-6] ^= 0xff // of the checksum
	for _, tt := range []struct {
		name, encoding string
		body           []byte
		code           int
		accepted       int
	}{
		{"plain", "", lines, 0, 1000},
		{"identity", "identity", lines, 0, 1000},
		{"gzip", "gzip", packed, 0, 1000},
		{"GZIP", "GZIP", packed, 0, 1000},
		{"two gzip members", "gzip", append(bytes.Clone(packed), packed...), 0, 2000},
		{"nothing", "", nil, 40001, 0},
		{"nothing, packed", "gzip", gzipped(t, nil), 40001, 0},
		{"an empty list", "", []byte("[]"), 0, 0},
		{"a byte order mark", "", append([]byte("\ufeff"), lines...), 0, 1000},
		{"checksum", "gzip", damaged, 40001, 1000},
		{"gzip and a newline", "gzip", append(bytes.Clone(packed), '\n'), 0, 1000},
		{"padded gzip", "gzip", append(bytes.Clone(packed), make([]byte, 512)...), 0, 1000},
		{"rubbish after gzip", "gzip", append(bytes.Clone(packed), "rubbish, more than ten bytes"...), 40001, 1000},
		{"not gzip", "gzip", lines, 40001, 0},
		{"empty gzip", "gzip", nil, 40001, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var headers []string
			if tt.encoding != "" {
				headers = append(headers, "Content-Encoding: "+tt.encoding)
			}
			got := upload(t, srv.URL, bytes.NewReader(tt.body), headers...)
			require.Equal(t, tt.code, got.Code, got.body)
			require.Equal(t, tt.accepted, reportOf(t, got).Accepted)
			require.Contains(t, got.body, `"errors":[]`)
		})
	}
	var report api.Upload
	got := upload(t, srv.URL, strings.NewReader(strings.Repeat(line, 10)))
	require.NoError(t, json.Unmarshal(got.Data, &report))
	require.Equal(t, api.Upload{Accepted: 10, Replaced: 9, Errors: []api.Rejection{}}, report)
	for _, encoding := range []string{"br", "deflate", "gzip, gzip", "zstd"} {
		got := upload(t, srv.URL, bytes.NewReader(lines), "Content-Encoding: "+encoding)
		require.Equal(t, 400, got.status)
		require.Equal(t, 40001, got.Code)
		require.Contains(t, got.Msg, encoding)
	}
}

func TestUploadTruncatedGzip(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(newFixture(t, nil).handler)
	defer srv.Close()
	// Random text compresses badly, so half of the compressed body contains lines.
	var lines bytes.Buffer
	for range 5000 {
		fmt.Fprintf(&lines, "{\"id\":%q,\"title\":\"A\",\"update_time\":1}\n", rand.Text())
	}
	packed := gzipped(t, lines.Bytes())
	got := upload(t, srv.URL, bytes.NewReader(packed[:len(packed)/2]), "Content-Encoding: gzip")
	require.Equal(t, 400, got.status)
	require.Equal(t, 40001, got.Code)
	require.Contains(t, got.Msg, "truncated")
	require.Positive(t, reportOf(t, got).Accepted)
}

func TestUploadGzipBomb(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	var read int64
	f := newFixture(t, func(_ *Config, d *Deps) {
		d.Ingest = intakeFunc(func(_ context.Context, r io.Reader) (report api.Upload, err error) {
			// The limit must be reported even if the intake hides the read error.
			read, err = io.Copy(io.Discard, r)
			if err != nil {
				err = feed.Errorf(feed.ErrInvalid, "the body is neither NDJSON nor a JSON array of items: could not read on")
			}
			return api.Upload{Accepted: 7}, err
		})
	})
	srv := httptest.NewServer(f.handler)
	defer srv.Close()
	mib := make([]byte, 1<<20)
	bomb := func(n, more int) []byte {
		parts := make([][]byte, n, n+1)
		for i := range parts {
			parts[i] = mib
		}
		return gzipped(t, append(parts, mib[:more])...)
	}
	got := upload(t, srv.URL, bytes.NewReader(bomb(64, 1)), "Content-Encoding: gzip")
	require.Equal(t, 413, got.status)
	require.Equal(t, 41301, got.Code)
	require.Contains(t, got.Msg, "decompressed")
	require.Equal(t, 7, reportOf(t, got).Accepted)
	require.EqualValues(t, MaxItemsBody, read)

	got = upload(t, srv.URL, bytes.NewReader(bomb(64, 0)), "Content-Encoding: gzip")
	require.Equal(t, 0, got.Code, got.body)
	require.EqualValues(t, MaxItemsBody, read)
}

func TestUploadOversizedBody(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	f := newFixture(t, nil)
	t.Run("announced", func(t *testing.T) {
		r := httptest.NewRequest("POST", "/v1/items", strings.NewReader(""))
		r.Header.Set("X-Admin-Token", adminToken)
		r.ContentLength = MaxItemsBody + 1
		require.Equal(t, 41301, f.serve(t, r).Code)
	})
	t.Run("not announced", func(t *testing.T) {
		block := bytes.Repeat([]byte(strings.Repeat("x", 1023)+"\n"), 1<<10)
		var readers []io.Reader
		for range 64 {
			readers = append(readers, bytes.NewReader(block))
		}
		r := httptest.NewRequest("POST", "/v1/items", io.MultiReader(append(readers, strings.NewReader("y\n"))...))
		r.Header.Set("X-Admin-Token", adminToken)
		require.EqualValues(t, -1, r.ContentLength)
		got := f.serve(t, r)
		require.Equal(t, 41301, got.Code)
		require.Equal(t, 64<<10, reportOf(t, got).Rejected)
	})
}

func TestUploadRejectedLines(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(_ *Config, d *Deps) {
		d.Ingest = intakeFunc(func(context.Context, io.Reader) (api.Upload, error) {
			return api.Upload{Accepted: 1, Rejected: 1, Errors: []api.Rejection{{Line: 2, ID: "b", Reason: "title is missing"}}}, nil
		})
	})
	got := f.do(t, "POST", "/v1/items", "x", asAdmin)
	require.Equal(t, 200, got.status)
	require.JSONEq(t, `{"accepted":1,"rejected":1,"errors":[{"line":2,"id":"b","reason":"title is missing"}]}`, string(got.Data))
}

func TestUploadCatalogDown(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		err  error
		code int
	}{
		"unavailable":    {catalog.ErrUnavailable, 50301},
		"not items":      {feed.ErrInvalid, 40001},
		"something else": {io.ErrNoProgress, 50001},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, func(_ *Config, d *Deps) {
				d.Ingest = intakeFunc(func(context.Context, io.Reader) (api.Upload, error) {
					return api.Upload{Accepted: 3}, fmt.Errorf("line 4: %w", tt.err)
				})
			})
			got := f.do(t, "POST", "/v1/items", "x", asAdmin)
			require.Equal(t, tt.code, got.Code)
			require.Equal(t, 3, reportOf(t, got).Accepted)
		})
	}
}

func TestUploadRoundTrip(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	const item = `{"id":"x/1","title":"<T>","update_time":5,"price":1.50}`
	got := f.do(t, "POST", "/v1/items", item+"\n{\"id\":\"x/2\"}\n", asAdmin)
	require.Equal(t, 0, got.Code)
	report := reportOf(t, got)
	require.Equal(t, 1, report.Accepted)
	require.Len(t, report.Errors, 1)
	require.Equal(t, "x/2", report.Errors[0].ID)
	require.JSONEq(t, item, string(f.do(t, "GET", "/v1/items/x/1", "", asAdmin).Data))
}

func TestUploadConcurrencyLimit(t *testing.T) {
	t.Parallel()
	inside, release := make(chan struct{}), make(chan struct{})
	f := newFixture(t, func(c *Config, d *Deps) {
		c.MaxUploads = 1
		d.Ingest = intakeFunc(func(context.Context, io.Reader) (api.Upload, error) {
			inside <- struct{}{}
			<-release
			return api.Upload{}, nil
		})
	})
	first := make(chan reply)
	go func() { first <- f.do(t, "POST", "/v1/items", "x", asAdmin) }()
	<-inside
	require.Equal(t, 50301, f.do(t, "POST", "/v1/items", "x", asAdmin).Code)
	close(release)
	require.Equal(t, 0, (<-first).Code)
}

func uploadHead(length int) string {
	return fmt.Sprintf("POST /v1/items HTTP/1.1\r\nHost: x\r\nX-Admin-Token: %s\r\nContent-Length: %d\r\n\r\n", adminToken, length)
}

// TestUploadBeyondServerTimeouts sends one line per second.
func TestUploadBeyondServerTimeouts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const lines = 4
		p := openPipes(t, &http.Server{Handler: newFixture(t, nil).handler, ReadTimeout: time.Second, WriteTimeout: time.Second})
		conn := p.send(uploadHead(lines * len(line)))
		for range lines {
			time.Sleep(time.Second)
			_, err := io.WriteString(conn, line)
			require.NoError(t, err)
		}
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		got := decodeReply(t, res)
		require.Equal(t, 0, got.Code, got.body)
		require.Equal(t, lines, reportOf(t, got).Accepted)
	})
}

func TestUploadTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const limit = 50 * time.Second
		f := newFixture(t, func(c *Config, _ *Deps) { c.UploadTimeout = limit })
		p := openPipes(t, &http.Server{Handler: f.handler})
		begun := time.Now()
		conn := bufio.NewReader(p.send(uploadHead(1000) + line))
		res, err := http.ReadResponse(conn, nil)
		require.NoError(t, err)
		require.Equal(t, limit+refusedBodyTime, time.Since(begun), "the rest may still come, for a while")
		got := decodeReply(t, res)
		require.Equal(t, 400, got.status)
		require.Contains(t, got.Msg, "did not arrive in time")
		require.Equal(t, 1, reportOf(t, got).Accepted)
		_, err = conn.ReadByte()
		require.ErrorIs(t, err, io.EOF)
	})
}

func TestUploadBodyTruncated(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	srv := httptest.NewServer(f.handler)
	defer srv.Close()
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	_, err = io.WriteString(conn, uploadHead(1000)+line)
	require.NoError(t, err)
	require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	answer, err := io.ReadAll(conn)
	require.NoError(t, err)
	require.Contains(t, string(answer), `"accepted":1`)
	require.NotContains(t, string(answer), "50001")
}

func TestOneItem(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	stored := `{"id":"https://x.org/a:b/c","title":"<T>","n":1.0}`
	f.items["https://x.org/a:b/c"] = stored
	f.items["/a/"] = `{"id":"/a/"}`
	f.items[".."] = `{"id":".."}`
	for _, tt := range []struct {
		path string
		code int
		want string
	}{
		{"/v1/items/https://x.org/a:b/c", 0, stored},
		{"/v1/items/https:%2F%2Fx.org%2Fa:b%2Fc", 0, stored},
		{"/v1/items/https%3A%2F%2Fx.org%2Fa%3Ab/c", 0, stored},
		{"/v1/items//a/", 0, `{"id":"/a/"}`},
		{"/v1/items/%2Fa%2F", 0, `{"id":"/a/"}`},
		{"/v1/items/%2E%2E", 0, `{"id":".."}`},
		{"/v1/items/https:%252F%252Fx.org", 40401, ""},
		{"/v1/items/unknown", 40401, ""},
		{"/v1/items/", 40004, ""},
		{"/v1/items/a%20b", 40004, ""},
		{"/v1/items/" + strings.Repeat("a", 257), 40004, ""},
	} {
		t.Run(tt.path, func(t *testing.T) {
			got := f.do(t, "GET", tt.path, "", asAdmin)
			require.Equal(t, tt.code, got.Code, got.body)
			if tt.code == 0 {
				require.Equal(t, `{"code":0,"msg":"success","data":`+tt.want+`}`, got.body)
			}
		})
	}
	require.Equal(t, 0, f.do(t, "DELETE", "/v1/items/https:%2F%2Fx.org/a:b/c", "", asAdmin).Code)
	require.Equal(t, 40401, f.do(t, "DELETE", "/v1/items/https://x.org/a:b/c", "", asAdmin).Code)
	require.Equal(t, 40401, f.do(t, "GET", "/v1/items/https://x.org/a:b/c", "", asAdmin).Code)
}

func TestUploadNewerItems(t *testing.T) {
	t.Parallel()
	for query, tt := range map[string]struct{ code, kept int }{
		"": {0, 0}, "?if_newer=false": {0, 0}, "?if_newer=true": {0, 2},
		"?if_newer=1": {40001, 0}, "?if_newer=yes": {40001, 0}, "?if_newer=true&if_newer=true": {40001, 0}, "?ifnewer=true": {40001, 0},
	} {
		f := newFixture(t, nil)
		require.Zero(t, f.do(t, "POST", "/v1/items", `[{"id":"a","title":"A","update_time":5},{"id":"https://example.org/?p=1","title":"B","update_time":5}]`, asAdmin).Code)
		got := f.do(t, "POST", "/v1/items"+query, `[{"id":"a","title":"Old","update_time":4},{"id":"https://example.org/?p=1","title":"Same","update_time":5}]`, asAdmin)
		require.Equal(t, tt.code, got.Code, "%q: %s", query, got.body)
		if tt.code == 0 {
			require.Equal(t, tt.kept, reportOf(t, got).Kept, query)
		}
		read := f.do(t, "GET", "/v1/items/https:%2F%2Fexample.org%2F%3Fp=1", "", asAdmin)
		require.Zero(t, read.Code, read.body)
		require.Equal(t, tt.kept > 0 || tt.code != 0, strings.Contains(string(read.Data), `"B"`), query)
	}
}
