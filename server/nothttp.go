package server

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/freshet/freshet/server/rlimit"
)

// A gateway that speaks something else than HTTP/1.1 to a server gets no answer, or one that it does not
// show, and reports the server as broken. Only the server can say why.

// protocols are the beginnings of connections that are not HTTP/1.1.
var protocols = []struct{ begins, speaks, fix string }{
	{"\x16\x03", "TLS", "let the gateway, the load balancer and their health checks connect with http://, not https://"},
	{"PRI * HTTP/2.0", "HTTP/2", "let the gateway connect with HTTP/1.1"},
	{"PROXY ", "the PROXY protocol", "turn that off for this target; the caller's address is not needed"},
	{"\r\n\r\n\x00\r\nQUIT\n", "the PROXY protocol", "turn that off for this target; the caller's address is not needed"},
}

// sayEvery is the least time between two log lines about the same: health checks repeat.
const sayEvery = time.Hour

// hearing is a listener that logs when a connection begins with another protocol than HTTP/1.1, and makes
// room when no file is left for a connection.
type hearing struct {
	net.Listener
	log       *slog.Logger
	closeIdle func() // closes connections without a call in progress

	mu   sync.Mutex
	said map[string]time.Time // when each line was logged
}

func newHearing(l net.Listener, server *http.Server, log *slog.Logger) *hearing {
	return &hearing{Listener: l, log: log, said: map[string]time.Time{}, closeIdle: func() {
		server.SetKeepAlivesEnabled(false) // closes those that are idle
		server.SetKeepAlivesEnabled(true)
	}}
}

// Accept implements [net.Listener].
func (h *hearing) Accept() (net.Conn, error) {
	conn, err := h.Listener.Accept()
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		h.closeIdle() // the server tries again
		if h.due("no files") {
			h.log.Error("no file is left for a connection; idle ones are closed", "limit", rlimit.Limit(), "fix", rlimit.Advice)
		}
	}
	if err != nil {
		return nil, err
	}
	return &watchedConn{Conn: conn, of: h}, nil
}

func (h *hearing) note(first []byte, from net.Addr) {
	for _, p := range protocols {
		if !bytes.HasPrefix(first, []byte(p.begins)) {
			continue
		}
		if h.due(p.speaks) {
			h.log.Warn("a connection is not HTTP/1.1, and gets no answer that it understands", "speaks", p.speaks, "from", from.String(), "fix", p.fix)
		}
		return
	}
}

// due reports whether a log line may be written again.
func (h *hearing) due(about string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if time.Since(h.said[about]) < sayEvery {
		return false
	}
	h.said[about] = time.Now()
	return true
}

// watchedConn is a connection whose first bytes are looked at.
type watchedConn struct {
	net.Conn
	of   *hearing
	read bool // only the server's one reader uses it
}

// Read implements [net.Conn].
func (c *watchedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && !c.read {
		c.read = true
		c.of.note(p[:n], c.RemoteAddr())
	}
	return n, err
}

// ReadFrom implements [io.ReaderFrom], with which the kernel copies files.
func (c *watchedConn) ReadFrom(from io.Reader) (int64, error) { return io.Copy(c.Conn, from) }
