package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/version"
)

type result struct {
	code      int
	out, errs string
}

func freshet(t *testing.T, in string, args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	args = append([]string{}, args...) // nil would mean the arguments of the test
	code := run(context.Background(), args, strings.NewReader(in), &out, &errs)
	return result{code, out.String(), errs.String()}
}

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func TestUsageErrors(t *testing.T) {
	tests := map[string]struct {
		args []string
		says string
	}{
		"unknown command":      {[]string{"ingets"}, `there is no command "ingets"; did you mean ingest?`},
		"unknown subcommand":   {[]string{"config", "prit"}, "did you mean print?"},
		"unknown flag":         {[]string{"version", "--x"}, "unknown flag: --x"},
		"name with a hyphen":   {[]string{"ranking", "drop", "-x1"}, "if it is NAME, write -- before it: freshet ranking drop -- -x1"},
		"ids with a hyphen":    {[]string{"post", "delete", "-p"}, "write -- before it"},
		"unknown key":          {[]string{"config", "check", "--server.adr=x"}, "the nearest key is --server.addr"},
		"bad value of a key":   {[]string{"config", "check", "--sessions.ttl=30"}, "must be a duration"},
		"too many arguments":   {[]string{"version", "now"}, `unknown command "now"`},
		"no file":              {[]string{"ingest"}, "give one file, or - for standard input"},
		"no action":            {[]string{"feed", "--agent", "u"}, "refresh, more, silent or guest"},
		"unknown action":       {[]string{"feed", "--agent", "u", "reload"}, `not "reload"`},
		"nobody":               {[]string{"feed", "refresh"}, "--agent is required"},
		"why of all":           {[]string{"feed", "--why", "guest"}, "the same for everybody"},
		"agent with a colon":   {[]string{"feed", "--agent", "u:1", "refresh"}, "--agent: bad id"},
		"server without http":  {[]string{"feed", "--agent", "u", "--server", "localhost:8080", "more"}, "the server must be a URL"},
		"unknown example":      {[]string{"config", "example", "cloud"}, `invalid argument "cloud"`},
		"help of what is none": {[]string{"feed", "--hlep"}, "unknown flag: --hlep"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := freshet(t, "", tt.args...)
			assert.Equal(t, exitUsage, got.code)
			assert.Contains(t, got.errs, "freshet: ")
			assert.Contains(t, got.errs, tt.says)
			assert.Contains(t, got.errs, "--help")
			assert.Empty(t, got.out)
		})
	}
}

func TestHelpListsCommands(t *testing.T) {
	got := freshet(t, "")
	assert.Equal(t, exitOK, got.code)
	for _, newCommand := range commands {
		if cmd := newCommand(); !cmd.Hidden {
			assert.Contains(t, got.out, "\n  "+cmd.Name()+" ")
		}
	}
}

func TestConfigPrint(t *testing.T) {
	t.Setenv("FRESHET_REDIS_PASSWORD", "hunter2")
	path := write(t, "f.yaml", "dedup: {daily_capacity: 5}\n")
	got := freshet(t, "", "config", "print", "--config", path, "--recall.n=7", "--redis.url=redis://127.0.0.1")
	require.Equal(t, exitOK, got.code, got.errs)
	assert.NotContains(t, got.out, "hunter2")
	for _, want := range []string{"daily_capacity: 5\n", "n: 7\n", "password: '******'", "ttl: 30m\n"} {
		assert.Contains(t, got.out, want)
	}
}

func TestConfigCheck(t *testing.T) {
	got := freshet(t, "", "config", "check")
	assert.Equal(t, result{exitOK, "the configuration is valid: items sqlite, impressions memory, posts sqlite\n", ""}, got)

	got = freshet(t, "", "config", "check", "--config", write(t, "f.yaml", "recall: {n: 0}\nsessions: {ttl: 0}\n"))
	assert.Equal(t, exitError, got.code)
	assert.Contains(t, got.errs, "the configuration has 2 problems")
	assert.Contains(t, got.errs, "recall.n must be 1 to 10000, not 0")
}

func TestConfigExampleEqualsShippedFile(t *testing.T) {
	assert.Equal(t, string(configs.Embedded), freshet(t, "", "config", "example").out)
	assert.Equal(t, string(configs.Services), freshet(t, "", "config", "example", "services").out)
}

func TestVersion(t *testing.T) {
	want := "freshet " + version.Long() + "\n"
	assert.Equal(t, want, freshet(t, "", "version").out)
	assert.Equal(t, want, freshet(t, "", "--version").out)
}

// answering serves the same response to every call and records the last request.
func answering(t *testing.T, status int, body string) (url string, last *http.Request) {
	t.Helper()
	last = new(http.Request)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		*last = *r
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return s.URL, last
}

