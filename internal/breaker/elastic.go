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

// NewElastic puts a breaker in front of next. A request takes timeout at most, but for
// uploads.
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
	cancel := func() {}
	if kind != "bulk" { // an upload takes as long as it takes
		ctx, cancel = context.WithTimeout(ctx, b.timeout)
	}
	res, err := b.next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		cancel()
		if errors.Is(err, context.Canceled) {
			call.Leave(errCallerGone)
		} else {
			call.Leave(err)
		}
		return nil, err
	}
	if res.StatusCode == http.StatusServiceUnavailable || res.StatusCode == http.StatusGatewayTimeout {
		call.Leave(fmt.Errorf("elasticsearch answers %d", res.StatusCode))
	} else {
		call.Leave(nil)
	}
	res.Body = &cancelling{ReadCloser: res.Body, cancel: cancel}
	return res, nil
}

// cancelling ends a request's context when its body has been read.
type cancelling struct {
	io.ReadCloser
	cancel context.CancelFunc
}

// Close closes the body and ends the context.
func (c *cancelling) Close() error {
	defer c.cancel()
	return c.ReadCloser.Close()
}
