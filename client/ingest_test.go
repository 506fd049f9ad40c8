package client_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
)

// itemServer is a fake server: it decompresses requests, stores the lines and rejects those that
// contain "bad".
type itemServer struct {
	mu       sync.Mutex
	requests [][]string // the lines of each request
	failures int        // number of requests to answer with 503 before the next success
}

func (s *itemServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Method+" "+r.URL.Path != "POST /v1/items" || r.Header.Get("Content-Encoding") != "gzip" {
		answer(w, 400, `{"code":40001,"msg":"not an upload"}`)
		return
	}
	zr, err := gzip.NewReader(r.Body)
	if err != nil {
		answer(w, 400, `{"code":40001,"msg":"not gzip"}`)
		return
	}
	body, err := io.ReadAll(zr)
	if err != nil {
		answer(w, 400, `{"code":40001,"msg":"broken gzip"}`)
		return
	}
	if s.failures > 0 {
		s.failures--
		answer(w, 503, `{"code":50301,"msg":"down"}`)
		return
	}
	lines := strings.Split(strings.TrimSuffix(string(body), "\n"), "\n")
	s.requests = append(s.requests, lines)
	rejected := []client.Rejection{}
	for i, line := range lines {
		if strings.Contains(line, "bad") {
			rejected = append(rejected, client.Rejection{Line: i + 1, ID: "x", Reason: "it is bad"})
		}
	}
	report, _ := json.Marshal(map[string]any{"accepted": len(lines) - len(rejected), "rejected": len(rejected), "errors": rejected})
	answer(w, 200, fmt.Sprintf(`{"code":0,"msg":"success","data":%s}`, report))
}

func ingest(t *testing.T, s *itemServer, r io.Reader) (client.Summary, []client.Rejection, error) {
	t.Helper()
	var sum client.Summary
	var rejected []client.Rejection
	var err error
	synctest.Test(t, func(t *testing.T) { // on a busy machine lines may take the second after which they are sent
		c := connect(t, "http://server", client.WithHTTPClient(inProcess(s.ServeHTTP)), client.WithRetries(5, time.Microsecond))
		sum, err = c.Ingest(context.Background(), r, func(x client.Rejection) { rejected = append(rejected, x) })
	})
	return sum, rejected, err
}

func item(n int) string { return fmt.Sprintf(`{"id":"i%d","title":"t","update_time":1}`, n) }

func zipped(s string) []byte {
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	_, _ = io.WriteString(zw, s)
	_ = zw.Close()
	return b.Bytes()
}

func TestIngestSplitsByLines(t *testing.T) {
	t.Parallel()
	var file strings.Builder
	for i := range 2_001 {
		file.WriteString(item(i) + "\n")
	}
	s := &itemServer{}
	sum, rejected, err := ingest(t, s, strings.NewReader(file.String()))
	require.NoError(t, err)
	assert.Empty(t, rejected)
	assert.Equal(t, client.Summary{Accepted: 2_001, Requests: 3}, sum)
	var all []string
	for i, lines := range s.requests {
		assert.LessOrEqual(t, len(lines), 1_000, "request %d", i)
		all = append(all, lines...)
	}
	assert.Equal(t, file.String(), strings.Join(all, "\n")+"\n", "every line once, in order")
}

func TestIngestSplitsByBytes(t *testing.T) {
	t.Parallel()
	line := `{"id":"i","title":"` + strings.Repeat("x", 200_000) + `"}`
	s := &itemServer{}
	sum, _, err := ingest(t, s, strings.NewReader(strings.Repeat(line+"\n", 100)))
	require.NoError(t, err)
	assert.Equal(t, 100, sum.Accepted)
	assert.Equal(t, 3, sum.Requests, "20 MB need three requests of 8 MiB")
	for _, lines := range s.requests {
		assert.LessOrEqual(t, len(strings.Join(lines, "\n"))+1, 8<<20)
	}
}

