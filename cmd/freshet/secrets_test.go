package main

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
)

// The secrets of these tests, easy to find in any output.
const (
	secretAdmin   = "S3CRET-admin-token-0123456789"
	secretJWT     = "S3CRET-of-the-tokens-0123456789-0123456789"
	secretRedis   = "S3CRET-redis-0123456789"
	secretElastic = "S3CRET-elastic-0123456789"
)

// tellTales returns the texts that must not be printed: the secrets, and the forms in which they
// are transmitted.
func tellTales(token string) []string {
	return []string{
		"S3CRET", secretAdmin[:16], base64.StdEncoding.EncodeToString([]byte("elastic:" + secretElastic)),
		url.QueryEscape(secretElastic), token, token[strings.LastIndexByte(token, '.')+1:],
	}
}

// talkativeRedis closes connections at once until up is set. Then it answers every command with an
// error that repeats it, as Redis does with unknown commands.
func talkativeRedis(t *testing.T) (addr string, up *atomic.Bool) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	up = &atomic.Bool{}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if up.Load() {
				go repeatCommands(conn)
			} else {
				_ = conn.Close()
			}
		}
	}()
	return l.Addr().String(), up
}

func repeatCommands(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	r := bufio.NewReader(conn)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		n, words := 0, []string(nil)
		_, _ = fmt.Sscanf(line, "*%d", &n)
		for range n {
			if _, err := r.ReadString('\n'); err != nil {
				return
			}
			word, err := r.ReadString('\n')
			if err != nil {
				return
			}
			words = append(words, strings.TrimSpace(word))
		}
		if _, err := fmt.Fprintf(conn, "-ERR not understood: %s\r\n", strings.Join(words, " ")); err != nil {
			return
		}
	}
}

// talkativeElastic forwards calls until broken is set; then it repeats the headers of each in an
// error.
func talkativeElastic(t *testing.T, address string) (proxied string, broken *atomic.Bool) {
	t.Helper()
	broken = &atomic.Bool{}
	proxy := testenv.Forward(t, address, nil)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !broken.Load() {
			proxy.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Elastic-Product", "Elasticsearch")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprintf(w, `{"error":{"type":"security_exception","reason":"bad header [Authorization: %s]"},"status":401}`, r.Header.Get("Authorization"))
	}))
	t.Cleanup(srv.Close)
	return srv.URL, broken
}

// TestSecretsNotPrinted runs a real server with secrets of every kind, at the most verbose log
// level, with a Redis and an Elasticsearch that repeat credentials in their errors, and searches
// all output for them.
func TestSecretsNotPrinted(t *testing.T) {
	t.Parallel()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: []byte(secretJWT)}, nil)
	require.NoError(t, err)
	token, err := jwt.Signed(signer).Claims(jwt.Claims{Subject: "u_1", Expiry: jwt.NewNumericDate(time.Now().Add(time.Hour))}).Serialize()
	require.NoError(t, err)
	for _, format := range []string{"text", "json"} {
		t.Run(format, func(t *testing.T) {
			address, index := testenv.Elastic(t)
			elastic, broken := talkativeElastic(t, address)
			redis, up := talkativeRedis(t) // a server starts without Redis, but not with one that refuses its commands
			s := map[string]string{
				"DATA_DIR": t.TempDir(), "LOG_LEVEL": "debug", "LOG_FORMAT": format,
				"AUTH_MODE": "jwt", "AUTH_ADMIN_TOKEN": secretAdmin, "AUTH_JWT_SECRET": secretJWT,
				"REDIS_URL": "redis://reader@" + redis, "REDIS_PASSWORD": secretRedis,
				"ELASTICSEARCH_ADDRESSES": strings.Replace(elastic, "://", "://elastic@", 1), "ELASTICSEARCH_INDEX": index,
				"ELASTICSEARCH_PASSWORD": secretElastic,
			}
			var said strings.Builder
			p := launch(t, "serve", s) // it never becomes ready
			provoke(t, p, token, &said)
			broken.Store(true)
			up.Store(true)
			provoke(t, p, token, &said)
			said.WriteString(printed(t, s))
			p.signal(syscall.SIGTERM)
			<-p.exited
			said.WriteString(p.log.String())
			require.Contains(t, said.String(), "not understood", "the talkative Redis was heard")
			for _, tale := range tellTales(token) {
				if at := strings.Index(said.String(), tale); at >= 0 {
					t.Errorf("%q is printed: …%s…", tale, said.String()[max(0, at-300):min(said.Len(), at+100)])
				}
			}
		})
	}
}

