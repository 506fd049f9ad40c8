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

// Raw is a network before one server of any protocol, whose connections can die without
// either end being told, as they do at a firewall that forgets them.
type Raw struct {
	Addr string // stands for the server
	Made atomic.Int64

	mu    sync.Mutex
	conns []*rawConn
}

// rawConn is a connection through the network.
type rawConn struct {
	client, server net.Conn
	dead           atomic.Bool
}

// StartRaw stands in front of a server until the test ends.
func StartRaw(t testing.TB, server string) *Raw {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &Raw{Addr: l.Addr().String()}
	ctx := context.WithoutCancel(t.Context())
	var copying sync.WaitGroup
	copying.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			far, err := new(net.Dialer).DialContext(ctx, "tcp", server)
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
		r.mu.Lock()
		for _, c := range r.conns {
			_ = c.client.Close()
			_ = c.server.Close()
		}
		r.mu.Unlock()
		copying.Wait()
	})
	return r
}

// Blackhole lets the connections that there are die: what is sent on them is taken and
// arrives nowhere. New ones work.
func (r *Raw) Blackhole() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.conns {
		c.dead.Store(true)
	}
}

// copy passes on what comes, unless the connection is dead.
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
