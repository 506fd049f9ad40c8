package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/engine/timeline"
	"github.com/freshet/freshet/social"
)

// liveRates are the posts per second while streams are open.
var liveRates = []int{0, 20, 300}

const (
	liveStreams  = 5000
	liveAudience = 100 // streams of the followers of one author
)

func (b *bench) liveEmbedded(ctx context.Context) ([]Result, error) {
	cfg := b.embeddedConfig(filepath.Join(b.dir, "live"))
	cfg.Social.Off = false
	return b.live(ctx, cfg)
}

func (b *bench) liveServices(ctx context.Context) ([]Result, error) {
	return b.live(ctx, b.socialConfig(filepath.Join(b.dir, "live")), b.socialConfig(filepath.Join(b.dir, "live-2")))
}

// live opens streams on all servers and measures, at several rates of posts, the time from a post
// until each stream of the followers of its author has the event.
func (b *bench) live(ctx context.Context, cfgs ...configs.Config) (results []Result, err error) {
	l := &live{b: b}
	defer func() { err = errors.Join(err, l.stop()) }()
	for _, cfg := range cfgs {
		cfg.Timeline.CelebrityAt = 1_000_000 // all posts are pushed
		s, err := b.serve(ctx, cfg)
		if err != nil {
			return nil, err
		}
		l.servers = append(l.servers, s)
	}
	n, rates, length := min(liveStreams, (openFiles()-otherFiles)/2), liveRates, 4*b.o.Duration
	if b.o.Short {
		n, rates = 2*liveAudience, []int{20}
	}
	debug.FreeOSMemory() // what the servers took to start is no memory of streams
	before, _ := memory(os.Getpid())
	if err := l.open(ctx, n/liveAudience); err != nil {
		return nil, err
	}
	debug.FreeOSMemory()
	after, _ := memory(os.Getpid())
	for _, rate := range rates {
		r, err := l.measure(ctx, rate, length)
		if err != nil {
			return results, err
		}
		r.Figures = append(r.Figures, Value{"memory of an idle stream, both ends", (after - before) / float64(n), "bytes"})
		results = append(results, r)
	}
	return results, nil
}

// live has open streams, the authors of whose agents post.
type live struct {
	b       *bench
	servers []*system
	streams listeners
	authors []*liveAuthor

	mu    sync.Mutex
	times *hdrhistogram.Histogram
}

// liveAuthor has the posts of an author in their order, which is that of their ids.
type liveAuthor struct {
	name string
	mu   sync.Mutex
	ids  []string
	at   []time.Time // when the call began that makes the post
}

// open opens the streams of followers of some authors, spread over the servers.
func (l *live) open(ctx context.Context, authors int) error {
	l.streams.conns = make([]net.Conn, authors*liveAudience)
	errs := make([]error, authors)
	var opening sync.WaitGroup
	for i := range authors {
		l.authors = append(l.authors, &liveAuthor{name: fmt.Sprintf("live%d", i)})
	}
	for c := range clients {
		opening.Go(func() {
			for i := c; i < authors; i += clients {
				errs[i] = l.openAudience(ctx, i)
			}
		})
	}
	opening.Wait()
	return errors.Join(append(errs, sleep(ctx, 2*timeline.PollEvery))...) // until the watcher knows whom they follow
}

// openAudience opens the streams of the followers of an author.
func (l *live) openAudience(ctx context.Context, i int) error {
	a := l.authors[i]
	err := l.b.audience(ctx, l.servers[0], a.name, liveAudience)
	for k := 0; k < liveAudience && err == nil; k++ {
		n := i*liveAudience + k
		err = l.streams.open(ctx, l.servers[n%len(l.servers)].addr, listening(a.name, k), n, l.hears(a))
	}
	return err
}

