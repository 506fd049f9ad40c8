package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
)

// call sends a request unmodified and returns the status, the code and the data of the envelope.
func (p *process) call(t *testing.T, method, path string, header map[string]string, body io.Reader) (status, code int, data map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, p.url+path, body)
	require.NoError(t, err)
	for name, value := range header {
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	var envelope struct {
		Code int            `json:"code"`
		Msg  string         `json:"msg"`
		Data map[string]any `json:"data"`
	}
	require.NoError(t, json.NewDecoder(res.Body).Decode(&envelope))
	require.NotEmpty(t, envelope.Msg)
	return res.StatusCode, envelope.Code, envelope.Data
}

// TestBadInput sends invalid requests to a real server: each gets its documented code, and the
// server keeps running.
func TestBadInput(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	p := start(t, settings(t, "embedded"))
	p.fill(t, 50)
	agent := map[string]string{"X-Agent-ID": "u_1"}
	admin := map[string]string{"Authorization": "Bearer " + adminToken}
	for _, c := range []struct {
		name, method, path string
		header             map[string]string
		body               string
		status, code       int
	}{
		{"malformed JSON", "POST", "/v1/feed", agent, `{"action":`, 400, 40001},
		{"no JSON", "POST", "/v1/feed", agent, `refresh`, 400, 40001},
		{"nothing", "POST", "/v1/feed", agent, ``, 400, 40001},
		{"an unknown field", "POST", "/v1/feed", agent, `{"action":"refresh","cursor":"x"}`, 400, 40001},
		{"a wrong type", "POST", "/v1/feed", agent, `{"action":"refresh","silent":"yes"}`, 400, 40001},
		{"an action that is no text", "POST", "/v1/feed", agent, `{"action":7}`, 400, 40002},
		{"an array", "POST", "/v1/feed", agent, `[]`, 400, 40001},
		{"something after it", "POST", "/v1/feed", agent, `{"action":"refresh"}{}`, 400, 40001},
		{"a bad action", "POST", "/v1/feed", agent, `{"action":"reload"}`, 400, 40002},
		{"no action", "POST", "/v1/feed", agent, `{}`, 400, 40002},
		{"limit 0", "POST", "/v1/feed", agent, `{"action":"refresh","limit":0}`, 400, 40003},
		{"limit 101", "POST", "/v1/feed", agent, `{"action":"refresh","limit":101}`, 400, 40003},
		{"limit -1", "POST", "/v1/feed", agent, `{"action":"refresh","limit":-1}`, 400, 40003},
		{"limit 1e9", "POST", "/v1/feed", agent, `{"action":"refresh","limit":1e9}`, 400, 40003},
		{"a bad agent", "POST", "/v1/feed", map[string]string{"X-Agent-ID": "u:1"}, `{"action":"refresh"}`, 400, 40004},
		{"a long agent", "POST", "/v1/feed", map[string]string{"X-Agent-ID": strings.Repeat("u", 129)}, `{"action":"refresh"}`, 400, 40004},
		{"a bad request id", "POST", "/v1/feed", agent, `{"action":"refresh","request_id":"a b"}`, 400, 40004},
		{"nobody", "POST", "/v1/feed", nil, `{"action":"refresh"}`, 401, 40101},
		{"a large body", "POST", "/v1/feed", agent, `{"action":"` + strings.Repeat("x", 5000) + `"}`, 413, 41301},
		{"items without a token", "POST", "/v1/items", agent, `{}`, 403, 40301},
		{"another's profile", "GET", "/v1/agents/u_2/profile", agent, ``, 403, 40301},
		{"no such item", "GET", "/v1/items/nothing", admin, ``, 404, 40401},
		{"no such route", "GET", "/v2/feed", agent, ``, 404, 40401},
		{"a bad item id", "DELETE", "/v1/items/a%20b", admin, ``, 400, 40004},
		{"a bad profile", "PUT", "/v1/agents/u_1/profile", agent, `{"interests":{"go":101}}`, 400, 40001},
		{"too many seen", "POST", "/v1/impressions", agent, `{"ids":["a"` + strings.Repeat(`,"a"`, 500) + `]}`, 400, 40001},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, code, _ := p.call(t, c.method, c.path, c.header, strings.NewReader(c.body))
			assert.Equal(t, c.status, status)
			assert.Equal(t, c.code, code)
		})
	}

	const good = `{"id":"good","title":"Good","update_time":1}` + "\n"
	var whole bytes.Buffer
	zw := gzip.NewWriter(&whole)
	_, _ = io.WriteString(zw, good+strings.Repeat(`{"id":"x","title":"Bad","update_time":0}`+"\n", 20000))
	require.NoError(t, zw.Close())
	packed := map[string]string{"Authorization": "Bearer " + adminToken, "Content-Encoding": "gzip"}

	t.Run("truncated gzip", func(t *testing.T) {
		status, code, data := p.call(t, "POST", "/v1/items", packed, bytes.NewReader(whole.Bytes()[:whole.Len()-20]))
		assert.Equal(t, 400, status)
		assert.Equal(t, 40001, code)
		assert.EqualValues(t, 1, data["accepted"], "the good line before the end is in")
		status, _, _ = p.call(t, "GET", "/v1/items/good", admin, nil)
		assert.Equal(t, 200, status)
	})
	t.Run("a gzip bomb", func(t *testing.T) {
		var bomb bytes.Buffer
		zw := gzip.NewWriter(&bomb)
		_, _ = io.WriteString(zw, strings.ReplaceAll(good, "good", "before-the-bomb"))
		chunk := bytes.Repeat([]byte(strings.Repeat(" ", 1023)+"\n"), 2<<10)
		for range 40 { // 80 MiB of white space; the limit is 64
			_, _ = zw.Write(chunk)
		}
		require.NoError(t, zw.Close())
		require.Less(t, bomb.Len(), 1<<20)
		status, code, data := p.call(t, "POST", "/v1/items", packed, &bomb)
		assert.Equal(t, 413, status)
		assert.Equal(t, 41301, code)
		assert.EqualValues(t, 1, data["accepted"])
	})
	status, code, _ := p.call(t, "POST", "/v1/feed", agent, strings.NewReader(`{"action":"refresh"}`))
	assert.Equal(t, 200, status, "the server goes on")
	assert.Zero(t, code)
}