func TestIngest(t *testing.T) {
	const lines = "{\"id\":\"a\"}\n{\"id\":\"b\"}\n"
	const rejecting = `{"code":0,"msg":"success","data":{"accepted":1,"rejected":1,"errors":[{"line":2,"id":"b","reason":"bad item: title is missing"}]}}`
	const accepting = `{"code":0,"msg":"success","data":{"accepted":2,"rejected":0,"errors":[]}}`
	tests := map[string]struct {
		answer string
		args   []string
		code   int
		out    string
		errs   string
	}{
		"all stored": {accepting, nil, exitOK, "2 accepted, 0 rejected\n", ""},
		"a rejected line": {
			rejecting, nil, exitError, "1 accepted, 1 rejected\n  line 2 (\"b\"): bad item: title is missing\n",
			"freshet: lines rejected: 1 (--allow-rejected makes this a success)\n",
		},
		"not all of it is stored": {
			`{"code":0,"msg":"success","data":{"accepted":2,"replaced":1,"kept":1,"rejected":0,"errors":[]}}`, nil, exitOK,
			"2 accepted (1 replaced by later lines, 1 not newer than the stored ones), 0 rejected\n", "",
		},
		"allowed":         {rejecting, []string{"--allow-rejected"}, exitOK, "1 accepted, 1 rejected\n  line 2 (\"b\"): bad item: title is missing\n", ""},
		"JSON":            {accepting, []string{"--json"}, exitOK, `{"accepted":2,"rejected":0,"requests":1,"errors":[]}` + "\n", ""},
		"JSON, rejecting": {rejecting, []string{"--json", "--allow-rejected"}, exitOK, `{"accepted":1,"rejected":1,"requests":1,"errors":[{"line":2,"id":"b","reason":"bad item: title is missing"}]}` + "\n", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv(configs.EnvAdminToken, "from-env")
			url, last := answering(t, 200, tt.answer)
			got := freshet(t, lines, append([]string{"ingest", "-", "--server", url}, tt.args...)...)
			assert.Equal(t, result{tt.code, tt.out, tt.errs}, got)
			assert.Equal(t, "Bearer from-env", last.Header.Get("Authorization"))
			assert.Equal(t, "/v1/items", last.URL.Path)
			got = freshet(t, lines, append([]string{"ingest", "--counts", "-", "--server", url}, tt.args...)...)
			assert.Equal(t, result{tt.code, tt.out, tt.errs}, got)
			assert.Equal(t, "/v1/items/counts", last.URL.Path)
		})
	}
	url, last := answering(t, 200, accepting)
	got := freshet(t, lines, "ingest", "--if-newer", "-", "--server", url)
	assert.Equal(t, exitOK, got.code, got.errs)
	assert.Equal(t, "/v1/items?if_newer=true", last.URL.RequestURI())
	got = freshet(t, lines, "ingest", "--counts", "--if-newer", "-")
	assert.Equal(t, exitUsage, got.code)
	got = freshet(t, lines, "ingest", "--counts", "--graph", "-")
	assert.Equal(t, exitUsage, got.code)
	assert.Contains(t, got.errs, "give one of them")
}

func TestItemsList(t *testing.T) {
	const page = `{"code":0,"msg":"success","data":{"items":[{"id":"a","title":"A comet","update_time":1,"author_id":"lee","tags":["space","sky"],"likes":3}],"next_cursor":"abc"}}`
	url, last := answering(t, 200, page)
	got := freshet(t, "", "items", "list", "--server", url, "--author", "lee", "--tag", "space", "--since", "1", "--cursor", "x y", "--limit", "7")
	require.Equal(t, exitOK, got.code, got.errs)
	assert.Equal(t, "/v1/items?author=lee&cursor=x+y&limit=7&since=1&tag=space", last.URL.String())
	assert.Regexp(t, `3 +0 +a +lee +space,sky +A comet\nnext: --cursor abc\n$`, got.out)
	got = freshet(t, "", "items", "list", "--server", url, "--since", "72h", "--json")
	require.Equal(t, exitOK, got.code, got.errs)
	since, err := strconv.ParseInt(last.URL.Query().Get("since"), 10, 64)
	require.NoError(t, err)
	assert.InDelta(t, time.Now().Add(-72*time.Hour).Unix(), since, 60)
	assert.Contains(t, got.out, `"next_cursor": "abc"`)
	url, _ = answering(t, 200, `{"code":0,"msg":"success","data":{"items":[],"next_cursor":null}}`)
	assert.Equal(t, result{exitOK, "no items\n", ""}, freshet(t, "", "items", "list", "--server", url))
	for _, since := range []string{"yesterday", "-1", "-72h"} {
		got := freshet(t, "", "items", "list", "--server", url, "--since", since)
		assert.Equal(t, exitUsage, got.code)
		assert.Contains(t, got.errs, "give a duration such as 72h")
	}
}

