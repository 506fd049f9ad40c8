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
)

// Elastic stands in front of every request to Elasticsearch. It also
// bounds them, so that a request that hangs leaves time to answer without it.
type Elastic struct {
	*Breaker
	next    http.RoundTripper
	timeout time.Duration
}

// bulkLongest is the longest request that writes many documents. One that never ends would
// hide that nobody answers.
const bulkLongest = 30 * time.Second

// NewElastic puts a breaker in front of next. A request takes timeout at most, one that
// writes many documents half a minute.
func NewElastic(next http.RoundTripper, timeout time.Duration, log *slog.Logger) Elastic {
	return Elastic{New("elasticsearch", log, "search", "mget", "bulk", "other"), next, timeout}
}

// elasticCall names the kind of a request by its path.
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
			ask := pingAs(req) // the client may send req elsewhere meanwhile
			call.Late(ctx, err, func(ctx context.Context) error { return b.ping(ask.WithContext(ctx)) })
		case errors.Is(err, context.Canceled):
			call.Leave(errCallerGone)
		default:
			call.Leave(err)
		}
		return nil, err
	}
	call.Leave(unavailable(res))
	res.Body = &cancelling{ReadCloser: res.Body, cancel: cancel, failed: b.dropIdle}
	return res, nil
}

// unavailable returns an error where a response says that Elasticsearch cannot be asked.
func unavailable(res *http.Response) error {
	if res.StatusCode == http.StatusServiceUnavailable || res.StatusCode == http.StatusGatewayTimeout {
		return fmt.Errorf("elasticsearch answers %d", res.StatusCode)
	}
	return nil
}

// pingAs returns a request that asks the node that req went to for nothing but an answer.
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

// dropIdle closes the connections that are idle when a request got no answer in time. What
// it was sent on may have died silently, at a firewall or with an address that moved, and
// then they have, too: each would cost another request its time.
func (b Elastic) dropIdle(err error) {
	if t, ok := b.next.(interface{ CloseIdleConnections() }); ok && errors.Is(err, context.DeadlineExceeded) {
		t.CloseIdleConnections()
	}
}

// cancelling ends a request's context when its body has been read.
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

// Close closes the body and ends the context.
func (c *cancelling) Close() error {
	defer c.cancel()
	return c.ReadCloser.Close()
}
