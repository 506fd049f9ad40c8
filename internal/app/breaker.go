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

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/internal/rediskeys"
)

// redisBreaker is a hook of the Redis client, so it stands in front of every
// backend that uses the client.
type redisBreaker struct {
	*dependency
	patience time.Duration // longest call of a feed request, with the client's own retries
	masters  *masters      // nil: they are not watched
}

func newRedisBreaker(name string, patience time.Duration, m *masters, log *slog.Logger) redisBreaker {
	return redisBreaker{newDependency(name, log, "command", "pipeline"), patience, m}
}

var _ redis.Hook = redisBreaker{}

// passed marks the context of a call that the breaker has let through: what the
// client does on its behalf, such as greeting the server on a new connection,
// is a part of it.
type passed struct{}

// greeting is the first command on a new connection.
const greeting = "hello"

// guard runs a call if the breaker lets it; refused is called if not.
func (b redisBreaker) guard(ctx context.Context, kind, what string, batch int, run func(context.Context) error, refused func(error)) error {
	if ctx.Value(passed{}) != nil {
		if what == greeting {
			b.masters.waiting().connect(ctx)
		}
		return run(ctx)
	}
	r := requestOf(ctx)
	if r.givenUp() {
		err := fmt.Errorf("%s: %w: %w", b.name, rediskeys.ErrNotSent, b.refuse(ctx, errGivenUp))
		refused(err)
		return err
	}
	if r.begins() {
		b.masters.waiting().begin(ctx)
	}
	ctx, c, err := b.enter(ctx, kind, what, batch)
	if err != nil {
		err = fmt.Errorf("%s: %w: %w", b.name, rediskeys.ErrNotSent, err)
		refused(err)
		return err
	}
	ctx = context.WithValue(ctx, passed{}, true)
	if r == nil {
		err = run(ctx)
	} else {
		err = b.patiently(ctx, run)
		r.learn(err)
	}
	c.leave(broken(err))
	return err
}

const (
	firstPause   = 20 * time.Millisecond // before a call is made again; it doubles
	longestPause = 200 * time.Millisecond
)

// patiently makes a call of a request, again and again while Redis gives no
// answer, until the patience is at its end: a Redis that comes back meanwhile,
// after a failover or a restart, is not one that is down. Every command may be
// made twice: page steps have records, adding and removing is idempotent.
func (b redisBreaker) patiently(ctx context.Context, run func(context.Context) error) error {
	ctx, done := context.WithTimeout(ctx, b.patience)
	defer done()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := run(ctx)
		if !rediskeys.Silent(err) {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
	}
}

// broken returns err where it counts against Redis: it could not be asked, and not because
// the caller went away. A master whose replicas are late can be asked.
func broken(err error) error {
	if rediskeys.Unreachable(err) && !errors.Is(err, rediskeys.ErrShort) {
		return err
	}
	return nil
}

// wait guards the writes that wait for replicas ([rediskeys.Replicas]).
func (b redisBreaker) wait(ctx context.Context, call func(context.Context) error) error {
	return b.guard(ctx, "pipeline", "wait", 0, call, func(error) {})
}

func (b redisBreaker) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := next(ctx, network, addr)
		if err == nil { // through Sentinels, addr is not the server's
			b.masters.dialled(conn.RemoteAddr().String())
		}
		return conn, err
	}
}

func (b redisBreaker) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		return b.guard(ctx, "command", cmd.Name(), 0, func(ctx context.Context) error { return next(ctx, cmd) }, cmd.SetErr)
	}
}

func (b redisBreaker) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		return b.guard(ctx, "pipeline", "pipeline", len(cmds), func(ctx context.Context) error { return next(ctx, cmds) }, func(err error) {
			for _, cmd := range cmds {
				cmd.SetErr(err)
			}
		})
	}
}

// elasticBreaker stands in front of every request to Elasticsearch. It also
// bounds them, so that a request that hangs leaves time to answer without it.
type elasticBreaker struct {
	*dependency
	next    http.RoundTripper
	timeout time.Duration
}

func newElasticBreaker(next http.RoundTripper, timeout time.Duration, log *slog.Logger) elasticBreaker {
	return elasticBreaker{newDependency("elasticsearch", log, "search", "mget", "bulk", "other"), next, timeout}
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
func (b elasticBreaker) RoundTrip(req *http.Request) (*http.Response, error) {
	kind := elasticCall(req.URL.Path)
	ctx, call, err := b.enter(req.Context(), kind, kind, 0)
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
			call.leave(errCallerGone)
		} else {
			call.leave(err)
		}
		return nil, err
	}
	if res.StatusCode == http.StatusServiceUnavailable || res.StatusCode == http.StatusGatewayTimeout {
		call.leave(fmt.Errorf("elasticsearch answers %d", res.StatusCode))
	} else {
		call.leave(nil)
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
