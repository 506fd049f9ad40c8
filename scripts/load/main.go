// Command load drives a running server as many readers would and says how it
// held: latencies, errors, and items that came twice. Requests arrive at a
// fixed rate whatever the server does, and latency counts from the moment a
// request was due, so that a stall is not hidden by the requests it delays.
//
//	go run ./scripts/load -server http://127.0.0.1:8080 -rate 200 -for 60s -agents 2000
//
// It exits 1 on any error or repeat. Only a server in header mode is of use,
// and only one that was not asked as these agents before.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// settings are the flags.
type settings struct {
	server string
	token  string
	rate   float64
	length time.Duration
	agents int
	limit  int
	ingest time.Duration
	prefix string
}

// mostWaiting bounds the requests under way. A server that falls so far behind
// has failed, and more of them would only fill this process.
const mostWaiting = 5000

func main() {
	var s settings
	flag.StringVar(&s.server, "server", "http://127.0.0.1:8080", "where Freshet serves")
	flag.StringVar(&s.token, "token", os.Getenv("FRESHET_ADMIN_TOKEN"), "admin token, to ingest items meanwhile")
	flag.Float64Var(&s.rate, "rate", 200, "requests a second")
	flag.DurationVar(&s.length, "for", time.Minute, "how long")
	flag.IntVar(&s.agents, "agents", 2000, "how many readers")
	flag.IntVar(&s.limit, "limit", 10, "items a page")
	flag.DurationVar(&s.ingest, "ingest", 0, "a new item this often; 0: none")
	flag.StringVar(&s.prefix, "prefix", fmt.Sprintf("load%d_", time.Now().Unix()), "begins the readers' ids")
	flag.Parse()
	if s.rate <= 0 || s.agents < 1 || s.length <= 0 || s.limit < 1 {
		fmt.Fprintln(os.Stderr, "load: -rate, -agents, -for and -limit must be greater than 0")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	l := newLoad(s)
	l.run(ctx)
	if !l.report(os.Stdout) {
		stop()
		os.Exit(1)
	}
}

// load is a run under way.
type load struct {
	settings
	client  *client
	readers []reader
	results map[string]*result // by action
	dropped atomic.Int64
	before  vitals
	after   vitals
	peak    vitals
	took    time.Duration
}

// reader remembers what it was given.
type reader struct {
	mu   sync.Mutex
	seen map[string]struct{}
}

func newLoad(s settings) *load {
	l := &load{settings: s, client: newClient(s), readers: make([]reader, s.agents), results: map[string]*result{}}
	for _, action := range []string{"refresh", "load_more", "silent"} {
		l.results[action] = newResult()
	}
	return l
}

// pick chooses what a reader does: 1 refresh to 4 load_more to 1 silent.
func pick() string {
	switch rand.IntN(6) {
	case 0:
		return "refresh"
	case 1:
		return "silent"
	default:
		return "load_more"
	}
}

func (l *load) run(ctx context.Context) {
	l.before = l.client.vitals(ctx)
	l.peak = l.before
	background, done := context.WithCancel(ctx)
	var helpers sync.WaitGroup
	helpers.Go(func() { l.watch(background) })
	helpers.Go(func() { l.feed(background) })

	begin := time.Now()
	gap := time.Duration(float64(time.Second) / l.rate)
	waiting := make(chan struct{}, mostWaiting)
	var calls sync.WaitGroup
	for n := 0; ; n++ {
		due := begin.Add(time.Duration(n) * gap)
		if due.Sub(begin) >= l.length || ctx.Err() != nil {
			break
		}
		time.Sleep(time.Until(due))
		select {
		case waiting <- struct{}{}:
			calls.Go(func() {
				defer func() { <-waiting }()
				l.call(ctx, rand.IntN(l.agents), pick(), due)
			})
		default:
			l.dropped.Add(1)
		}
	}
	calls.Wait()
	l.took = time.Since(begin)
	done()
	helpers.Wait()
	l.after = l.client.vitals(ctx)
}

// call makes one request and checks its answer.
func (l *load) call(ctx context.Context, agent int, action string, due time.Time) {
	page, err := l.client.feed(ctx, fmt.Sprintf("%s%d", l.prefix, agent), action, l.limit)
	if ctx.Err() != nil {
		return // interrupted
	}
	res := l.results[action]
	res.add(time.Since(due), len(page.Items), err, len(page.Degraded) > 0)
	if err != nil || action == "silent" {
		return
	}
	r := &l.readers[agent]
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil {
		r.seen = map[string]struct{}{}
	}
	for _, it := range page.Items {
		if _, again := r.seen[it.ID]; again {
			res.repeats.Add(1)
		}
		r.seen[it.ID] = struct{}{}
	}
}

// watch looks at the server's memory and goroutines every second.
func (l *load) watch(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			l.peak = l.peak.max(l.client.vitals(ctx))
		}
	}
}

// feed ingests a new item now and then.
func (l *load) feed(ctx context.Context) {
	if l.ingest <= 0 {
		return
	}
	tick := time.NewTicker(l.ingest)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			item := fmt.Sprintf(`{"id":"%s%d","title":"New item %d","update_time":%d}`, l.prefix, n, n, now.Unix())
			if err := l.client.ingest(ctx, item); err != nil && ctx.Err() == nil {
				fmt.Fprintln(os.Stderr, "load: ingest:", err)
			}
		}
	}
}

// report prints what came of it, and whether all went well.
func (l *load) report(w io.Writer) bool {
	fmt.Fprintf(w, "%s at %.0f requests a second, %d readers, %d items a page\n\n", l.took.Round(time.Millisecond), l.rate, l.agents, l.limit)
	fmt.Fprintf(w, "%-10s %9s %8s %8s %9s %9s %9s %9s %9s %9s\n", "action", "requests", "errors", "repeats", "items", "degraded", "p50 ms", "p95 ms", "p99 ms", "max ms")
	well := l.dropped.Load() == 0
	for _, action := range []string{"refresh", "load_more", "silent"} {
		r := l.results[action]
		r.print(w, action)
		well = well && r.errors.Load() == 0 && r.repeats.Load() == 0 && r.requests.Load() > 0
	}
	if n := l.dropped.Load(); n > 0 {
		fmt.Fprintf(w, "\n%d requests were not sent: %d were waiting already\n", n, mostWaiting)
	}
	fmt.Fprintf(w, "\nserver     %12s %12s %12s\n", "before", "peak", "after")
	fmt.Fprintf(w, "memory MB  %12.1f %12.1f %12.1f\n", l.before.memory/1e6, l.peak.memory/1e6, l.after.memory/1e6)
	fmt.Fprintf(w, "goroutines %12.0f %12.0f %12.0f\n", l.before.goroutines, l.peak.goroutines, l.after.goroutines)
	for _, action := range []string{"refresh", "load_more", "silent"} {
		l.results[action].printErrors(w, action)
	}
	return well
}
