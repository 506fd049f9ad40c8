package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/rediskeys"
)

// setTTL bounds how long a set of this run survives if the run is killed.
const setTTL = time.Hour

// dedupServices compares three ways of excluding seen items: filters in Redis, a Redis SET per
// agent and day, and a must_not in the Elasticsearch query.
func (b *bench) dedupServices(ctx context.Context) (results []Result, err error) {
	capacity := b.dedupCapacity()
	cfg := b.servicesConfig(filepath.Join(b.dir, "services"))
	cfg.Dedup.DailyCapacity, cfg.Dedup.Shards = capacity, 1
	cfg.Redis.KeyPrefix = b.prefix() + "dedup:"
	now := time.Now()
	all := b.histories(func(i int) string { return "doc_" + strconv.Itoa(i+1) }) // like the demo's ids
	store, stop, err := b.openDedup(ctx, cfg, now)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop(context.WithoutCancel(ctx))) }()
	if err := fill(ctx, store, all, capacity, now); err != nil {
		return nil, err
	}
	query, err := b.singleRecall(ctx)
	if err != nil {
		return nil, err
	}
	for _, h := range all {
		r, err := b.dedupOf(ctx, cfg, store, h, query, now)
		if err != nil {
			return results, err
		}
		results = append(results, r)
	}
	return results, nil
}

// singleRecall fills the index and returns the body of a recall query.
func (b *bench) singleRecall(ctx context.Context) (query []byte, err error) {
	w := newWatch()
	s, err := b.serve(ctx, b.servicesConfig(filepath.Join(b.dir, "services")), w.hooks())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if err := b.put(ctx, s, makeItems(min(b.o.Items[0], mostIndexed), time.Now())); err != nil {
		return nil, err
	}
	const agent = "reader_query"
	if err := s.Engine.PutProfile(ctx, agent, profile(0)); err != nil {
		return nil, err
	}
	if _, err := s.Engine.Feed(ctx, refresh(agent)); err != nil {
		return nil, err
	}
	return w.search, nil
}

func (b *bench) dedupOf(ctx context.Context, cfg configs.Config, store dedup.Store, h *history, query []byte, now time.Time) (Result, error) {
	client := b.services.redis
	sets, err := putSets(ctx, client, b.prefix(), h)
	if err != nil {
		return Result{}, err
	}
	without, err := mustNot(query, h)
	if err != nil {
		return Result{}, err
	}
	queries := func(name string, body []byte) side {
		return side{name: name, run: func(ctx context.Context, _ int) (turn, error) {
			return eachFor(ctx, b.slice(), func(int) (time.Duration, error) {
				return timed(func() error { return b.search(ctx, body) })
			})
		}}
	}
	totals, err := b.compare(ctx, b.rounds(),
		b.querySets(client, sets, h),
		b.checks("freshet, RedisBloom", store, h, now),
		queries("Elasticsearch, the recall alone", query),
		queries("Elasticsearch, with must_not terms", without),
	)
	if err != nil {
		return Result{}, err
	}
	key := rediskeys.For(client, cfg.Redis.KeyPrefix).Filter(feed.DayOf(now), 0, 1)
	filter, err := client.MemoryUsage(ctx, key).Result()
	if err != nil {
		return Result{}, err
	}
	exactly, err := memoryOf(ctx, client, sets)
	if err != nil {
		return Result{}, err
	}
	means := func(i int) float64 { return totals[i].turn.times.Mean() / 1e3 }
	return Result{
		What: fmt.Sprintf("%d candidates of an agent with %d seen items; %d filters, each full with %d impressions; %d items in the index",
			candidates, h.shown(), len(h.days), cfg.Dedup.DailyCapacity, min(b.o.Items[0], mostIndexed)),
		Cases: measured(totals), Ratios: []Ratio{ratio(totals[1], totals[0]), ratio(totals[3], totals[2])},
		Figures: []Value{
			{"seen", float64(h.shown()), ""},
			{"filter", float64(filter) / float64(cfg.Dedup.DailyCapacity), "bytes/impression"},
			{"sets", float64(exactly) / float64(h.shown()), "bytes/impression"},
			{"what must_not adds to a query", means(3) - means(2), "µs"},
			{"what must_not adds to each request", float64(len(without)-len(query)) / float64(h.shown()), "bytes/impression"},
		},
	}, nil
}

// putSets stores the history as a set per day and returns the keys.
func putSets(ctx context.Context, client redis.UniversalClient, prefix string, h *history) ([]string, error) {
	keys := make([]string, len(h.days))
	for day, groups := range h.days {
		keys[day] = prefix + "seen:{" + h.agent + "}:" + strconv.Itoa(day)
		members := make([]any, len(groups))
		for i, group := range groups {
			members[i] = group
		}
		_, err := client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
			pipe.SAdd(ctx, keys[day], members...)
			pipe.Expire(ctx, keys[day], setTTL)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// querySets checks all candidates against the set of every day, in one pipeline.
func (b *bench) querySets(client redis.UniversalClient, keys []string, h *history) side {
	const name = "Redis SETs of each agent, SMISMEMBER"
	members := make([]any, len(h.asked))
	for i := range h.asked {
		members[i] = h.asked[i]
	}
	return side{name: name, run: func(ctx context.Context, _ int) (turn, error) {
		answers := make([]*redis.BoolSliceCmd, len(keys))
		t, err := eachFor(ctx, b.slice(), func(int) (time.Duration, error) {
			return timed(func() error {
				_, err := client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
					for day, key := range keys {
						answers[day] = pipe.SMIsMember(ctx, key, members...)
					}
					return nil
				})
				return err
			})
		})
		if err != nil {
			return t, err
		}
		hidden := b.wrong(name, h, func(i int) bool {
			for _, day := range answers {
				if day.Val()[i] {
					return true
				}
			}
			return false
		})
		if hidden > 0 {
			b.impossible("%s: the sets of %s contain %d items that were never delivered", name, h.agent, hidden)
		}
		return t, nil
	}}
}

func memoryOf(ctx context.Context, client redis.UniversalClient, keys []string) (sum int64, err error) {
	for _, key := range keys {
		n, err := client.MemoryUsage(ctx, key, 0).Result()
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// mustNot wraps a recall query in one that excludes everything the agent has seen. The scores do
// not change.
func mustNot(query []byte, h *history) ([]byte, error) {
	var body map[string]any
	if err := json.Unmarshal(query, &body); err != nil {
		return nil, err
	}
	var ids []string
	for _, day := range h.days {
		ids = append(ids, day...)
	}
	body["query"] = map[string]any{"bool": map[string]any{
		"must":     body["query"],
		"must_not": map[string]any{"terms": map[string]any{"id": ids}},
	}}
	return json.Marshal(body)
}
