package server

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

// listen serves the system on a free port with the HTTP server of Serve. Only the timeout under
// test is shortened, so that a busy machine triggers no other.
func listen(t *testing.T, a *App, shorten func(*http.Server)) string {
	t.Helper()
	server := a.httpServer(t.Context(), a.Handler)
	for _, timeout := range []time.Duration{server.ReadHeaderTimeout, server.ReadTimeout, server.WriteTimeout, server.IdleTimeout} {
		require.Positive(t, timeout)
	}
	require.Greater(t, server.WriteTimeout, server.ReadTimeout+a.cfg.Server.RequestTimeout,
		"a call whose body came in the last moment must still be answered")
	shorten(server)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	// A connection lingers for half a second after it was closed.
	var serving sync.WaitGroup
	server.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			serving.Add(1)
		case http.StateClosed:
			serving.Done()
		}
	}
	serving.Go(func() { _ = server.Serve(l) })
	t.Cleanup(func() { _ = server.Close(); serving.Wait() })
	return l.Addr().String()
}

func sameTimeouts(*http.Server)         {}
func shortHeaderTimeout(s *http.Server) { s.ReadHeaderTimeout /= 50 }
func shortReadTimeout(s *http.Server)   { s.ReadTimeout /= 200 }
func shortWriteTimeout(s *http.Server)  { s.WriteTimeout /= 200 }
func shortIdleTimeout(s *http.Server)   { s.IdleTimeout /= 30_000 }

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	// A server that never hangs up makes the test fail shortly before its deadline instead of
	// hanging.
	if end, ok := t.Deadline(); ok {
		require.NoError(t, conn.SetDeadline(end.Add(-20*time.Second)))
	}
	return conn
}

// trickle sends one byte at a time until the server hangs up.
func trickle(conn net.Conn, text string) {
	for i := range len(text) {
		if _, err := io.WriteString(conn, text[i:i+1]); err != nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// untilClosed reads until the server hangs up. It does not matter how the server hangs up, but a
// timeout is an error.
func untilClosed(t *testing.T, conn net.Conn) string {
	t.Helper()
	said, err := io.ReadAll(conn)
	var slow net.Error
	if errors.As(err, &slow) {
		require.False(t, slow.Timeout(), "the server waits for ever")
	}
	return string(said)
}

// TestHTTPSlowClientDisconnected has clients that send nothing, or their headers or bodies too
// slowly, and clients that stay idle: each is disconnected, those with a request after an answer.
func TestHTTPSlowClientDisconnected(t *testing.T) {
	cfg := embedded(t)
	cfg.Auth.AdminToken = testAdmin
	a := open(t, cfg)
	const feedHead = "POST /v1/feed HTTP/1.1\r\nHost: x\r\nX-Agent-ID: u_1\r\n"
	long := strings.Repeat("x", 1<<16)
	for _, tt := range []struct {
		name                 string
		shorten              func(*http.Server)
		atOnce, slowly, says string
	}{
		{"no request", shortHeaderTimeout, "", "", ""},
		{"a header that never ends", shortHeaderTimeout, "POST /v1/feed HTTP/1.1\r\nHost: x\r\n", "X-Slow: " + long, ""},
		{"headers that never end", shortHeaderTimeout, "POST /v1/feed HTTP/1.1\r\nHost: x\r\n", strings.Repeat("X-A: b\r\n", 1<<13), ""},
		{"a body that trickles", shortReadTimeout, feedHead + "Content-Length: 4000\r\n\r\n", strings.Repeat(" ", 4000), "the body did not arrive in time"},
		{"a body that stops", shortReadTimeout, feedHead + "Content-Length: 20\r\n\r\n{", "", "the body did not arrive in time"},
		{"chunks that trickle", shortReadTimeout, feedHead + "Transfer-Encoding: chunked\r\n\r\n", strings.Repeat("1\r\n \r\n", 4000), "the body did not arrive in time"},
		{"a profile that trickles", shortReadTimeout, "PUT /v1/agents/u_1/profile HTTP/1.1\r\nHost: x\r\nX-Agent-ID: u_1\r\nContent-Length: 100000\r\n\r\n", long, "the body did not arrive in time"},
		{"a refused body that trickles", shortReadTimeout, "POST /v1/items HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n", long, "40101"},
		{"idle after an answer", shortIdleTimeout, "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n", "", "success"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			conn := dial(t, listen(t, a, tt.shorten))
			_, err := io.WriteString(conn, tt.atOnce)
			require.NoError(t, err)
			go trickle(conn, tt.slowly)
			require.Contains(t, untilClosed(t, conn), tt.says)
		})
	}
}

// TestGatewaysHangUpFirst compares the time after which servers close idle connections with the times of
// gateways, by default or at most: the gateway must be the first, or it sends a call as the server hangs up.
func TestGatewaysHangUpFirst(t *testing.T) {
	t.Parallel()
	server := open(t, embedded(t)).httpServer(t.Context(), http.NotFoundHandler())
	for gateway, idle := range map[string]time.Duration{
		"HAProxy (pool-purge-delay)": 5 * time.Second, "nginx (keepalive_timeout)": time.Minute, "AWS ALB, default": time.Minute,
		"Traefik (idleConnTimeout)": 90 * time.Second, "Caddy (keepalive)": 2 * time.Minute, "Google Cloud, fixed": 10 * time.Minute,
		"Envoy, Istio (idle_timeout)": time.Hour, "AWS ALB, at most": 4000 * time.Second,
	} {
		require.Greater(t, server.IdleTimeout, idle+time.Minute, gateway)
	}
}

// TestHTTPRefusalBeforeBody checks that a refusal is sent at once, before the rest of the body has
// arrived or its read timeout is over.
func TestHTTPRefusalBeforeBody(t *testing.T) {
	cfg := embedded(t)
	cfg.Auth.AdminToken = testAdmin
	addr := listen(t, open(t, cfg), func(s *http.Server) { s.ReadTimeout, s.WriteTimeout = time.Hour, time.Hour })
	for _, tt := range []struct{ name, request, says string }{
		{"nobody", "POST /v1/items HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n{", "40101"},
		{"no route", "POST /v2/items HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n{", "40401"},
		{"too large", "POST /v1/feed HTTP/1.1\r\nHost: x\r\nX-Agent-ID: u_1\r\nContent-Length: 100000\r\n\r\n{", "41301"},
		{"too many chunks", "POST /v1/feed HTTP/1.1\r\nHost: x\r\nX-Agent-ID: u_1\r\nTransfer-Encoding: chunked\r\n\r\n" +
			strings.Repeat("400\r\n"+strings.Repeat(" ", 1024)+"\r\n", 8), "41301"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			conn := dial(t, addr)
			_, err := io.WriteString(conn, tt.request)
			require.NoError(t, err)
			require.Contains(t, untilClosed(t, conn), tt.says)
		})
	}
}

