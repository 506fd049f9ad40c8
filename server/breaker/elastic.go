package breaker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/freshet/freshet/internal/esindex"
)

// Elastic guards every request to Elasticsearch. It also limits their time, so that a request that
// hangs leaves time to answer without it.
type Elastic struct {
	*Breaker
	next    http.RoundTripper
	timeout time.Duration
}

// bulkLongest is the time limit of a request that writes many documents. One that never ended would
// hide that Elasticsearch does not answer.
const bulkLongest = 30 * time.Second

// NewElastic puts a breaker in front of next. The time limit of a request is timeout, that of a
// bulk request half a minute if that is longer.
func NewElastic(next http.RoundTripper, timeout time.Duration, log *slog.Logger) Elastic {
	return Elastic{New("elasticsearch", log, "search", "mget", "bulk", "other"), next, timeout}
}

// elasticCall returns the kind of a request by its path.
func elasticCall(path string) string {
	switch path[strings.LastIndexByte(path, '/')+1:] {
	case "_search":
		return "search"
	case "_mget":
		return "mget"
	case "_bulk":
		return "bulk"
	}
	return "other"
}

// RoundTrip implements [http.RoundTripper].
func (b Elastic) RoundTrip(req *http.Request) (*http.Response, error) {
	kind := elasticCall(req.URL.Path)
	ctx, call, err := b.Enter(req.Context(), kind, kind, 0)
	if err != nil {
		return nil, fmt.Errorf("elasticsearch: %w", err)
	}
	longest := b.timeout
	if kind == "bulk" {
		longest = max(longest, bulkLongest)
	}
	ctx, cancel := context.WithTimeout(ctx, longest)
	res, err := b.next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		late := errors.Is(ctx.Err(), context.DeadlineExceeded)
		cancel()
		b.dropIdle(err)
		switch {
		case late:
			ask := pingAs(req) // the client may already be sending req to another node
			call.Late(ctx, err, func(ctx context.Context) error {
				// What can no longer be connected to may still answer over the connections that are open.
				return b.ping(ask.WithContext(esindex.Over(ctx, esindex.AnyConnection)))
			})
		case errors.Is(err, context.Canceled):
			call.Leave(errCallerGone)
		default:
			call.Leave(err)
		}
		return nil, err
	}
	down := unavailable(res)
	call.Leave(down)
	b.dropIdle(down)
	res.Body = &cancelling{ReadCloser: res.Body, cancel: cancel, failed: b.dropIdle}
	return res, nil
}

// unavailable returns an error if the response means that Elasticsearch is unavailable.
func unavailable(res *http.Response) error {
	if res.StatusCode == http.StatusServiceUnavailable || res.StatusCode == http.StatusGatewayTimeout {
		return fmt.Errorf("elasticsearch %w %d", errAnswers, res.StatusCode)
	}
	return nil
}

// errAnswers is wrapped by the error of an answer that means that Elasticsearch is unavailable.
var errAnswers = errors.New("answers")

// pingAs returns a request for / to the node that req was sent to.
func pingAs(req *http.Request) *http.Request {
	ask := req.Clone(req.Context())
	ask.Method, ask.Body, ask.GetBody, ask.ContentLength = http.MethodHead, nil, nil, 0
	ask.URL.Path, ask.URL.RawPath, ask.URL.RawQuery = "/", "", ""
	return ask
}

func (b Elastic) ping(req *http.Request) error {
	res, err := b.next.RoundTrip(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	return unavailable(res)
}

// dropIdle closes the idle connections when a request timed out, or the node cannot answer. Its
// connection may have died silently, at a firewall or because an address moved, and then the idle
// ones are dead too: each would cost another request its time. A node that has left its cluster
// answers 503 on every connection to it, while the address may lead to another node by now.
func (b Elastic) dropIdle(err error) {
	wrong := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errAnswers)
	if t, ok := b.next.(interface{ CloseIdleConnections() }); ok && wrong {
		t.CloseIdleConnections()
	}
}

// cancelling cancels a request's context when its body is closed.
type cancelling struct {
	io.ReadCloser
	cancel context.CancelFunc
	failed func(error)
}

// Read reads from the body.
func (c *cancelling) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		c.failed(err)
	}
	return n, err
}

// Close closes the body and cancels the context.
func (c *cancelling) Close() error {
	defer c.cancel()
	return c.ReadCloser.Close()
}