func TestIngestLineNumbers(t *testing.T) {
	t.Parallel()
	var file strings.Builder
	for i := 1; i <= 11_000; i++ {
		switch i {
		case 2, 7_000:
			file.WriteString("\r\n") // empty
		case 3:
			file.WriteString("[1]\n")
		case 4:
			file.WriteString(`{"id":"` + strings.Repeat("x", 2<<20) + "\"}\n")
		case 5, 6_000, 10_999:
			file.WriteString(`{"id":"bad"}` + "\n")
		default:
			file.WriteString(item(i) + "\r\n")
		}
	}
	s := &itemServer{}
	sum, rejected, err := ingest(t, s, strings.NewReader(file.String()))
	require.NoError(t, err)
	var at []int
	for _, r := range rejected {
		at = append(at, r.Line)
	}
	assert.ElementsMatch(t, []int{3, 4, 5, 6_000, 10_999}, at)
	assert.Equal(t, 5, sum.Rejected)
	assert.Equal(t, 11_000-2-5, sum.Accepted)
	for _, r := range rejected {
		assert.NotEmpty(t, r.Reason)
	}
}

func TestIngestFileFormats(t *testing.T) {
	t.Parallel()
	two := item(1) + "\n" + item(2)
	tests := map[string]struct {
		file     []byte
		accepted int
	}{
		"plain":               {[]byte(two + "\n"), 2},
		"no last line end":    {[]byte(two), 2},
		"gzip":                {zipped(two), 2},
		"gzip files in a row": {append(zipped(item(1)+"\n"), zipped(item(2)+"\n")...), 2},
		"byte order mark":     {[]byte("\xef\xbb\xbf" + two), 2},
		"padded gzip":         {append(zipped(two), make([]byte, 512)...), 2},
		"gzip and a newline":  {append(zipped(two), '\n'), 2},
		"marks of two files":  {[]byte("\xef\xbb\xbf" + item(1) + "\n\xef\xbb\xbf" + item(2)), 2},
		"mark and space":      {[]byte("\xef\xbb\xbf \n" + two), 2},
		"only a mark":         {[]byte("\xef\xbb\xbf"), 0},
		"empty":               {nil, 0},
		"empty gzip":          {zipped(""), 0},
		"one byte":            {[]byte("\n"), 0},
		"spaces":              {[]byte("  \n\n \t\n" + two), 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := &itemServer{}
			// Bytes arrive one at a time, as from a slow pipe.
			sum, rejected, err := ingest(t, s, iotest.OneByteReader(bytes.NewReader(tt.file)))
			require.NoError(t, err)
			assert.Empty(t, rejected)
			assert.Equal(t, tt.accepted, sum.Accepted)
			if tt.accepted == 2 {
				assert.Equal(t, [][]string{{item(1), item(2)}}, s.requests)
			}
		})
	}
}

func TestIngestWrongFileFormat(t *testing.T) {
	t.Parallel()
	wide := func(text string, order binary.AppendByteOrder) (b []byte) {
		for _, unit := range utf16.Encode([]rune(text)) {
			b = order.AppendUint16(b, unit)
		}
		return b
	}
	for name, tt := range map[string]struct{ file, says string }{
		"UTF-16 of Windows":         {string(wide("\ufeff"+item(1), binary.LittleEndian)), "the file is not NDJSON, one object a line: it is UTF-16; send UTF-8 (iconv -f UTF-16"},
		"UTF-16, big end first":     {string(wide("\ufeff"+item(1), binary.BigEndian)), "UTF-16"},
		"UTF-16 without a mark":     {string(wide(item(1), binary.LittleEndian)), "UTF-16"},
		"big end, without a mark":   {string(wide(item(1), binary.BigEndian)), "UTF-16"},
		"UTF-32":                    {"\xff\xfe\x00\x00{\x00\x00\x00", "UTF-32"},
		"UTF-32, big end first":     {"\x00\x00\xfe\xff\x00\x00\x00{", "UTF-32"},
		"UTF-16 packed":             {string(zipped(string(wide("\ufeff"+item(1), binary.LittleEndian)))), "UTF-16"},
		"an array":                  {"[" + item(1) + "]", "write each object on one line, as an object"},
		"an array after blanks":     {"\n \n[\n" + item(1) + "]", `line 3 is "["`},
		"a pretty array":            {"[\n  {\n    \"id\": \"a\"\n  }\n]", "jq -c '.[]'"},
		"a pretty object":           {"{\n  \"id\": \"a\"\n}\n", "line 1 begins an object that continues on the next line"},
		"an object after its brace": {"{ \"id\": \"a\",\r\n  \"title\": \"A\" }", "jq -c ."},
		"CSV":                       {"id,title,likes\na,A,3\n", "it is a table; write each row as a JSON object"},
		"CSV of a spreadsheet":      {"\xef\xbb\xbf\"id\";\"full title\"\r\na;A\r\n", "it is a table"},
		"TSV after blanks":          {"\n\nid\ttitle\na\tA\n", `line 3 is "id\ttitle"; it is a table`},
		"RSS":                       {"<?xml version=\"1.0\"?>\n<rss><channel>\n</channel></rss>\n", "it is XML or HTML, such as an RSS or Atom feed"},
		"ZIP, such as .xlsx":        {"PK\x03\x04\x14\x00\x06\x00\n\n\n", "the file is not NDJSON, one object a line: it is a ZIP archive, as .xlsx is; unpack it"},
		"zstd":                      {"\x28\xb5\x2f\xfd\x24\n\n", "it is zstd; unpack it"},
		"a mark and an object":      {"\xef\xbb\xbf{\n\"id\": \"a\"}", "continues on the next line"},
	} {
		s := &itemServer{}
		sum, rejected, err := ingest(t, s, strings.NewReader(tt.file))
		require.ErrorContains(t, err, tt.says, name)
		assert.Zero(t, sum, name)
		assert.Empty(t, rejected, name)
		assert.Empty(t, s.requests, name)
	}
	s := &itemServer{}
	_, rejected, err := ingest(t, s, strings.NewReader("{\"id\":\"a\n"+item(1)+"\n{\n"+item(2)))
	require.NoError(t, err, "a broken line among whole ones")
	assert.Empty(t, rejected, "the server says what is wrong with it")

	s = &itemServer{}
	_, rejected, err = ingest(t, s, strings.NewReader("hello, world!\n"+item(1)+"\n<item/>\nid,title\n"))
	require.NoError(t, err, "bad lines, but the file is in no other format")
	assert.Len(t, rejected, 3)
	assert.Equal(t, [][]string{{item(1)}}, s.requests)
}