// TestHTTPClientNotReadingDisconnected has a client that sends requests and never reads: it is
// disconnected once its answers fill the socket buffers.
func TestHTTPClientNotReadingDisconnected(t *testing.T) {
	a := open(t, embedded(t))
	conn := dial(t, listen(t, a, shortWriteTimeout))
	ask := strings.Repeat("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", 100)
	for {
		if _, err := io.WriteString(conn, ask); err != nil {
			var slow net.Error
			require.False(t, errors.As(err, &slow) && slow.Timeout(), "the server waits for ever")
			return
		}
	}
}

// TestHTTPHeaderSizeLimit sends a header that is accepted and one that is too large.
func TestHTTPHeaderSizeLimit(t *testing.T) {
	a := open(t, embedded(t))
	addr := listen(t, a, sameTimeouts)
	for size, status := range map[int]string{16 << 10: "200", 128 << 10: "431"} {
		conn := dial(t, addr)
		_, err := fmt.Fprintf(conn, "GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Pad: %s\r\n\r\n", strings.Repeat("a", size))
		if err == nil {
			require.Contains(t, untilClosed(t, conn), " "+status+" ", "%d bytes", size)
		}
	}
}

func gzipOf(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

// TestHTTPDecompressionBombs uploads a few KB that decompress to more than the limit of an upload.
func TestHTTPDecompressionBombs(t *testing.T) {
	testenv.WithoutRace(t)
	cfg := embedded(t)
	cfg.Auth.AdminToken = testAdmin
	a := open(t, cfg)
	addr := listen(t, a, sameTimeouts)
	send := func(encoding string, body []byte) string {
		conn := dial(t, addr)
		go func() {
			_, _ = fmt.Fprintf(conn, "POST /v1/items HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Admin-Token: %s\r\nContent-Encoding: %s\r\nContent-Length: %d\r\n\r\n", testAdmin, encoding, len(body))
			_, _ = conn.Write(body)
		}()
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		defer func() { _ = res.Body.Close() }()
		answer, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return string(answer)
	}
	mib := bytes.Repeat([]byte(" "), 1<<20)
	one := gzipOf(t, mib)
	members := bytes.Repeat(one, 65)
	blank := gzipOf(t, bytes.Repeat([]byte("\n"), 65<<20))
	t.Run("many members", func(t *testing.T) { require.Contains(t, send("gzip", members), "41301") })
	t.Run("one member of blank lines", func(t *testing.T) { require.Contains(t, send("gzip", blank), "41301") })
	t.Run("very many empty members", func(t *testing.T) {
		require.Contains(t, send("gzip", bytes.Repeat(gzipOf(t, nil), 1<<17)), `"accepted":0`)
	})
	t.Run("gzip twice", func(t *testing.T) { require.NotContains(t, send("gzip", gzipOf(t, blank)), "41301") })
	t.Run("gzip twice by its header", func(t *testing.T) { require.Contains(t, send("gzip, gzip", gzipOf(t, blank)), "40001") })
	t.Run("gzip body of a feed call", func(t *testing.T) {
		conn := dial(t, addr)
		_, err := fmt.Fprintf(conn, "POST /v1/feed HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Agent-ID: u_1\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", len(one), one)
		require.NoError(t, err)
		require.Contains(t, untilClosed(t, conn), "40001")
	})
}

// TestHTTPContentLengthMismatch checks that the announced length of a body is not trusted.
func TestHTTPContentLengthMismatch(t *testing.T) {
	cfg := embedded(t)
	cfg.Auth.AdminToken = testAdmin
	a := open(t, cfg)
	put(t, a, feed.Item{ID: "kept", Title: "kept", UpdateTime: 1})
	addr := listen(t, a, sameTimeouts)
	item := `{"id":"short","title":"short","update_time":1}` + "\n"
	for _, tt := range []struct {
		name, head, body, says string
	}{
		{"shorter than announced", "Content-Length: 4000\r\n", `{"action":"refresh"}`, "49901"},
		{"negative", "Content-Length: -1\r\n", "", "400 Bad Request"},
		{"not a number", "Content-Length: 1e3\r\n", "", "400 Bad Request"},
		{"beyond all numbers", "Content-Length: 99999999999999999999\r\n", "", "400 Bad Request"},
		{"huge", "Content-Length: 9223372036854775807\r\n", "", "41301"},
		{"two lengths", "Content-Length: 20\r\nContent-Length: 21\r\n", `{"action":"refresh"}`, "400 Bad Request"},
		{"length and chunks", "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", "14\r\n{\"action\":\"refresh\"}\r\n0\r\n\r\n", `"has_more"`},
		{"a chunk without its length", "Transfer-Encoding: chunked\r\n", "zz\r\n{}\r\n", "40001"},
		{"a chunk of 2^64", "Transfer-Encoding: chunked\r\n", "10000000000000000\r\n{}\r\n", "40001"},
		{"unknown coding", "Transfer-Encoding: gzip\r\n", "", "501"},
		{"chunks without end", "Transfer-Encoding: chunked\r\n", strings.Repeat("400\r\n"+strings.Repeat(" ", 1024)+"\r\n", 8), "41301"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			conn := dial(t, addr)
			_, err := io.WriteString(conn, "POST /v1/feed HTTP/1.1\r\nHost: x\r\nX-Agent-ID: u_1\r\nConnection: close\r\n"+tt.head+"\r\n"+tt.body)
			require.NoError(t, err)
			if tt.says == "49901" { // otherwise the item may be removed before the answer
				require.NoError(t, conn.(*net.TCPConn).CloseWrite())
			}
			require.Contains(t, untilClosed(t, conn), tt.says)
		})
	}
	t.Run("an upload that ends early", func(t *testing.T) {
		conn := dial(t, addr)
		_, err := fmt.Fprintf(conn, "POST /v1/items HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Admin-Token: %s\r\nContent-Length: 4000\r\n\r\n%s%s", testAdmin, item, item[:10])
		require.NoError(t, err)
		require.NoError(t, conn.(*net.TCPConn).CloseWrite())
		require.Contains(t, untilClosed(t, conn), "49901")
	})
}
