package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/redis/go-redis/v9"
	"github.com/sony/gobreaker/v2"

	"github.com/freshet/freshet/internal/rediskeys"
)

var breakerOpen = promauto.NewGaugeVec(prometheus.GaugeOpts{
	Name: "freshet_breaker_open", Help: "1 while calls to the dependency fail at once because it is down, 0.5 while it is tried again.",
}, []string{"dependency"})

// A breaker opens when most of a short while's calls have failed, and lets a
// few try again after a pause. So a dead dependency costs a few requests their
// timeout, not all of them.
const (
	breakerWindow = 10 * time.Second // over which calls are counted
	breakerCalls  = 5                // fewer say nothing
	breakerRatio  = 0.6              // of failed calls; one dead node of a three-node cluster stays below
	breakerPause  = 2 * time.Second
	breakerProbes = 3 // calls that try again at once, and must all succeed
)

func newBreaker(name string, log *slog.Logger) *gobreaker.TwoStepCircuitBreaker[any] {
	gauge := breakerOpen.WithLabelValues(name)
	gauge.Set(0)
	return gobreaker.NewTwoStepCircuitBreaker[any](gobreaker.Settings{
		Name: name, Interval: breakerWindow, Timeout: breakerPause, MaxRequests: breakerProbes,
		ReadyToTrip: func(c gobreaker.Counts) bool {
			return c.Requests >= breakerCalls && float64(c.TotalFailures) >= breakerRatio*float64(c.Requests)
		},
		OnStateChange: func(_ string, _, to gobreaker.State) {
			switch to {
			case gobreaker.StateOpen:
				gauge.Set(1)
				log.Warn("a dependency is down: calls fail at once for a while", "dependency", name, "pause", breakerPause.String())
			case gobreaker.StateHalfOpen:
				gauge.Set(0.5)
			default:
				gauge.Set(0)
				log.Info("a dependency is back", "dependency", name)
			}
		},
	})
}

// redisBreaker is a hook of the Redis client, so it stands in front of every
// backend that uses the client.
type redisBreaker struct {
	breaker *gobreaker.TwoStepCircuitBreaker[any]
}

var _ redis.Hook = redisBreaker{}

// passed marks the context of a call that the breaker has let through: what the
// client does on its behalf, such as greeting the server on a new connection,
// is a part of it.
type passed struct{}

// guard runs a call if the breaker lets it; refused is told if not.
func (b redisBreaker) guard(ctx context.Context, call func(context.Context) error, refused func(error)) error {
	if ctx.Value(passed{}) != nil {
		return call(ctx)
	}
	done, err := b.breaker.Allow()
	if err != nil {
		err = fmt.Errorf("redis: %w", err)
		refused(err)
		return err
	}
	err = call(context.WithValue(ctx, passed{}, true))
	done(broken(err))
	return err
}

// broken is what counts against Redis: it could not be asked, and not because
// the caller went away.
func broken(err error) error {
	if rediskeys.Unreachable(err) {
		return err
	}
	return nil
}

func (b redisBreaker) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (b redisBreaker) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		return b.guard(ctx, func(ctx context.Context) error { return next(ctx, cmd) }, cmd.SetErr)
	}
}

func (b redisBreaker) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		return b.guard(ctx, func(ctx context.Context) error { return next(ctx, cmds) }, func(err error) {
			for _, cmd := range cmds {
				cmd.SetErr(err)
			}
		})
	}
}

// elasticBreaker stands in front of every request to Elasticsearch. It also
// bounds them, so that a request that hangs leaves time to answer without it.
type elasticBreaker struct {
	breaker *gobreaker.TwoStepCircuitBreaker[any]
	next    http.RoundTripper
	timeout time.Duration
}

// RoundTrip implements [http.RoundTripper].
func (b elasticBreaker) RoundTrip(req *http.Request) (*http.Response, error) {
	done, err := b.breaker.Allow()
	if err != nil {
		return nil, fmt.Errorf("elasticsearch: %w", err)
	}
	cancel := func() {}
	if !strings.HasSuffix(req.URL.Path, "/_bulk") { // an upload takes as long as it takes
		var ctx context.Context
		ctx, cancel = context.WithTimeout(req.Context(), b.timeout)
		req = req.WithContext(ctx)
	}
	res, err := b.next.RoundTrip(req)
	if err != nil {
		cancel()
		if errors.Is(err, context.Canceled) {
			done(nil) // the caller went away
		} else {
			done(err)
		}
		return nil, err
	}
	if res.StatusCode == http.StatusServiceUnavailable || res.StatusCode == http.StatusGatewayTimeout {
		done(fmt.Errorf("elasticsearch answers %d", res.StatusCode))
	} else {
		done(nil)
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
