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

	"github.com/freshet/freshet/internal/app"
	"github.com/freshet/freshet/internal/esindex"
)

// watch adds up the time spent in the client libraries by calls whose context
// [watched] made, and keeps what they sent last, to send it again without us.
type watch struct {
	elastic, redis, wire atomic.Int64
	capture              atomic.Bool // keep what is sent

	// What is asked at the same time counts once: busy is the time in which at
	// least one call was under way.
	busyMu   sync.Mutex
	underWay int
	began    time.Time
	busy     time.Duration

	mu     sync.Mutex
	search []byte  // body of the last search
	check  [][]any // commands of the last pipeline that asked a Bloom filter
}

func newWatch() *watch {
	w := &watch{}
	w.capture.Store(true)
	return w
}

// spent breaks the time of a refresh down.
type spent struct{ total, busy, elastic, redis, wire time.Duration }

func (s spent) plus(t spent) spent {
	return spent{s.total + t.total, s.busy + t.busy, s.elastic + t.elastic, s.redis + t.redis, s.wire + t.wire}
}

// own is Freshet's share, where all that the libraries do counts as the
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

// since is the difference to before, over a call that took so long.
func (w *watch) since(before spent, took time.Duration) spent {
	after := w.now()
	return spent{took, after.busy - before.busy, after.elastic - before.elastic, after.redis - before.redis, after.wire - before.wire}
}

type watchedKey struct{}

// watched marks calls as those of what is measured. The recorder's, which come
// in between, are not.
func watched(ctx context.Context) context.Context { return context.WithValue(ctx, watchedKey{}, true) }

func isWatched(ctx context.Context) bool { return ctx.Value(watchedKey{}) != nil }

// time times a call to a service until the function it returns is called.
func (w *watch) time(ctx context.Context, to *atomic.Int64) func() {
	if !isWatched(ctx) {
		return func() {}
	}
	start := time.Now()
	w.busyMu.Lock()
	defer w.busyMu.Unlock()
	if w.underWay++; w.underWay == 1 {
		w.began = start
	}
	return func() {
		end := time.Now()
		to.Add(int64(end.Sub(start)))
		w.busyMu.Lock()
		defer w.busyMu.Unlock()
		if w.underWay--; w.underWay == 0 {
			w.busy += end.Sub(w.began)
		}
	}
}

// onWire times a connection, which knows no context, while a call is watched.
func (w *watch) onWire(start time.Time) {
	w.busyMu.Lock()
	defer w.busyMu.Unlock()
	if w.underWay > 0 {
		w.wire.Add(int64(time.Since(start)))
	}
}

// hooks put the watch around the clients of a system that is opened with them.
func (w *watch) hooks() app.Option {
	return app.WithHooks(app.Hooks{
		Redis:   redisWatch{w},
		Elastic: func(client esindex.Client) esindex.Client { return elasticWatch{client, w} },
	})
}

// redisWatch is a hook around whole commands and pipelines.
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

// keep copies a check: its arguments are used again for the next one.
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

// elasticWatch times a request until its answer has been read.
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