func TestIngestRetriesSameRequest(t *testing.T) {
	t.Parallel()
	s := &itemServer{failures: 4}
	sum, _, err := ingest(t, s, strings.NewReader(item(1)+"\n"+item(2)+"\n"))
	require.NoError(t, err)
	assert.Equal(t, client.Summary{Accepted: 2, Requests: 1}, sum)
	assert.Equal(t, [][]string{{item(1), item(2)}}, s.requests)
}

func TestIngestErrorPosition(t *testing.T) {
	t.Parallel()
	many := strings.Repeat(item(1)+"\n", 6_000)
	broken := zipped(many)
	tests := map[string]struct {
		server *itemServer
		file   io.Reader
		want   string
	}{
		"the server stays down": {&itemServer{failures: 99}, strings.NewReader(many), "upload lines 1 to 1000: the server answered 503"},
		"an array":              {&itemServer{}, strings.NewReader("[" + item(1) + "]"), "one object a line"},
		"a file that ends early": {
			&itemServer{}, bytes.NewReader(broken[:len(broken)-20]), "reading the objects: line",
		},
		"no gzip after all": {&itemServer{}, strings.NewReader("\x1f\x8bxx"), "begins like a gzip file"},
		"a disk that fails": {
			&itemServer{}, io.MultiReader(strings.NewReader(item(1)+"\n"), iotest.ErrReader(errors.New("disk failed"))), "line 2: disk failed",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			sum, _, err := ingest(t, tt.server, tt.file)
			assert.ErrorContains(t, err, tt.want)
			assert.Equal(t, name == "a disk that fails", sum.Accepted == 1, "what was read before is stored")
		})
	}
}

// TestIngestCountsOfLastTry checks that only the counts of the last answer are
// used: earlier ones are for tries of the same lines.
func TestIngestCountsOfLastTry(t *testing.T) {
	t.Parallel()
	const down = `{"code":50301,"msg":"the catalog is unavailable","data":{"accepted":1,"rejected":1,"errors":[{"line":2,"id":"b","reason":"title is missing"}]}}`
	body := item(1) + "\n\n" + item(2) + "\n" + item(3) + "\n"
	for name, tt := range map[string]struct {
		answers  []string
		want     client.Summary
		rejected []client.Rejection
		fails    bool
	}{
		"for good":        {[]string{down, down, down}, client.Summary{Accepted: 1, Rejected: 1}, []client.Rejection{{Line: 3, ID: "b", Reason: "title is missing"}}, true},
		"without data":    {[]string{down, down, `{"code":50301,"msg":"the catalog is unavailable"}`}, client.Summary{}, nil, true},
		"until it passes": {[]string{down, `{"code":0,"data":{"accepted":3,"rejected":0,"errors":[]}}`}, client.Summary{Accepted: 3, Requests: 1}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				status := 200
				if strings.Contains(tt.answers[calls], "50301") {
					status = 503
				}
				answer(w, status, tt.answers[calls])
				calls++
			})
			var rejected []client.Rejection
			c := connect(t, url, client.WithRetries(3, time.Microsecond))
			sum, err := c.Ingest(context.Background(), strings.NewReader(body), func(x client.Rejection) { rejected = append(rejected, x) })
			assert.Equal(t, tt.fails, errors.Is(err, client.ErrUnavailable), "%v", err)
			assert.Equal(t, tt.want, sum)
			assert.Equal(t, tt.rejected, rejected)
		})
	}
}

