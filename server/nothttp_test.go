package server

import (
	"bufio"
	"bytes"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// TestOtherProtocolsLogged sends what gateways send that are set up for TLS, HTTP/2 or the PROXY protocol:
// the log says it once, and HTTP/1.1 goes on.
func TestOtherProtocolsLogged(t *testing.T) {
	t.Parallel()
	log := &syncBuffer{}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })} //nolint:gosec // a test
	t.Cleanup(func() { _ = server.Close() })
	go func() { _ = server.Serve(newHearing(l, server, slog.New(slog.NewTextHandler(log, nil)))) }()
	send := func(text string) string {
		conn, err := net.Dial("tcp", l.Addr().String())
		require.NoError(t, err)
		defer func() { _ = conn.Close() }()
		_, err = io.WriteString(conn, text)
		require.NoError(t, err)
		require.NoError(t, conn.(*net.TCPConn).CloseWrite())
		line, _ := bufio.NewReader(conn).ReadString('\n') // some get no answer
		return line
	}
	assert.Contains(t, send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi"), "200 OK")
	assert.Empty(t, log.String())
	for text, speaks := range map[string]string{
		"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x03":                     "speaks=TLS",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n":                             "speaks=HTTP/2",
		"PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\nGET / HTTP/1.1\r\n\r\n": `speaks="the PROXY protocol"`,
		"\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c":                       `speaks="the PROXY protocol"`,
	} {
		for range 3 {
			send(text)
		}
		assert.Contains(t, log.String(), speaks)
	}
	assert.Equal(t, 3, strings.Count(log.String(), "level=WARN"), log.String())
	assert.Contains(t, send("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), "200 OK")
}

// withoutFiles is a listener that lacks a file for each connection after the first, until one is closed.
type withoutFiles struct {
	net.Listener
	open chan struct{} // has an entry for each open connection
}

func (l *withoutFiles) Accept() (net.Conn, error) {
	select {
	case l.open <- struct{}{}:
	default:
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: syscall.EMFILE}
	}
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &countedConn{Conn: conn, open: l.open}, nil
}

type countedConn struct {
	net.Conn
	open chan struct{}
	once sync.Once
}

func (c *countedConn) Close() error {
	c.once.Do(func() { <-c.open })
	return c.Conn.Close()
}

// TestIdleConnectionsGiveWay has a server that lacks files for further connections, because idle ones have
// them: those are closed, and the log says what to allow.
func TestIdleConnectionsGiveWay(t *testing.T) {
	t.Parallel()
	log := &syncBuffer{}
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l := &withoutFiles{Listener: inner, open: make(chan struct{}, 2)}
	server := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})} //nolint:gosec // a test
	t.Cleanup(func() { _ = server.Close() })
	go func() { _ = server.Serve(newHearing(l, server, slog.New(slog.NewTextHandler(log, nil)))) }()
	url := "http://" + inner.Addr().String()
	for range 6 { // each leaves an idle connection
		client := &http.Client{Transport: &http.Transport{}, Timeout: time.Minute}
		t.Cleanup(client.CloseIdleConnections)
		res, err := client.Get(url)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		assert.Equal(t, http.StatusOK, res.StatusCode)
	}
	assert.Contains(t, log.String(), "no file is left for a connection")
	assert.Equal(t, 1, strings.Count(log.String(), "level=ERROR"))
	assert.Contains(t, log.String(), "LimitNOFILE")
}
