package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/server"
)

// mostIndexed bounds the index: indexing a million documents takes minutes and adds no
// information.
const mostIndexed = 100_000

// refreshEmbedded measures refreshes in process for readers of all kinds, with impressions in all
// filters of the window.
func (b *bench) refreshEmbedded(ctx context.Context) (results []Result, err error) {
	for _, n := range b.o.Items {
		r, err := b.refreshIn(ctx, n)
		if err != nil {
			return results, err
		}
		results = append(results, r)
	}
	return results, nil
}

func (b *bench) refreshIn(ctx context.Context, n int) (r Result, err error) {
	dir, err := b.filledDir(ctx, n)
	if err != nil {
		return r, err
	}
	s, err := b.serve(ctx, b.embeddedConfig(dir))
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	for i := range readers {
		if i%4 == 0 { // a quarter of the readers has no profile
			continue
		}
		if err := s.Engine.PutProfile(ctx, reader(i), profile(i)); err != nil {
			return r, err
		}
	}
	next := 0
	totals, err := b.compare(ctx, b.rounds(), side{
		name: "freshet", settle: s.recorded,
		run: func(ctx context.Context, _ int) (turn, error) {
			return eachFor(ctx, b.slice(), func(int) (time.Duration, error) {
				agent := reader(next % readers)
				next++
				return timed(func() error { _, err := s.Engine.Feed(ctx, refresh(agent)); return err })
			})
		},
	})
	if err != nil {
		return r, err
	}
	c := totals[0].measured()
	return Result{
		What:    fmt.Sprintf("in process, one after the other, %d items, N = %d, %d readers, no shared recalls", n, b.o.Config.Recall.N, readers),
		Cases:   []Case{c},
		Figures: []Value{{"items", float64(n), ""}, {"p50", c.Latency.P50 / 1e3, "ms"}, {"p99", c.Latency.P99 / 1e3, "ms"}},
	}, b.verify(ctx, s)
}

// recalled measures refreshes in services mode with a watch, and their two most expensive calls
// separately.
type recalled struct {
	b        *bench
	s        *system // recalls from Elasticsearch
	copied   *system // recalls from a copy of its index
	w        *watch
	searches [][]byte
	checks   [][][]any
	readers  int // readers that have refreshed
	profiles int // readers that have a profile
	sum      spent
	shares   []float64
}

func (b *bench) refreshServices(ctx context.Context) (results []Result, err error) {
	cfg := b.servicesConfig(filepath.Join(b.dir, "services"))
	// The recorder's calls are not part of a refresh, so they are delayed to the end.
	held := server.WithRecorder(dedup.RecorderConfig{Linger: 10 * time.Second, Batch: 100_000})
	r := &recalled{b: b, w: newWatch()}
	s, err := b.serve(ctx, cfg, r.w.hooks(), held)
	if err != nil {
		return nil, err
	}
	r.s = s
	defer func() { err = errors.Join(err, s.stop()) }()
	n := min(b.o.Items[0], mostIndexed)
	now := time.Now()
	if err := b.put(ctx, s, makeItems(n, now)); err != nil {
		return nil, err
	}
	if err := b.fillWindow(ctx, cfg, now); err != nil {
		return nil, err
	}
	loaded, err := r.openCopy(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.copied.stop()) }()
	totals, err := r.measure(ctx)
	if err != nil {
		return nil, err
	}
	calls := float64(totals[0].turn.times.TotalCount())
	each := func(d time.Duration) float64 { return float64(d.Microseconds()) / calls }
	raw := totals[1].turn.times.Mean() + totals[2].turn.times.Mean()
	kept, err := r.kept(ctx)
	if err != nil {
		return nil, err
	}
	return []Result{{
		What:   fmt.Sprintf("in process, one after the other, %d items in the index, N = %d, every reader another, no shared recalls", n, cfg.Recall.N),
		Cases:  measured(totals),
		Ratios: []Ratio{ratio(totals[0], totals[1]), ratio(totals[0], totals[2]), ratio(totals[3], totals[0])},
		Figures: append([]Value{
			{"refresh", each(r.sum.total), "µs"},
			{"of it in Elasticsearch's client", each(r.sum.elastic), "µs"},
			{"of it in Redis's client", each(r.sum.redis), "µs"},
			{"of that blocked on Redis's connections", each(r.sum.wire), "µs"},
			{"own share", r.sum.own(), ""},
			{"own share, p50 of the refreshes", median(r.shares), ""},
			{"own share, p95 of the refreshes", quantile(r.shares, 0.95), ""},
			{"raw query and raw check, together, of a refresh", raw / totals[0].turn.times.Mean(), ""},
			{"recall from memory: until the copy is complete", loaded.Seconds(), "s"},
		}, kept...),
	}}, nil
}

// kept measures the data in Redis of a reader who has just refreshed.
func (r *recalled) kept(ctx context.Context) ([]Value, error) {
	client, keys := r.b.services.redis, rediskeys.For(r.b.services.redis, r.b.prefix())
	agent := otherReader(r.readers - 1)
	var values []Value
	for _, key := range []struct{ what, name string }{
		{"memory of a session", keys.Session(agent, feed.ForYou)},
		{"memory of a page that is pending", keys.Pending(agent)},
		{"memory of a profile", keys.Profile(agent)},
		{"memory of the time of the last refresh", keys.Refreshed(agent, feed.ForYou)},
	} {
		used, err := client.MemoryUsage(ctx, key.name, 0).Result()
		if errors.Is(err, redis.Nil) {
			continue // already recorded and removed, or expired
		}
		if err != nil {
			return nil, fmt.Errorf("MEMORY USAGE %s: %w", key.name, err)
		}
		values = append(values, Value{key.what, float64(used), "bytes"})
	}
	return values, nil
}

