package stores

import (
	"context"
	"io"
	"net"
	"sync"
	"time"

	"github.com/freshet/freshet/bench/prove"
)

// Gate passes connections on to a server, until a fault cuts or stops them.
type Gate struct {
	Addr string // where it listens

	server   string
	listener net.Listener
	wg       sync.WaitGroup
	flow     sync.RWMutex // locked while nothing is passed on

	mu      sync.Mutex
	conns   map[net.Conn]bool
	refuses bool
}

// NewGate opens a gate in front of a server.
func NewGate(ctx context.Context, server string) (*Gate, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	g := &Gate{Addr: l.Addr().String(), server: server, listener: l, conns: map[net.Conn]bool{}}
	g.wg.Go(func() { g.accept(context.WithoutCancel(ctx)) })
	return g, nil
}

// Faults are a cut of all connections and a silence, of a service with a name.
func (g *Gate) Faults(name string) []prove.Fault {
	return []prove.Fault{
		{Name: "all connections to " + name + " are cut, and refused for a second", Do: g.Cut},
		{Name: name + " does not answer for two seconds", Do: g.Silence},
	}
}

// Cut cuts all connections and refuses new ones for a second.
func (g *Gate) Cut(ctx context.Context) error {
	g.refuse(true)
	_ = pause(ctx, downFor)
	g.refuse(false)
	return nil
}

// Silence passes nothing on for two seconds.
func (g *Gate) Silence(ctx context.Context) error {
	g.flow.Lock()
	defer g.flow.Unlock()
	_ = pause(ctx, pausedFor)
	return nil
}

// Close cuts all connections for good.
func (g *Gate) Close() error {
	err := g.listener.Close()
	g.refuse(true)
	g.wg.Wait()
	return err
}

func (g *Gate) refuse(on bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.refuses = on
	for c := range g.conns {
		if on {
			_ = c.Close()
		}
	}
}

// keep notes a connection, or closes it.
func (g *Gate) keep(c net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.refuses {
		_ = c.Close()
		return false
	}
	g.conns[c] = true
	return true
}

func (g *Gate) drop(c net.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	_ = c.Close()
	delete(g.conns, c)
}

func (g *Gate) accept(ctx context.Context) {
	for {
		near, err := g.listener.Accept()
		if err != nil {
			return
		}
		if g.keep(near) {
			g.wg.Go(func() { g.pass(ctx, near) })
		}
	}
}

// pass connects to the server and passes on both directions until one ends.
func (g *Gate) pass(ctx context.Context, near net.Conn) {
	defer g.drop(near)
	dialer := net.Dialer{Timeout: 5 * time.Second}
	far, err := dialer.DialContext(ctx, "tcp", g.server)
	if err != nil || !g.keep(far) {
		return
	}
	defer g.drop(far)
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(slow{near, &g.flow}, far)
		_ = near.Close()
	})
	_, _ = io.Copy(slow{far, &g.flow}, near)
	_ = far.Close()
	back.Wait()
}

// slow writes only while the flow is open.
type slow struct {
	io.Writer
	flow *sync.RWMutex
}

func (s slow) Write(p []byte) (int, error) {
	s.flow.RLock()
	defer s.flow.RUnlock()
	return s.Writer.Write(p)
}
