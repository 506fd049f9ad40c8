// Package faultproxy is a proxy between the system under test and real servers, Redis or
// PostgreSQL, that injects the failures that tests choose. It parses the server's protocol just
// enough to separate requests and replies. So a test can cut a connection before a certain request
// reaches the server, after the server has executed it, or within its reply; and it can record the
// requests, to do that to each of them.
package faultproxy

import (
	"bytes"
	"context"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Proxy is a proxy in front of one server, or of all nodes of a Redis Cluster. It does not support
// subscriptions and inline commands of Redis.
type Proxy struct {
	// Addrs are the proxy's addresses for the servers, in their order.
	Addrs []string

	protocol  func() protocol   // of a new connection
	ports     map[string]string // of a cluster's nodes: the node's port → the proxy's
	listeners []net.Listener
	ctx       context.Context // ends with the test
	wg        sync.WaitGroup

	mu       sync.Mutex
	conns    map[*conn]struct{}
	armed    []*Armed
	servers  []string  // by the proxy's address
	refusing time.Time // new connections are closed until then
	down     bool
	record   bool
	recorded []Command
}

// Start starts a proxy in front of Redis servers that runs until the test ends. Several servers are
// the nodes of a cluster: in their replies about the cluster's layout, the proxy's ports replace
// theirs.
func Start(t testing.TB, servers ...string) *Proxy {
	t.Helper()
	return start(t, func() protocol { return resp{} }, servers...)
}

func start(t testing.TB, speaks func() protocol, servers ...string) *Proxy {
	t.Helper()
	ctx, end := context.WithCancel(context.WithoutCancel(t.Context()))
	p := &Proxy{ctx: ctx, protocol: speaks, conns: map[*conn]struct{}{}, ports: map[string]string{}, servers: slices.Clone(servers)}
	t.Cleanup(func() { end(); p.close() })
	for _, server := range servers {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		p.listeners = append(p.listeners, l)
		p.Addrs = append(p.Addrs, l.Addr().String())
		if len(servers) > 1 {
			p.ports[port(server)] = port(l.Addr().String())
		}
	}
	for i, l := range p.listeners {
		p.wg.Go(func() { p.accept(l, i) })
	}
	return p
}

func port(addr string) string { return addr[strings.LastIndexByte(addr, ':')+1:] }

func (p *Proxy) close() {
	for _, l := range p.listeners {
		_ = l.Close()
	}
	p.hangUp(nil)
	p.wg.Wait()
}

// Arm makes a fault wait for its request.
func (p *Proxy) Arm(f Fault) *Armed {
	a := newArmed(f)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.armed = append(slices.DeleteFunc(p.armed, (*Armed).Fired), a)
	return a
}

// Disarm removes a fault that has not met its request.
func (p *Proxy) Disarm(a *Armed) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.armed = slices.DeleteFunc(p.armed, func(other *Armed) bool { return other == a })
}

// Record runs f and returns the requests sent during that time, in the order of arrival, without
// those by which a client introduces itself.
func (p *Proxy) Record(f func()) []Command {
	p.mu.Lock()
	p.record, p.recorded = true, nil
	p.mu.Unlock()
	f()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.record = false
	return p.recorded
}

// Down cuts all connections and refuses new ones until Up.
func (p *Proxy) Down() {
	p.mu.Lock()
	p.down = true
	p.mu.Unlock()
	p.hangUp(nil)
}

// Up allows connections again, whatever has refused them.
func (p *Proxy) Up() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down, p.refusing = false, time.Time{}
}

// Lead makes the proxy's only address lead to another server from now on, as a name or a virtual IP
// does after a failover. Existing connections stay where they are.
func (p *Proxy) Lead(server string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.servers[0] = server
}

// HangUp cuts all connections.
func (p *Proxy) HangUp() { p.hangUp(nil) }

// refuse closes every connection except one, and new ones for a while.
func (p *Proxy) refuse(but *conn, d time.Duration) {
	p.mu.Lock()
	p.refusing = time.Now().Add(d)
	p.mu.Unlock()
	p.hangUp(but)
}

func (p *Proxy) hangUp(but *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		if c != but {
			c.hangUp()
		}
	}
}

// meet records a request and returns the fault that applies to it, if any.
func (p *Proxy) meet(c Command) *Armed {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.record && c.Name() != "hello" && c.Name() != "client" {
		p.recorded = append(p.recorded, c)
	}
	var hit *Armed
	for _, a := range p.armed {
		if a.meets(c) && hit == nil {
			a.fired.Store(true)
			hit = a
		}
	}
	return hit
}

func (p *Proxy) accept(l net.Listener, i int) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		server := p.servers[i]
		p.mu.Unlock()
		p.wg.Go(func() { p.serve(client.(*net.TCPConn), server) })
	}
}

func (p *Proxy) serve(client *net.TCPConn, server string) {
	defer func() { _ = client.Close() }()
	far, err := new(net.Dialer).DialContext(p.ctx, "tcp", server)
	if err != nil {
		return
	}
	defer func() { _ = far.Close() }()
	c := newConn(p, client, far.(*net.TCPConn))
	if p.keep(c) {
		c.run()
		p.forget(c)
	}
}

func (p *Proxy) keep(c *conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() != nil || p.down || time.Now().Before(p.refusing) {
		return false
	}
	p.conns[c] = struct{}{}
	return true
}

func (p *Proxy) forget(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

// pause waits for a fault's delay, but not beyond the end of the test.
func (p *Proxy) pause(hit *Armed) {
	timer := time.NewTimer(hit.fault.For)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-hit.released:
	case <-p.ctx.Done():
	}
}

// rename replaces the nodes' ports in a reply with the cluster's layout. Integers are encoded
// without a length, so no length has to be changed.
func (p *Proxy) rename(reply []byte) []byte {
	for own, here := range p.ports {
		reply = bytes.ReplaceAll(reply, []byte(":"+own+"\r\n"), []byte(":"+here+"\r\n"))
	}
	return reply
}
