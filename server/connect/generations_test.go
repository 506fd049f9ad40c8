package connect

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/internal/testenv/faultproxy"
)

// TestAddressMovedToOtherNode leads an address from one node to another without cutting a
// connection. Requests stay with the first while it answers; they go to the second once the first
// cannot answer, after a renewal, and when the connections are old.
func TestAddressMovedToOtherNode(t *testing.T) {
	var status atomic.Int64
	node := func(name string) *httptest.Server {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Elastic-Product", "Elasticsearch")
			if name == "first" {
				w.WriteHeader(int(status.Load()))
			}
			_, _ = io.WriteString(w, `{"name":"`+name+`"}`)
		}))
		t.Cleanup(s.Close)
		return s
	}
	first, second := node("first"), node("second")
	for name, c := range map[string]struct {
		change func(ctx context.Context, client esindex.Client, g *generations) error
		then   string
	}{
		"nothing": {func(context.Context, esindex.Client, *generations) error { return nil }, "first"},
		"one new connection": {func(ctx context.Context, client esindex.Client, _ *generations) error {
			return esindex.Do(esindex.Over(ctx, esindex.NewConnection), client, http.MethodGet, "/", "", nil, nil)
		}, "first"},
		"renewed": {func(ctx context.Context, client esindex.Client, _ *generations) error {
			return esindex.Renew(ctx, client)
		}, "second"},
		"the node has left its cluster": {func(context.Context, esindex.Client, *generations) error {
			status.Store(http.StatusServiceUnavailable)
			return nil
		}, "second"},
		"old": {func(_ context.Context, _ esindex.Client, g *generations) error {
			g.began = g.began.Add(-elasticLifetime)
			return nil
		}, "second"},
	} {
		t.Run(name, func(t *testing.T) {
			status.Store(http.StatusOK)
			address := faultproxy.StartRaw(t, first.Listener.Addr().String())
			cfg := configs.Default()
			cfg.Elasticsearch.Addresses = []string{"http://" + address.Addr}
			transport, err := elasticTransport(cfg)
			require.NoError(t, err)
			client, err := elasticOver(cfg, transport, slog.New(slog.DiscardHandler))
			require.NoError(t, err)
			answers := func() string {
				var by struct{ Name string }
				require.NoError(t, esindex.Ask(t.Context(), client, http.MethodGet, "/", "", nil, &by))
				return by.Name
			}
			require.Equal(t, "first", answers())
			address.Lead(second.Listener.Addr().String())
			transport.began = time.Now().Add(-renewEvery) // not renewed a moment ago
			require.NoError(t, c.change(t.Context(), client, transport))
			assert.Equal(t, c.then, answers())
		})
	}
}

// TestUnknownNamesKeepConnections has nodes whose name cannot be looked up any more, while open connections
// to them work: they are not replaced, neither because a request was late nor because they are old.
func TestUnknownNamesKeepConnections(t *testing.T) {
	t.Parallel()
	dropped := make(chan struct{})
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		select { // as a server that drops packets
		case <-ctx.Done():
		case <-dropped:
		}
		return nil, errors.New("no answer")
	}}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Resolver: resolver}).DialContext
	g := newGenerations(transport)
	renews := func() bool {
		before := g.now
		for _, renew := range []func(){g.CloseIdleConnections, func() { g.present(elasticLifetime) }} {
			g.began = time.Now().Add(-2 * elasticLifetime)
			renew()
		}
		return g.now != before
	}
	asked := make(chan error, 1)
	go func() {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://elastic.test:9200", nil)
		if err == nil {
			_, err = g.RoundTrip(req) //nolint:bodyclose // there is none
		}
		asked <- err
	}()
	testenv.WaitFor(t, g.names.unknown, "a lookup")
	assert.False(t, renews(), "a lookup gets no answer")
	close(dropped)
	require.Error(t, <-asked)
	testenv.WaitFor(t, func() bool { g.names.mu.Lock(); defer g.names.mu.Unlock(); return g.names.running == 0 }, "the end of the lookup")
	assert.False(t, renews(), "the lookup failed")
	g.names.begin(httptrace.DNSStartInfo{})
	g.names.end(httptrace.DNSDoneInfo{})
	assert.True(t, renews())
}