var linesFlag = flag.Int("ingest.lines", 100_000, "lines that TestIngestManyLines ingests, in requests of 1,000; a million take half a minute")

// TestIngestManyLines ingests lines from standard input through the command, some of them bad:
// the good ones are stored, the bad ones are reported.
func TestIngestManyLines(t *testing.T) {
	t.Parallel()
	p := start(t, settings(t, "embedded"))
	path, err := binary()
	require.NoError(t, err)
	lines := testenv.Schedules(*linesFlag)
	every := lines / 5
	in, out := io.Pipe()
	go func() {
		var line []byte
		for i := 1; i <= lines; i++ {
			line = fmt.Appendf(line[:0], `{"id":"d%d","title":"Line %d","update_time":%d}`+"\n", i, i, 1_400_000_000+i)
			if i%every == 0 {
				line = fmt.Appendf(line[:0], `{"id":"d%d","title":"","update_time":1}`+"\n", i)
			}
			if _, err := out.Write(line); err != nil {
				return
			}
		}
		_ = out.Close()
	}()
	cmd := exec.CommandContext(t.Context(), path, "ingest", "--server", p.url, "--json", "-")
	cmd.Env = append(cmd.Environ(), "FRESHET_ADMIN_TOKEN="+adminToken)
	cmd.Stdin = in
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit, "rejected lines make the command fail: %s", &stderr)
	assert.Equal(t, 1, exit.ExitCode())
	var summary struct {
		Accepted, Rejected int
		Errors             []struct {
			Line   int
			Reason string
		}
	}
	require.NoError(t, json.Unmarshal(stdout.Bytes(), &summary), "%s", &stdout)
	assert.Equal(t, lines-lines/every, summary.Accepted)
	assert.Equal(t, lines/every, summary.Rejected)
	require.Len(t, summary.Errors, lines/every)
	for i, e := range summary.Errors {
		assert.Equal(t, (i+1)*every, e.Line)
		assert.Contains(t, e.Reason, "title")
	}
	for id, want := range map[string]int{"d1": 200, fmt.Sprint("d", lines-1): 200, fmt.Sprint("d", lines): 404} {
		status, _, _ := p.call(t, "GET", "/v1/items/"+id, map[string]string{"Authorization": "Bearer " + adminToken}, nil)
		assert.Equal(t, want, status, id)
	}
}