// hears returns what one stream of a follower of an author calls with the ids of its events. An event
// is of all posts since the previous one.
func (l *live) hears(a *liveAuthor) func(id string) {
	next := 0
	return func(id string) {
		now := time.Now()
		id, _, _ = strings.Cut(id, ".-.")
		a.mu.Lock()
		at := slices.Index(a.ids[next:], id)
		sent := slices.Clone(a.at[next : next+at+1])
		a.mu.Unlock()
		next += at + 1
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, began := range sent {
			_ = l.times.RecordValue(int64(now.Sub(began))) // of a minute at most, as the part takes less
		}
	}
}

// measure has the authors post for a while, at a rate of all together.
func (l *live) measure(ctx context.Context, rate int, length time.Duration) (r Result, err error) {
	l.mu.Lock()
	l.times = newTimes()
	l.mu.Unlock()
	before, err := l.b.meter.read(ctx)
	if err != nil {
		return r, err
	}
	start := time.Now()
	posts, err := l.post(ctx, rate, start.Add(length))
	took := time.Since(start)
	if err != nil {
		return r, err
	}
	after, err := l.b.meter.read(ctx)
	if err != nil {
		return r, err
	}
	if err := errors.Join(l.b.idle(ctx, l.servers[0]), sleep(ctx, 2*timeline.PollEvery)); err != nil {
		return r, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	heard, streams := l.times.TotalCount(), len(l.streams.conns)
	r = Result{
		What: fmt.Sprintf("%d streams over loopback HTTP on %d servers, %d posts a second for %s, each of an author whom %d of them follow",
			streams, len(l.servers), rate, length, liveAudience),
		Figures: []Value{
			{"streams", float64(streams), ""},
			{"posts made", float64(posts) / took.Seconds(), "posts/s"},
			{"events that did not arrive", float64(posts*liveAudience) - float64(heard), ""},
		},
	}
	for process, spent := range after.minus(before).cpu {
		r.Figures = append(r.Figures, Value{"CPU a second of a stream, " + process, float64(spent.Microseconds()) / took.Seconds() / float64(streams), "µs"})
	}
	if heard > 0 {
		t := total{name: "from the post until a stream has it", turn: turn{times: l.times}, rates: []float64{float64(heard) / took.Seconds()}}
		r.Cases = append(r.Cases, t.measured())
	}
	return r, nil
}

// post has each author post at even distances until a time, and returns the number of posts.
func (l *live) post(ctx context.Context, rate int, until time.Time) (posts int, err error) {
	if rate == 0 {
		return 0, sleep(ctx, time.Until(until))
	}
	every := time.Duration(len(l.authors)) * time.Second / time.Duration(rate)
	errs, made := make([]error, len(l.authors)), make([]int, len(l.authors))
	var all sync.WaitGroup
	for i, a := range l.authors {
		all.Go(func() {
			due := time.Now().Add(every * time.Duration(i) / time.Duration(len(l.authors)))
			for ; errs[i] == nil && due.Before(until); due = due.Add(every) {
				errs[i] = sleep(ctx, time.Until(due))
				if errs[i] == nil {
					errs[i] = a.post(ctx, l.servers[i%len(l.servers)])
					made[i]++
				}
			}
		})
	}
	all.Wait()
	for _, n := range made {
		posts += n
	}
	return posts, errors.Join(errs...)
}

func (a *liveAuthor) post(ctx context.Context, s *system) error {
	a.mu.Lock()
	id := fmt.Sprintf("%s%s.%08d", social.PostPrefix, a.name, len(a.ids))
	a.ids, a.at = append(a.ids, id), append(a.at, time.Now())
	a.mu.Unlock()
	_, _, err := s.Social.CreatePost(ctx, social.Post{ID: id, Author: a.name, Caption: "News", Audience: social.Audience{Public: true}}, social.Creation{})
	return err
}

func (l *live) stop() error {
	l.streams.close()
	var errs []error
	for _, s := range l.servers {
		errs = append(errs, s.stop())
	}
	return errors.Join(errs...)
}