func TestIngestErrorKeepsStoredCount(t *testing.T) {
	t.Parallel()
	calls := 0
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if calls++; calls == 1 {
			answer(w, 200, `{"code":0,"data":{"accepted":1000,"rejected":0,"errors":[]}}`)
			return
		}
		answer(w, 413, `{"code":41301,"msg":"too large"}`)
	})
	sum, err := connect(t, url).Ingest(context.Background(), strings.NewReader(strings.Repeat(item(1)+"\n", 6_000)), func(client.Rejection) {})
	assert.ErrorContains(t, err, "upload lines 1001 to 2000")
	assert.Equal(t, client.Summary{Accepted: 1000, Requests: 1}, sum)
}

func TestIngestInconsistentReport(t *testing.T) {
	t.Parallel()
	for _, report := range []string{
		`{"accepted":1,"rejected":0}`,
		`{"accepted":1,"rejected":1,"errors":[{"line":3,"reason":"x"}]}`,
		`"fine"`,
	} {
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) { answer(w, 200, `{"code":0,"data":`+report+`}`) })
		_, err := connect(t, url).Ingest(context.Background(), strings.NewReader(item(1)+"\n"+item(2)), func(client.Rejection) {})
		assert.ErrorContains(t, err, "upload lines 1 to 2", report)
	}
}

// TestIngestSlowPipe checks that lines are stored while the pipe is still open, and at a signal.
func TestIngestSlowPipe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &itemServer{}
		r, w := io.Pipe()
		go func() {
			for i := range 4 {
				_, _ = io.WriteString(w, item(i)+"\n")
				time.Sleep(400 * time.Millisecond)
			}
			time.Sleep(2 * time.Second)
			_, _ = io.WriteString(w, item(4)+"\n"+item(5)+"\n"+item(6))
		}()
		ctx, cancel := context.WithCancel(t.Context())
		c := connect(t, "http://server", client.WithHTTPClient(inProcess(s.ServeHTTP)))
		var sum client.Summary
		done := make(chan error)
		go func() {
			var err error
			sum, err = c.Ingest(ctx, r, func(client.Rejection) {})
			done <- err
		}()
		time.Sleep(3 * time.Second)
		synctest.Wait()
		assert.Equal(t, [][]string{{item(0), item(1), item(2)}, {item(3)}}, s.requests, "with what came within a second")
		time.Sleep(time.Second)
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)
		assert.Equal(t, client.Summary{Accepted: 6, Requests: 3}, sum, "but for the line that is not whole")
		_, _ = io.WriteString(w, "\n")
		require.NoError(t, w.Close())
		synctest.Wait()
		assert.Len(t, s.requests, 3, "nothing after the end")
	})
}

// TestIngestReadsWhileSending checks that the lines of the next request are read while one is sent, and
// that no two requests are sent at the same time.
func TestIngestReadsWhileSending(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &itemServer{}
		r, w := io.Pipe()
		written, inProgress := 0, 0
		slow := func(w http.ResponseWriter, r *http.Request) {
			inProgress++
			assert.Equal(t, 1, inProgress)
			synctest.Wait() // the client reads on until it has the next request
			assert.GreaterOrEqual(t, written, min(len(s.requests)*1_000+2_000, 5_000))
			s.ServeHTTP(w, r)
			inProgress--
		}
		go func() {
			for ; written < 5_000; written++ {
				_, _ = io.WriteString(w, item(written)+"\n")
			}
			_ = w.Close()
		}()
		sum, err := connect(t, "http://server", client.WithHTTPClient(inProcess(slow))).Ingest(t.Context(), r, func(client.Rejection) {})
		require.NoError(t, err)
		assert.Equal(t, client.Summary{Accepted: 5_000, Requests: 5}, sum)
	})
}

