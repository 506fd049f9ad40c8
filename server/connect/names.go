package connect

import (
	"context"
	"net"
	"net/http/httptrace"
	"sync"
)

// names knows whether the host names of nodes can be looked up now. While they cannot, connections that are
// open cannot be replaced.
type names struct {
	mu      sync.Mutex
	running int  // lookups
	failed  bool // the last lookup
}

// unknown reports whether a lookup is running, which may be one that gets no answer, or the last one failed.
func (n *names) unknown() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.running > 0 || n.failed
}

func (n *names) begin(httptrace.DNSStartInfo) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.running++
}

func (n *names) end(of httptrace.DNSDoneInfo) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.running--
	n.failed = of.Err != nil
}

// watched returns a dial function whose lookups n knows.
func (n *names) watched(dial func(context.Context, string, string) (net.Conn, error)) func(context.Context, string, string) (net.Conn, error) {
	trace := &httptrace.ClientTrace{DNSStart: n.begin, DNSDone: n.end}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		return dial(httptrace.WithClientTrace(ctx, trace), network, addr)
	}
}
