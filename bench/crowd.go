package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"sync"
	"time"
)

// Load of the crowd, per second. The rate of posts rises step by step until the server cannot
// keep up.
const (
	crowdReads   = 200
	crowdFollows = 10 // followed authors per reader
	crowdClients = 48
	lineBuffer   = 4 << 10 // bytes; there can be ten thousand lines
)

var crowdPosts = []int{50, 100, 200, 400, 700, 1000}

// crowdKinds are the kinds of requests, in the order of reports.
var crowdKinds = []string{"page", "publish", "delete", "unfollow"}

// demand is the requests of one kind in a step.
type demand struct {
	kind      string
	perSecond int
	from      time.Duration // after the beginning of the step: when the first is due
}

// crowdServices runs readers while authors publish and delete, at increasing rates until the
// server cannot keep up.
func (b *bench) crowdServices(ctx context.Context) (results []Result, err error) {
	readers, authors, rates, length := 10_000, 1000, crowdPosts, 2*b.o.Duration
	if b.o.Short {
		readers, authors, rates, length = 50, 10, []int{20}, 500*time.Millisecond
	}
	s, err := b.serveCrowd(ctx, readers, authors)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	c := &crowd{b: b, s: s, readers: readers, authors: authors, workers: crowdClients}
	for _, rate := range rates {
		what := fmt.Sprintf("%d posts, %d deletes and %d pages a second", rate, rate/10, crowdReads)
		r, kept, err := c.step(ctx, what, length, demand{"page", crowdReads, 0}, demand{"publish", rate, 0}, demand{"delete", max(1, rate/10), 0})
		if err != nil {
			return results, err
		}
		results = append(results, r)
		if !kept {
			break
		}
	}
	return results, nil
}

