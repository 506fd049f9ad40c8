package bench

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/server"
)

// watch sums the time spent in the client libraries by calls whose context [watched] made, and
// stores their last requests, to replay them without Freshet.
type watch struct {
	elastic, redis, wire atomic.Int64
	capture              atomic.Bool // store requests

	// Concurrent calls count once: busy is the time during which at least one call is in
	// progress.
	busyMu   sync.Mutex
	underWay int
	began    time.Time
	busy     time.Duration

	mu     sync.Mutex
	search []byte  // body of the last search
	check  [][]any // commands of the last pipeline with a Bloom filter check
}

func newWatch() *watch {
	w := &watch{}
	w.capture.Store(true)
	return w
}

// spent is the breakdown of the time of a refresh.
type spent struct{ total, busy, elastic, redis, wire time.Duration }

func (s spent) plus(t spent) spent {
	return spent{s.total + t.total, s.busy + t.busy, s.elastic + t.elastic, s.redis + t.redis, s.wire + t.wire}
}

// own returns Freshet's share of the time; all time in the client libraries counts as the
// services'.
func (s spent) own() float64 { return float64(s.total-s.busy) / float64(s.total) }

func (w *watch) now() spent {
	w.busyMu.Lock()
	defer w.busyMu.Unlock()
	return spent{
		busy: w.busy, elastic: time.Duration(w.elastic.Load()),
		redis: time.Duration(w.redis.Load()), wire: time.Duration(w.wire.Load()),
	}
}

// since returns the difference to before, for a call that took took.
func (w *watch) since(before spent, took time.Duration) spent {
	after := w.now()
	return spent{took, after.busy - before.busy, after.elastic - before.elastic, after.redis - before.redis, after.wire - before.wire}
}

type watchedKey struct{}

// watched marks the calls of the measured code. Concurrent calls of the recorder are not marked.
func watched(ctx context.Context) context.Context { return context.WithValue(ctx, watchedKey{}, true) }

func isWatched(ctx context.Context) bool { return ctx.Value(watchedKey{}) != nil }

// time measures a call to a service until the returned function is called.
func (w *watch) time(ctx context.Context, to *atomic.Int64) func() {
	if !isWatched(ctx) {
		return func() {}
	}
	start := time.Now()
	w.busyMu.Lock()
	defer w.busyMu.Unlock()
	w.underWay++
	if w.underWay == 1 {
		w.began = start
	}
	return func() {
		end := time.Now()
		to.Add(int64(end.Sub(start)))
		w.busyMu.Lock()
		defer w.busyMu.Unlock()
		w.underWay--
		if w.underWay == 0 {
			w.busy += end.Sub(w.began)
		}
	}
}

// onWire adds the time of a connection's call if a watched call is in progress; the connection
// has no context.
func (w *watch) onWire(start time.Time) {
	w.busyMu.Lock()
	defer w.busyMu.Unlock()
	if w.underWay > 0 {
		w.wire.Add(int64(time.Since(start)))
	}
}

// hooks installs the watch around the clients of a system.
func (w *watch) hooks() server.Option {
	return server.WithHooks(server.Hooks{
		Redis:   redisWatch{w},
		Elastic: func(client esindex.Client) esindex.Client { return elasticWatch{client, w} },
	})
}

// redisWatch measures whole commands and pipelines.
type redisWatch struct{ *watch }

func (w redisWatch) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := next(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return timedConn{conn, w.watch}, nil
	}
}

func (w redisWatch) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		defer w.time(ctx, &w.redis)()
		return next(ctx, cmd)
	}
}

func (w redisWatch) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		done := w.time(ctx, &w.redis)
		err := next(ctx, cmds)
		done()
		if w.capture.Load() {
			w.keep(cmds)
		}
		return err
	}
}

// keep copies a check, because the next one reuses its arguments.
func (w *watch) keep(cmds []redis.Cmder) {
	asks := false
	for _, cmd := range cmds {
		asks = asks || cmd.Name() == "bf.mexists"
	}
	if !asks {
		return
	}
	check := make([][]any, len(cmds))
	for i, cmd := range cmds {
		for _, arg := range cmd.Args() {
			if text, ok := arg.(*string); ok {
				arg = strings.Clone(*text)
			}
			check[i] = append(check[i], arg)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.check = check
}

type timedConn struct {
	net.Conn
	w *watch
}

func (c timedConn) Read(p []byte) (int, error) {
	defer c.w.onWire(time.Now())
	return c.Conn.Read(p)
}

func (c timedConn) Write(p []byte) (int, error) {
	defer c.w.onWire(time.Now())
	return c.Conn.Write(p)
}

// elasticWatch measures a request until its answer has been read.
type elasticWatch struct {
	next esindex.Client
	w    *watch
}

func (e elasticWatch) Perform(req *http.Request) (*http.Response, error) {
	if e.w.capture.Load() && strings.HasSuffix(req.URL.Path, "/_search") && req.GetBody != nil {
		if err := e.keep(req); err != nil {
			return nil, err
		}
	}
	defer e.w.time(req.Context(), &e.w.elastic)()
	res, err := e.next.Perform(req)
	if err == nil {
		res.Body = timedBody{res.Body, func() func() { return e.w.time(req.Context(), &e.w.elastic) }}
	}
	return res, err
}

func (e elasticWatch) keep(req *http.Request) error {
	body, err := req.GetBody()
	if err != nil {
		return err
	}
	var copied bytes.Buffer
	if _, err := copied.ReadFrom(body); err != nil {
		return err
	}
	e.w.mu.Lock()
	defer e.w.mu.Unlock()
	e.w.search = copied.Bytes()
	return nil
}

type timedBody struct {
	io.ReadCloser
	time func() func()
}

func (t timedBody) Read(p []byte) (int, error) {
	defer t.time()()
	return t.ReadCloser.Read(p)
}
