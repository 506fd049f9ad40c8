package faultproxy

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// Raw is a proxy in front of one server of any protocol. Its connections can die without notice to
// either end, as at a firewall that forgets them.
type Raw struct {
	Addr string // the proxy's address for the server
	Made atomic.Int64

	mu     sync.Mutex
	server string // of new connections
	conns  []*rawConn
}

// rawConn is a connection through the proxy.
type rawConn struct {
	client, server net.Conn
	dead           atomic.Bool
}

// StartRaw starts a proxy in front of a server that runs until the test ends.
func StartRaw(t testing.TB, server string) *Raw {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &Raw{Addr: l.Addr().String(), server: server}
	ctx := context.WithoutCancel(t.Context())
	var copying sync.WaitGroup
	copying.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			far, err := new(net.Dialer).DialContext(ctx, "tcp", r.target())
			if err != nil {
				_ = client.Close()
				continue
			}
			c := &rawConn{client: client, server: far}
			r.Made.Add(1)
			r.mu.Lock()
			r.conns = append(r.conns, c)
			r.mu.Unlock()
			copying.Go(func() { c.copy(far, client) })
			copying.Go(func() { c.copy(client, far) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		r.Sever()
		copying.Wait()
	})
	return r
}

// Lead makes the proxy's address lead to another server from now on. Existing connections stay where
// they are.
func (r *Raw) Lead(server string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.server = server
}

func (r *Raw) target() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.server
}

// Blackhole makes the existing connections die: data sent on them is accepted but not delivered.
// New ones work.
func (r *Raw) Blackhole() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.conns {
		c.dead.Store(true)
	}
}

// Sever closes the existing connections.
func (r *Raw) Sever() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.conns {
		_ = c.client.Close()
		_ = c.server.Close()
	}
	r.conns = nil
}

// copy forwards data, unless the connection is dead.
func (c *rawConn) copy(to, from net.Conn) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 && !c.dead.Load() {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err == nil {
			continue
		}
		if errors.Is(err, io.EOF) && !c.dead.Load() {
			_ = to.Close()
		}
		return
	}
}
