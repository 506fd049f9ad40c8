// Package load generates the load of many readers on a running server: requests are sent at a
// fixed rate regardless of the answers.
package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/freshet/freshet/client"
)

// Settings configures a run.
type Settings struct {
	Server string        // URL of the server
	Token  string        // admin token, for Ingest; "" for none
	Rate   float64       // requests per second
	Length time.Duration // how long requests are sent
	Agents int           // readers
	Limit  int           // items per page
	Ingest time.Duration // interval of new items; 0 for none
	Prefix string        // prefix of the readers' ids
}

// Validate checks the settings.
func (s Settings) Validate() error {
	if s.Rate <= 0 || s.Length <= 0 || min(s.Agents, s.Limit) < 1 {
		return errors.New("--rate, --agents, --for and --limit must be greater than 0")
	}
	return nil
}

// mostWaiting bounds the pending requests. A server that is so far behind has failed, and more
// requests would only fill this process.
const mostWaiting = 5000

// Run sends requests until the configured time is over or ctx ends, and writes a report. It
// returns an error if a request failed, was not sent, or returned an item again.
func Run(ctx context.Context, s Settings, out io.Writer) error {
	l, err := newLoad(s, out)
	if err != nil {
		return err
	}
	l.run(ctx)
	return l.report()
}

// load is a run in progress.
type load struct {
	Settings
	out     io.Writer
	http    *http.Client
	client  *client.Client
	readers []reader
	results map[string]*result // by action
	dropped atomic.Int64
	before  vitals
	after   vitals
	peak    vitals
	took    time.Duration
}

// reader records the items it received.
type reader struct {
	mu   sync.Mutex
	seen map[string]struct{}
}

func newLoad(s Settings, out io.Writer) (*load, error) {
	l := &load{Settings: s, out: out, readers: make([]reader, s.Agents), results: map[string]*result{}}
	l.http = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 512}, Timeout: 30 * time.Second}
	var err error
	if l.client, err = client.New(s.Server, client.WithHTTPClient(l.http), client.WithAdminToken(s.Token)); err != nil {
		return nil, err
	}
	for _, action := range []string{"refresh", "load_more", "silent"} {
		l.results[action] = newResult()
	}
	return l, nil
}

// pick returns a random action: 1 refresh to 4 load_more to 1 silent.
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
	l.before = l.vitals(ctx)
	l.peak = l.before
	background, done := context.WithCancel(ctx)
	var helpers sync.WaitGroup
	helpers.Go(func() { l.watch(background) })
	helpers.Go(func() { l.feed(background) })

	begin := time.Now()
	gap := time.Duration(float64(time.Second) / l.Rate)
	waiting := make(chan struct{}, mostWaiting)
	var calls sync.WaitGroup
	for n := 0; ; n++ {
		due := begin.Add(time.Duration(n) * gap)
		if due.Sub(begin) >= l.Length || ctx.Err() != nil {
			break
		}
		time.Sleep(time.Until(due))
		select {
		case waiting <- struct{}{}:
			calls.Go(func() {
				defer func() { <-waiting }()
				l.call(ctx, rand.IntN(l.Agents), pick(), due)
			})
		default:
			l.dropped.Add(1)
		}
	}
	calls.Wait()
	l.took = time.Since(begin)
	done()
	helpers.Wait()
	l.after = l.vitals(ctx)
}

// call sends one request and checks its answer.
func (l *load) call(ctx context.Context, agent int, action string, due time.Time) {
	ask := client.Ask{Action: action, Limit: l.Limit}
	if action == "silent" {
		ask.Action, ask.Silent = client.ActionRefresh, true
	}
	page, err := l.client.As(fmt.Sprintf("%s%d", l.Prefix, agent)).Feed(ctx, ask)
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
		_, again := r.seen[it.ID]
		if again {
			res.repeats.Add(1)
		}
		r.seen[it.ID] = struct{}{}
	}
}

// watch samples the server's memory and goroutines every second.
func (l *load) watch(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			l.peak = l.peak.max(l.vitals(ctx))
		}
	}
}

// feed ingests a new item per interval.
func (l *load) feed(ctx context.Context) {
	if l.Ingest <= 0 {
		return
	}
	tick := time.NewTicker(l.Ingest)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			item := fmt.Sprintf(`{"id":"%s%d","title":"New item %d","update_time":%d}`, l.Prefix, n, n, now.Unix())
			rejected := func(r client.Rejection) { fmt.Fprintln(l.out, "ingest: the item was rejected:", r.Reason) }
			if _, err := l.client.Ingest(ctx, strings.NewReader(item), rejected); err != nil && ctx.Err() == nil {
				fmt.Fprintln(l.out, "ingest:", err)
			}
		}
	}
}

// report prints the results; it returns an error if the run failed.
func (l *load) report() error {
	w := l.out
	fmt.Fprintf(w, "%s at %.0f requests a second, %d readers, %d items a page\n\n", l.took.Round(time.Millisecond), l.Rate, l.Agents, l.Limit)
	fmt.Fprintf(w, "%-10s %9s %8s %8s %9s %9s %9s %9s %9s %9s\n", "action", "requests", "errors", "repeats", "items", "degraded", "p50 ms", "p95 ms", "p99 ms", "max ms")
	well := l.dropped.Load() == 0
	for _, action := range []string{"refresh", "load_more", "silent"} {
		r := l.results[action]
		r.print(w, action)
		well = well && r.well()
	}
	n := l.dropped.Load()
	if n > 0 {
		fmt.Fprintf(w, "\n%d requests were not sent: %d were waiting already\n", n, mostWaiting)
	}
	fmt.Fprintf(w, "\nserver     %12s %12s %12s\n", "before", "peak", "after")
	fmt.Fprintf(w, "memory MB  %12.1f %12.1f %12.1f\n", l.before.memory/1e6, l.peak.memory/1e6, l.after.memory/1e6)
	fmt.Fprintf(w, "goroutines %12.0f %12.0f %12.0f\n", l.before.goroutines, l.peak.goroutines, l.after.goroutines)
	for _, action := range []string{"refresh", "load_more", "silent"} {
		l.results[action].printErrors(w, action)
	}
	if !well {
		return errors.New("the run failed; see above")
	}
	return nil
}