// TestTokenPrecedence checks that the flag comes before the variable of clients, and that before
// the variable of the server.
func TestTokenPrecedence(t *testing.T) {
	tests := map[string]struct{ flag, client, server, want string }{
		"flag":     {"f", "c", "s", "Bearer f"},
		"client's": {"", "c", "s", "Bearer c"},
		"server's": {"", "", "s", "Bearer s"},
		"none":     {},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv(configs.EnvAdminToken, tt.client)
			t.Setenv("FRESHET_AUTH_ADMIN_TOKEN", tt.server)
			url, last := answering(t, 200, `{"code":0,"msg":"success","data":{"accepted":1,"rejected":0,"errors":[]}}`)
			got := freshet(t, `{"id":"a"}`, "ingest", "-", "--server", url, "--token", tt.flag)
			require.Equal(t, exitOK, got.code, got.errs)
			assert.Equal(t, tt.want, last.Header.Get("Authorization"))
		})
	}
}

// TestServerURLPrecedence checks that the flag comes before the variable, for each command.
func TestServerURLPrecedence(t *testing.T) {
	url, last := answering(t, 200, `{"code":0,"msg":"success","data":{"items":[],"next_cursor":null,"dependencies":{}}}`)
	for name, tt := range map[string]struct {
		variable string
		args     []string
	}{
		"flag":     {"http://127.0.0.1:1", []string{"--server", url}},
		"variable": {url, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(configs.EnvServer, tt.variable)
			for _, command := range [][]string{{"items", "list"}, {"feed", "refresh", "--agent", "a"}, {"timeline", "--agent", "a"}, {"health"}} {
				last.URL = nil
				got := freshet(t, "", append(command, tt.args...)...)
				require.Equal(t, exitOK, got.code, got.errs)
				assert.NotNil(t, last.URL, command)
			}
		})
	}
	t.Setenv(configs.EnvServer, "server:8080")
	got := freshet(t, "", "items", "list")
	assert.Equal(t, exitUsage, got.code)
	assert.Contains(t, got.errs, `not "server:8080"`)
}

func TestIngestShowsTwentyRejections(t *testing.T) {
	url, last := answering(t, 200, `{"code":0,"data":{"accepted":0,"rejected":0}}`)
	file := write(t, "items", strings.Repeat("nonsense\n", 30))
	got := freshet(t, "", "ingest", file, "--server", url, "--token", "t")
	assert.Equal(t, exitError, got.code)
	assert.Equal(t, 20, strings.Count(got.out, "  line "))
	assert.Contains(t, got.out, "and 10 more (--all shows them)")
	assert.Nil(t, last.Header, "nothing is worth sending")

	got = freshet(t, "", "ingest", file, "--server", url, "--all")
	assert.Equal(t, 30, strings.Count(got.out, "  line "))
	assert.NotContains(t, got.out, "more")
}

func TestIngestListsRejectionsByLine(t *testing.T) {
	url, _ := answering(t, 200, `{"code":0,"data":{"accepted":0,"rejected":1,"errors":[{"line":1,"id":"a","reason":"title is missing"}]}}`)
	got := freshet(t, "{\"id\":\"a\"}\nnonsense\n", "ingest", "-", "--server", url)
	assert.Equal(t, "0 accepted, 2 rejected\n  line 1 (\"a\"): title is missing\n  line 2: the line is not a JSON object\n", got.out)
}

func TestIngestFailures(t *testing.T) {
	got := freshet(t, "", "ingest", filepath.Join(t.TempDir(), "absent"))
	assert.Equal(t, exitError, got.code)
	assert.Contains(t, got.errs, "absent")

	for file, says := range map[string]string{
		"":                        "- is empty: nothing to upload",
		"\n \n":                   "- is empty: nothing to upload",
		"\xef\xbb\xbf":            "- is empty: nothing to upload",
		"\xff\xfe{\x00}\x00":      "UTF-16",
		"{\n  \"id\": \"a\"\n}\n": "continues on the next line",
		"[\n{\"id\":\"a\"}\n]":    "as an object (jq -c",
	} {
		url, _ := answering(t, 200, `{"code":0,"msg":"success","data":{"accepted":0,"rejected":0,"errors":[]}}`)
		got = freshet(t, file, "ingest", "-", "--server", url)
		assert.Equal(t, exitError, got.code, "%q", file)
		assert.Contains(t, got.errs, says, "%q", file)
	}

	url, _ := answering(t, 403, `{"code":40301,"msg":"admin routes are closed"}`)
	got = freshet(t, "{}\n", "ingest", "-", "--server", url)
	assert.Equal(t, exitError, got.code)
	assert.Contains(t, got.errs, "upload lines 1 to 1: the server answered 403 (40301): admin routes are closed")
	assert.Contains(t, got.out, "0 accepted, 0 rejected")
}