func (r *recalled) measure(ctx context.Context) ([]total, error) {
	slice := r.b.slice()
	warm := 100
	if r.b.o.Short {
		warm = 5
	}
	for range warm {
		if _, err := r.one(ctx); err != nil {
			return nil, err
		}
	}
	r.w.capture.Store(false) // copying requests is not part of a refresh
	r.sum, r.shares = spent{}, nil
	return r.b.compare(ctx, r.b.rounds(),
		side{
			name:    "freshet",
			prepare: func(ctx context.Context, _ int) error { return r.introduce(ctx, int(slice/(5*time.Millisecond))) },
			run: func(ctx context.Context, _ int) (turn, error) {
				return eachFor(ctx, slice, func(int) (time.Duration, error) { return r.one(ctx) })
			},
		},
		side{name: "the Elasticsearch query, raw", run: func(ctx context.Context, _ int) (turn, error) {
			return eachFor(ctx, slice, func(i int) (time.Duration, error) {
				body := r.searches[i%len(r.searches)]
				return timed(func() error { return r.b.search(ctx, body) })
			})
		}},
		side{name: "the Redis pipeline of the check, raw", run: func(ctx context.Context, _ int) (turn, error) {
			return eachFor(ctx, slice, func(i int) (time.Duration, error) {
				return sendAgain(ctx, r.b.services.redis, r.checks[i%len(r.checks)])
			})
		}},
		side{
			name:    "freshet, recall from memory",
			prepare: func(ctx context.Context, _ int) error { return r.introduce(ctx, int(slice/time.Millisecond)) },
			run: func(ctx context.Context, _ int) (turn, error) {
				return eachFor(ctx, slice, func(int) (time.Duration, error) { return r.refresh(ctx, r.copied) })
			},
		},
	)
}

// openCopy opens a second server, which recalls from a copy of the index, and returns how long it
// took until the copy was complete.
func (r *recalled) openCopy(ctx context.Context) (time.Duration, error) {
	cfg := r.b.servicesConfig(filepath.Join(r.b.dir, "copy"))
	cfg.Recall.From = configs.FromMemory
	s, err := r.b.serve(ctx, cfg, server.WithRecorder(dedup.RecorderConfig{Linger: 10 * time.Second, Batch: 100_000}))
	if err != nil {
		return 0, err
	}
	r.copied = s
	return timed(func() error {
		for {
			state, err := readiness(ctx, s.addr)
			if err != nil || state.Dependencies["recall"].Warning == "" {
				return err
			}
			if err := sleep(ctx, 10*time.Millisecond); err != nil {
				return err
			}
		}
	})
}

// readiness returns what /readyz says.
func readiness(ctx context.Context, addr string) (api.Readiness, error) {
	var answer struct{ Data api.Readiness }
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/readyz", nil)
	if err != nil {
		return answer.Data, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return answer.Data, err
	}
	defer func() { _ = res.Body.Close() }()
	return answer.Data, json.NewDecoder(res.Body).Decode(&answer)
}

// introduce stores profiles for the next n readers.
func (r *recalled) introduce(ctx context.Context, n int) error {
	for ; r.profiles < r.readers+n; r.profiles++ {
		if err := r.s.Engine.PutProfile(ctx, otherReader(r.profiles), profile(r.profiles)); err != nil {
			return err
		}
	}
	return nil
}

func otherReader(i int) string { return "reader_s" + strconv.Itoa(i) }

// one refreshes for a new reader, and adds up where the time goes.
func (r *recalled) one(ctx context.Context) (time.Duration, error) {
	before := r.w.now()
	took, err := r.refresh(watched(ctx), r.s)
	if err != nil {
		return 0, err
	}
	one := r.w.since(before, took)
	r.sum, r.shares = r.sum.plus(one), append(r.shares, one.own())
	if r.w.capture.Load() {
		r.searches, r.checks = append(r.searches, r.w.search), append(r.checks, r.w.check)
	}
	return took, nil
}

// refresh refreshes for a new reader.
func (r *recalled) refresh(ctx context.Context, s *system) (time.Duration, error) {
	if err := r.introduce(ctx, 1); err != nil {
		return 0, err
	}
	agent := otherReader(r.readers)
	r.readers++
	return timed(func() error {
		answer, err := s.Engine.Feed(ctx, refresh(agent))
		if err == nil && len(answer.Docs) < page {
			err = fmt.Errorf("a refresh of %d items", len(answer.Docs))
		}
		return err
	})
}

// search sends a recall query and discards the answer.
func (b *bench) search(ctx context.Context, body []byte) error {
	return esindex.Do(ctx, b.services.elastic, http.MethodPost, "/"+b.name+"/_search",
		"allow_partial_search_results=false&filter_path=error,status,hits.hits.sort", body, nil)
}

// sendAgain sends the commands as one pipeline and reads the replies.
func sendAgain(ctx context.Context, client redis.UniversalClient, cmds [][]any) (time.Duration, error) {
	return timed(func() error {
		replies, err := client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
			for _, args := range cmds {
				cmd := redis.NewCmd(ctx, args...)
				if len(args) > 3 && fmt.Sprint(args[0]) == "evalsha" {
					cmd.SetFirstKeyPos(3)
				}
				_ = pipe.Process(ctx, cmd)
			}
			return nil
		})
		if len(replies) > 0 && errors.Is(err, redis.Nil) {
			return nil // a day without a shard count
		}
		return err
	})
}

// quantile returns the value below which the share q of the values lies. values must not be
// empty.
func quantile(values []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}