// serveCrowd starts a server on which each reader follows some of the authors and has a list.
func (b *bench) serveCrowd(ctx context.Context, readers, authors int) (*system, error) {
	if err := b.fillNetwork(ctx); err != nil {
		return nil, err
	}
	if err := b.exec(ctx,
		fmt.Sprintf(`INSERT INTO follows SELECT 'crowd' || r, 'voice' || (r * 7 + n * 13) %% %d, 1, 0
			FROM generate_series(0, %d) r, generate_series(0, %d) n ON CONFLICT DO NOTHING`, authors, readers-1, crowdFollows-1),
		`ANALYZE follows`); err != nil {
		return nil, err
	}
	s, err := b.serve(ctx, b.socialConfig(filepath.Join(b.dir, "network")))
	if err != nil {
		return nil, err
	}
	w := &writing{b: b, s: s}
	if err := w.warm(ctx, names(readers, crowdReader)); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

func crowdReader(i int) string { return fmt.Sprintf("crowd%d", i) }
func crowdAuthor(i int) string { return fmt.Sprintf("voice%d", i) }

// crowd holds the load of readers and authors, and its results.
type crowd struct {
	b                *bench
	s                *system
	readers, authors int
	workers          int              // requests that can be under way
	lines            map[string]*line // each agent's connection; nil: each worker has one

	mu        sync.Mutex
	turn      int // of the readers
	published []post
	deleted   []string // posts
	times     map[string]turn
}

// line is the connection of an agent, which its requests share.
type line struct {
	mu   sync.Mutex
	conn *client // nil before its first request
}

// post is a post with its author, who may delete it.
type post struct{ id, author string }

// task is a request that is due.
type task struct {
	at   time.Time
	kind string
}

// step sustains a load for a while. kept reports whether the server kept up: all requests are
// answered within 110 % of the time, and the queue then drains within length.
func (c *crowd) step(ctx context.Context, what string, length time.Duration, load ...demand) (r Result, kept bool, err error) {
	c.deleted = nil
	c.times = map[string]turn{}
	for _, kind := range crowdKinds {
		c.times[kind] = turn{times: newTimes()}
	}
	before, err := c.b.meter.read(ctx)
	if err != nil {
		return r, false, err
	}
	took, asked, err := c.ask(ctx, length, load)
	if err != nil {
		return r, false, err
	}
	after, err := c.b.meter.read(ctx)
	if err != nil {
		return r, false, err
	}
	left, err := c.s.Social.Stats(ctx)
	if err != nil {
		return r, false, err
	}
	drained, err := timed(func() error { return c.b.idle(ctx, c.s) })
	if err != nil {
		return r, false, err
	}
	waiting := int64(0)
	for _, rows := range left.Rows {
		waiting += rows.N
	}
	r = Result{
		What: fmt.Sprintf("%d readers of %d authors, %s for %s; a time begins when a request is due", c.readers, crowdFollows, what, length),
		Figures: []Value{
			{"asked", float64(asked), ""},
			{"posts accepted", float64(c.times["publish"].times.TotalCount()) / took.Seconds(), "posts/s"},
			{"jobs that wait at the end", float64(waiting), ""},
			{"oldest of them", left.Oldest.Seconds(), "s"},
			{"until the queue is empty", drained.Seconds(), "s"},
		},
	}
	for process, spent := range after.minus(before).cpu {
		r.Figures = append(r.Figures, Value{"cores busy, " + process, spent.Seconds() / took.Seconds(), ""})
	}
	for _, kind := range crowdKinds {
		t := c.times[kind]
		if t.times.TotalCount() > 0 {
			r.Cases = append(r.Cases, total{name: kind, turn: t, rates: []float64{float64(t.times.TotalCount()) / took.Seconds()}}.measured())
		}
	}
	return r, took < length+length/10 && drained < length, nil
}

// ask sends requests when they are due and waits for the answers.
func (c *crowd) ask(ctx context.Context, length time.Duration, load []demand) (took time.Duration, asked int, err error) {
	queue := make(chan task, 1<<18)
	errs := make([]error, c.workers)
	var wg sync.WaitGroup
	start := time.Now()
	for i := range c.workers {
		wg.Go(func() { errs[i] = c.serve(ctx, queue) })
	}
	next := make([]time.Time, len(load))
	for i, d := range load {
		next[i] = start.Add(d.from)
	}
	for now := start; now.Sub(start) < length && ctx.Err() == nil; now = time.Now() {
		for i, d := range load {
			for ; !next[i].After(now); next[i] = next[i].Add(time.Second / time.Duration(d.perSecond)) {
				queue <- task{next[i], d.kind}
				asked++
			}
		}
		time.Sleep(time.Millisecond)
	}
	close(queue)
	wg.Wait()
	return time.Since(start), asked, errors.Join(append(errs, ctx.Err())...)
}

// serve sends the queued requests, one at a time.
func (c *crowd) serve(ctx context.Context, queue <-chan task) error {
	var own line
	defer own.close()
	for t := range queue {
		r, ok := c.request(t.kind)
		if !ok {
			continue
		}
		l := &own
		if c.lines != nil {
			l = c.lines[r.agent]
		}
		if err := c.send(ctx, l, r, t); err != nil {
			return fmt.Errorf("%s: %w", t.kind, err)
		}
	}
	return nil
}

// send sends a request over a line and records its time.
func (c *crowd) send(ctx context.Context, l *line, r request, t task) error {
	var id string
	err := l.call(ctx, c.s.addr, r, func(body []byte) (err error) {
		if t.kind == "publish" {
			id, err = published(body)
		}
		return err
	})
	if err != nil {
		return err
	}
	took := time.Since(t.at)
	switch t.kind {
	case "publish":
		c.mu.Lock()
		c.published = append(c.published, post{id, r.agent})
		c.mu.Unlock()
	case "unfollow": // not measured: the reader follows the author again
		r.method = http.MethodPut
		if err := l.call(ctx, c.s.addr, r, nothingOf); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.times[t.kind].times.RecordValue(int64(took))
}

// call sends a request and calls use with the body of its answer.
func (l *line) call(ctx context.Context, addr string, r request, use func(body []byte) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn == nil {
		conn, err := dialSized(ctx, addr, lineBuffer)
		if err != nil {
			return err
		}
		l.conn = conn
		context.AfterFunc(ctx, func() { _ = conn.conn.Close() })
	}
	body, err := l.conn.call(r.method, r.path, r.agent, r.body)
	if err != nil {
		return err
	}
	return use(body)
}

func nothingOf([]byte) error { return nil }

func (l *line) close() {
	if l.conn != nil {
		_ = l.conn.conn.Close()
	}
}

// request is a request of an agent.
type request struct{ agent, method, path, body string }

// request returns the next request of a kind; ok is false if there is nothing to delete.
func (c *crowd) request(kind string) (r request, ok bool) {
	switch kind {
	case "publish":
		return request{crowdAuthor(rand.IntN(c.authors)), http.MethodPost, "/v1/posts", postBody}, true
	case "delete":
		p, ok := c.one()
		return request{p.author, http.MethodDelete, "/v1/posts/" + p.id, ""}, ok
	case "unfollow":
		reader := rand.IntN(c.readers)
		agent := crowdReader(reader)
		path := "/v1/agents/" + agent + "/following/" + crowdAuthor(reader*7%c.authors)
		return request{agent, http.MethodDelete, path, ""}, true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turn = (c.turn + 1) % c.readers
	return request{crowdReader(c.turn), http.MethodGet, timelinePath, ""}, true
}

// one removes and returns a random published post.
func (c *crowd) one() (post, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.published) == 0 {
		return post{}, false
	}
	i := rand.IntN(len(c.published))
	p := c.published[i]
	c.published[i] = c.published[len(c.published)-1]
	c.published = c.published[:len(c.published)-1]
	c.deleted = append(c.deleted, p.id)
	return p, true
}
