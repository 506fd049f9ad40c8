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
)

var crowdPosts = []int{50, 100, 200, 400, 700, 1000}

// crowdKinds are the kinds of requests, in the order of reports.
var crowdKinds = []string{"page", "publish", "delete"}

// crowdServices runs readers while authors publish and delete, at increasing rates until the
// server cannot keep up.
func (b *bench) crowdServices(ctx context.Context) (results []Result, err error) {
	if err := b.fillNetwork(ctx); err != nil {
		return nil, err
	}
	readers, authors, rates, length := 10_000, 1000, crowdPosts, 2*b.o.Duration
	if b.o.Short {
		readers, authors, rates, length = 50, 10, []int{20}, 500*time.Millisecond
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
	defer func() { err = errors.Join(err, s.stop()) }()
	w := &writing{b: b, s: s}
	if err := w.warm(ctx, names(readers, crowdReader)); err != nil {
		return nil, err
	}
	c := &crowd{b: b, s: s, readers: readers, authors: authors}
	for _, rate := range rates {
		r, kept, err := c.step(ctx, rate, length)
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

func crowdReader(i int) string { return fmt.Sprintf("crowd%d", i) }

// crowd holds the load of readers and authors, and its results.
type crowd struct {
	b                *bench
	s                *system
	readers, authors int

	mu        sync.Mutex
	published []post
	times     map[string]turn
}

// post is a post with its author, who may delete it.
type post struct{ id, author string }

// task is a request that is due.
type task struct {
	at   time.Time
	kind string
}

// step sustains a rate for a while. kept reports whether the server kept up: all requests are
// answered within 110 % of the time, and the queue then drains within length.
func (c *crowd) step(ctx context.Context, rate int, length time.Duration) (r Result, kept bool, err error) {
	c.times = map[string]turn{}
	for _, kind := range crowdKinds {
		c.times[kind] = turn{times: newTimes()}
	}
	before, err := c.b.meter.read(ctx)
	if err != nil {
		return r, false, err
	}
	took, asked, err := c.ask(ctx, rate, length)
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
		What: fmt.Sprintf("%d readers of %d authors, %d posts, %d deletes and %d pages a second for %s; a time begins when a request is due",
			c.readers, crowdFollows, rate, rate/10, crowdReads, length),
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
func (c *crowd) ask(ctx context.Context, rate int, length time.Duration) (took time.Duration, asked int, err error) {
	queue := make(chan task, 1<<18)
	errs := make([]error, crowdClients)
	var wg sync.WaitGroup
	start := time.Now()
	for i := range crowdClients {
		wg.Go(func() { errs[i] = c.serve(ctx, queue) })
	}
	due := map[string]time.Duration{
		"page": time.Second / crowdReads, "publish": time.Second / time.Duration(rate), "delete": time.Second / time.Duration(max(1, rate/10)),
	}
	next := map[string]time.Time{}
	for now := start; now.Sub(start) < length && ctx.Err() == nil; now = time.Now() {
		for kind, every := range due {
			if next[kind].IsZero() {
				next[kind] = start
			}
			for ; !next[kind].After(now); next[kind] = next[kind].Add(every) {
				queue <- task{next[kind], kind}
				asked++
			}
		}
		time.Sleep(time.Millisecond)
	}
	close(queue)
	wg.Wait()
	return time.Since(start), asked, errors.Join(append(errs, ctx.Err())...)
}

// serve runs one client.
func (c *crowd) serve(ctx context.Context, queue <-chan task) error {
	conn, err := dial(ctx, c.s.addr)
	if err != nil {
		return err
	}
	defer func() { _ = conn.conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.conn.Close() })()
	for t := range queue {
		done, err := c.do(conn, t.kind)
		if err != nil {
			return fmt.Errorf("%s: %w", t.kind, err)
		}
		if !done {
			continue
		}
		c.mu.Lock()
		err = c.times[t.kind].times.RecordValue(int64(time.Since(t.at)))
		c.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

// do sends one request; it returns false if there was nothing to delete.
func (c *crowd) do(conn *client, kind string) (bool, error) {
	switch kind {
	case "publish":
		by := fmt.Sprintf("voice%d", rand.IntN(c.authors))
		id, err := conn.publish(by)
		c.mu.Lock()
		c.published = append(c.published, post{id, by})
		c.mu.Unlock()
		return true, err
	case "delete":
		p, ok := c.one()
		if !ok {
			return false, nil
		}
		_, err := conn.call(http.MethodDelete, "/v1/posts/"+p.id, p.author, "")
		return true, err
	}
	_, err := conn.call(http.MethodGet, timelinePath, crowdReader(rand.IntN(c.readers)), "")
	return true, err
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
	return p, true
}