// provoke makes many calls, most of which fail, and collects the answers.
func provoke(t *testing.T, p *process, token string, said io.Writer) {
	t.Helper()
	half := token[:len(token)/2]
	for _, auth := range []string{
		"", "Bearer " + token, "Bearer " + token + "x", "Bearer " + half, "bearer  " + token, "Basic " + token, token,
		"Bearer " + secretAdmin, "Bearer " + secretAdmin + "x", "Bearer " + secretJWT,
	} {
		for _, call := range [][3]string{
			{"POST", "/v1/feed", `{"action":"refresh"}`},
			{"POST", "/v1/feed", `{"action":"load_more","request_id":"r1"}`},
			{"POST", "/v1/feed", `not JSON`},
			{"POST", "/v1/impressions", `{"ids":["a"]}`},
			{"PUT", "/v1/agents/u_1/profile", `{"keywords":["a"]}`},
			{"GET", "/v1/agents/u_2/profile", ""},
			{"POST", "/v1/items", `{"id":"a","title":"t","update_time":1}`},
			{"POST", "/v1/items", `rubbish`},
			{"GET", "/v1/items/a", ""},
			{"GET", "/v1/items/%00", ""},
			{"DELETE", "/v1/items/a", ""},
			{"GET", "/readyz", ""},
			{"GET", "/metrics", ""},
			{"GET", "/nothing", ""},
		} {
			req, err := http.NewRequestWithContext(t.Context(), call[0], p.url+call[1], strings.NewReader(call[2]))
			require.NoError(t, err)
			if auth != "" {
				req.Header.Set("Authorization", auth)
			}
			res, err := http.DefaultClient.Do(req)
			require.NoError(t, err)
			for name, values := range res.Header {
				_, _ = fmt.Fprintln(said, name, values)
			}
			_, err = io.Copy(said, res.Body)
			require.NoError(t, err)
			_ = res.Body.Close()
		}
	}
}

// printed returns the output of the commands that show the configuration, including an invalid one
// that contains a secret.
func printed(t *testing.T, settings map[string]string) string {
	t.Helper()
	path, err := binary()
	require.NoError(t, err)
	var said strings.Builder
	for _, args := range [][]string{
		{"config", "print"},
		{"config", "check"},
		{"doctor"},
		{"serve", "--server.addr=127.0.0.1:0"},
		{"doctor", "--json"},
		{"config", "check", "--recall.n=0"},
		{"serve", "--server.addr=256.0.0.1:1"},
		{"config", "check", "--auth.jwks=x"},
		{"config", "check", "--redis.url=http://:" + secretRedis + "@127.0.0.1:1"},
		{"config", "check", "--redis.url=redis://127.0.0.1:1/x?master_name=m&password=" + secretRedis},
		{"config", "print", "--redis.url=redis://127.0.0.1:1?master_name=m&password=" + secretRedis, "--redis.password="},
		{"config", "check", "--elasticsearch.addresses=http://elastic:" + secretElastic + "@127.0.0.1:1 1"},
		{"config", "print", "--elasticsearch.addresses=http://elastic:" + secretElastic + "@127.0.0.1:1"},
		{"config", "check", "--auth.admin_token= " + secretAdmin},
	} {
		cmd := exec.CommandContext(t.Context(), path, args...)
		cmd.Env = environ(settings)
		out, err := cmd.CombinedOutput()
		assert.NotEmpty(t, out, "%v: %v", args, err)
		said.Write(out)
	}
	return said.String()
}
