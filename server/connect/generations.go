package connect

import (
	"net/http"
	"sync"
	"time"

	"github.com/freshet/freshet/internal/esindex"
)

const (
	// elasticLifetime bounds how long a connection to a node that its address no longer leads to can
	// remain in use: one of another cluster answers as well as the right one.
	elasticLifetime = 5 * time.Minute
	// renewEvery is the least time between two renewals because of answers that are wrong.
	renewEvery = time.Second / 2
)

// generations is a transport that replaces its connections: a request uses only connections of the
// present generation. Requests that are running continue.
type generations struct {
	alone *http.Transport // dials for each request
	names *names

	mu    sync.Mutex
	now   *http.Transport
	began time.Time
}

func newGenerations(t *http.Transport) *generations {
	n := &names{}
	t.DialContext = n.watched(t.DialContext)
	if t.DialTLSContext != nil {
		t.DialTLSContext = n.watched(t.DialTLSContext)
	}
	alone := t.Clone()
	alone.DisableKeepAlives = true
	return &generations{alone: alone, names: n, now: t, began: time.Now()}
}

// RoundTrip implements [http.RoundTripper]. The context says which connections to use: see
// [esindex.Over].
func (g *generations) RoundTrip(req *http.Request) (*http.Response, error) {
	switch esindex.ConnectionOf(req.Context()) {
	case esindex.NewConnection:
		return g.alone.RoundTrip(req)
	case esindex.NewConnections:
		return g.present(0).RoundTrip(req)
	}
	return g.present(elasticLifetime).RoundTrip(req)
}

// present returns the transport of the present generation, which is younger than oldest, unless the nodes'
// names are unknown now: a new one would have no connections. For 0 it is of a new one.
func (g *generations) present(oldest time.Duration) *http.Transport {
	g.mu.Lock()
	defer g.mu.Unlock()
	young := time.Since(g.began) < oldest
	if young || oldest > 0 && g.names.unknown() {
		return g.now
	}
	old := g.now
	g.now, g.began = old.Clone(), time.Now()
	old.CloseIdleConnections() // those in use become idle later, and are closed after IdleConnTimeout
	return g.now
}

// CloseIdleConnections begins another generation, unless that was done a moment ago.
func (g *generations) CloseIdleConnections() { g.present(renewEvery) }