func TestInterruptReported(t *testing.T) {
	url, _ := answering(t, 200, "")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, errs bytes.Buffer
	assert.Equal(t, exitError, run(ctx, []string{"feed", "--agent", "u", "--server", url, "more"}, nil, &out, &errs))
	assert.Equal(t, "freshet: interrupted\n", errs.String())
}

func TestFeed(t *testing.T) {
	const page = `{"items":[{"id":"n","title":"News","update_time":1}],"has_more":true}`
	url, last := answering(t, 200, `{"code":0,"msg":"success","data":`+page+`}`)
	got := freshet(t, "", "feed", "--agent", "u_1", "--server", url, "--json", "more")
	assert.Equal(t, result{exitOK, page + "\n", ""}, got)
	assert.Equal(t, "u_1", last.Header.Get("X-Agent-ID"))

	got = freshet(t, "", "feed", "--token", "jwt", "--server", url, "refresh")
	assert.Equal(t, exitOK, got.code)
	assert.Contains(t, got.out, "items=1, has_more=true\n")
	assert.Equal(t, "Bearer jwt", last.Header.Get("Authorization"))
	assert.Empty(t, last.Header.Get("X-Agent-ID"))
}

func TestHealth(t *testing.T) {
	const ready = `{"code":0,"msg":"ready","data":{"dependencies":{}}}`
	url, last := answering(t, 200, ready)
	assert.Equal(t, result{exitOK, ready + "\n", ""}, freshet(t, "", "health", "--server", url))
	assert.Equal(t, "/readyz", last.URL.Path)

	_, port, _ := net.SplitHostPort(strings.TrimPrefix(url, "http://"))
	file := write(t, "freshet.yaml", "server: {addr: '127.0.0.1:"+port+"'}")
	assert.Equal(t, exitOK, freshet(t, "", "health", "--config", file).code, "the address of a configuration")
	for _, host := range []string{"127.0.0.1", "0.0.0.0", "", "[::]"} {
		t.Setenv("FRESHET_SERVER_ADDR", host+":"+port)
		t.Setenv("FRESHET_AUTH_TRUSTED_GATEWAY", "true")
		assert.Equal(t, result{exitOK, ready + "\n", ""}, freshet(t, "", "health"), "the server listens on %q", host)
	}
	t.Setenv("FRESHET_SERVER_ADDR", "nonsense")
	assert.Equal(t, exitError, freshet(t, "", "health").code)
	assert.Equal(t, exitOK, freshet(t, "", "health", "--server", url).code, "the configuration is not read")

	url, _ = answering(t, 503, `{"redis":"down"}`)
	got := freshet(t, "", "health", "--server", url)
	assert.Equal(t, exitError, got.code)
	assert.Contains(t, got.out, "down")
	assert.Contains(t, got.errs, "503")

	for _, other := range []string{`{"status":"ready"}`, "<!doctype html><title>An app</title>", "", "null"} {
		url, _ = answering(t, 200, other)
		got = freshet(t, "", "health", "--server", url)
		assert.Equal(t, exitError, got.code, other)
		assert.Contains(t, got.errs, "is not a Freshet server", other)
	}
}

// TestHealthWithoutProxy runs in a container whose environment names a proxy for calls to the outside.
func TestHealthWithoutProxy(t *testing.T) {
	proxied := make(chan string, 10)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		proxied <- r.URL.String()
		w.WriteHeader(http.StatusForbidden)
	}))
	t.Cleanup(proxy.Close)
	path, err := binary()
	require.NoError(t, err)
	ask := func(args ...string) {
		// The proxy is never used for loopback addresses. No machine has this name.
		cmd := exec.CommandContext(t.Context(), path, append([]string{"health", "--timeout", "2s"}, args...)...)
		cmd.Env = environ(map[string]string{"SERVER_ADDR": "freshet.invalid:8080", "AUTH_TRUSTED_GATEWAY": "true"}, "HTTP_PROXY="+proxy.URL, "http_proxy="+proxy.URL)
		require.Error(t, cmd.Run())
	}
	ask()
	assert.Empty(t, proxied, "the server of this machine")
	ask("--server", "http://freshet.invalid:8080")
	assert.Equal(t, "http://freshet.invalid:8080/readyz", <-proxied, "another server")
}