// TestIngestAnswerDuringSlowPipe checks that an answer is reported when it arrives, and not only when
// the pipe delivers the next lines.
func TestIngestAnswerDuringSlowPipe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		go func() { _, _ = io.WriteString(w, `{"id":"bad"}`+"\n") }()
		c := connect(t, "http://server", client.WithHTTPClient(inProcess((&itemServer{}).ServeHTTP)))
		var rejected []client.Rejection
		done := make(chan error)
		go func() {
			_, err := c.Ingest(t.Context(), r, func(x client.Rejection) { rejected = append(rejected, x) })
			done <- err
		}()
		time.Sleep(3 * time.Second)
		synctest.Wait()
		assert.Equal(t, []client.Rejection{{Line: 1, ID: "x", Reason: "it is bad"}}, rejected)
		require.NoError(t, w.Close())
		require.NoError(t, <-done)

		// A refusal ends the upload, although the pipe stays open.
		r, w = io.Pipe()
		defer func() { _ = w.Close() }()
		go func() { _, _ = io.WriteString(w, item(1)+"\n") }()
		refuses := func(w http.ResponseWriter, _ *http.Request) { answer(w, 403, `{"code":40301,"msg":"no"}`) }
		_, err := connect(t, "http://server", client.WithHTTPClient(inProcess(refuses))).Ingest(t.Context(), r, func(client.Rejection) {})
		require.ErrorContains(t, err, "upload lines 1 to 1")
	})
}

// TestIngestCanceledWaitsForAnswer checks that it waits for a limited time.
func TestIngestCanceledWaitsForAnswer(t *testing.T) {
	t.Parallel()
	for took, want := range map[time.Duration]client.Summary{8 * time.Second: {Accepted: 1, Requests: 1}, time.Hour: {}} {
		t.Run(took.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				slow := roundTrip(func(r *http.Request) (*http.Response, error) {
					select {
					case <-time.After(took):
					case <-r.Context().Done():
						return nil, r.Context().Err()
					}
					w := httptest.NewRecorder()
					answer(w, 200, `{"code":0,"data":{"accepted":1}}`)
					return w.Result(), nil
				})
				r, w := io.Pipe()
				defer func() { _ = w.Close() }()
				go func() { _, _ = io.WriteString(w, item(1)+"\n") }()
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(3*time.Second, cancel)
				begin := time.Now()
				sum, err := connect(t, "http://server", client.WithHTTPClient(&http.Client{Transport: slow})).Ingest(ctx, r, func(client.Rejection) {})
				require.ErrorIs(t, err, context.Canceled)
				assert.Equal(t, want, sum)
				assert.LessOrEqual(t, time.Since(begin), 13*time.Second)
			})
		})
	}
}

func BenchmarkIngest(b *testing.B) {
	line := `{"id":"hn_10176908","title":"A title of about the usual length for a post","url":"http://example.com/a/path","author_id":"somebody","tags":["example.com"],"update_time":1441533360,"likes":10,"comments":2}` + "\n"
	s := &countingServer{}
	server := httptest.NewServer(s)
	defer server.Close()
	c, err := client.New(server.URL)
	require.NoError(b, err)
	defer c.Close()
	file := []byte(strings.Repeat(line, 10_000))
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Ingest(context.Background(), bytes.NewReader(file), func(client.Rejection) {}); err != nil {
			b.Fatal(err)
		}
	}
}

// countingServer accepts every line at little cost.
type countingServer struct{}

func (countingServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	zr, err := gzip.NewReader(r.Body)
	if err != nil {
		answer(w, 400, "")
		return
	}
	n := 0
	for buf := make([]byte, 64<<10); err == nil; {
		var got int
		got, err = zr.Read(buf)
		n += bytes.Count(buf[:got], []byte{'\n'})
	}
	answer(w, 200, fmt.Sprintf(`{"code":0,"data":{"accepted":%d,"rejected":0}}`, n))
}

func TestIngestTruncatedGzip(t *testing.T) {
	t.Parallel()
	whole := zipped(strings.Repeat(item(1)+"\n", 5000))
	_, _, err := ingest(t, &itemServer{}, bytes.NewReader(whole[:len(whole)-20]))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.ErrorContains(t, err, "the gzip file ends early")
}
