package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/social"
)

// Numbers of followees for the comparison with a pull, and for cold timelines.
var (
	pullSizes = []int{10, 100, 1000}
	coldSizes = []int{1000, 7500}
)

const (
	timelinePath = "/v1/timeline?limit=20"
	leastPage    = page * 100 // bytes; less than any page of the network's posts
)

// reading is a side that answers GET with a page for each agent.
func (b *bench) reading(name, addr, path string, agents []string) side {
	return side{name: name, run: func(ctx context.Context, _ int) (turn, error) {
		return askFor(ctx, addr, path, agents, leastPage, b.slice())
	}}
}

// askFor makes the clients request pages of random agents for a while.
func askFor(ctx context.Context, addr, path string, agents []string, least int, d time.Duration) (turn, error) {
	turns, errs := make([]turn, clients), make([]error, clients)
	var wg sync.WaitGroup
	start := time.Now()
	for i := range clients {
		wg.Go(func() {
			c, err := dial(ctx, addr)
			if err != nil {
				errs[i] = err
				return
			}
			defer func() { _ = c.conn.Close() }()
			defer context.AfterFunc(ctx, func() { _ = c.conn.Close() })()
			turns[i], errs[i] = eachFor(ctx, d, func(int) (time.Duration, error) {
				agent := agents[rand.IntN(len(agents))]
				return timed(func() error {
					body, err := c.call(http.MethodGet, path, agent, "")
					if err == nil && len(body) < least {
						err = fmt.Errorf("a page of %d bytes for %s", len(body), agent)
					}
					return err
				})
			})
		})
	}
	wg.Wait()
	sum := turn{took: time.Since(start), times: newTimes()}
	if err := errors.Join(append(errs, ctx.Err())...); err != nil {
		return sum, err
	}
	for _, t := range turns {
		sum.times.Merge(t.times)
	}
	return sum, nil
}

// timelineEmbedded compares a page with a handler that sends the same bytes.
func (b *bench) timelineEmbedded(ctx context.Context) (results []Result, err error) {
	cfg := b.embeddedConfig(filepath.Join(b.dir, "timeline"))
	cfg.Social.Off = false
	s, err := b.serve(ctx, cfg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	readers, err := b.smallNetwork(ctx, s)
	if err != nil {
		return nil, err
	}
	same, err := ask(ctx, s.addr, timelinePath, readers...)
	if err != nil {
		return nil, err
	}
	addr, stop, err := bare(ctx, constant(same))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	totals, err := b.compare(ctx, b.rounds(),
		b.reading("bare gin, constant JSON", addr, timelinePath, readers),
		b.reading("freshet", s.addr, timelinePath, readers))
	if err != nil {
		return nil, err
	}
	return []Result{{
		What:  fmt.Sprintf("%d clients over loopback HTTP, first pages of %d, lists there", clients, page),
		Cases: measured(totals), Ratios: []Ratio{ratio(totals[1], totals[0])},
	}}, nil
}

// smallNetwork creates posts directly in the store and returns readers that follow all authors.
func (b *bench) smallNetwork(ctx context.Context, s *system) (readers []string, err error) {
	const authors, posts = 20, 10
	var edges []social.Edge
	readers = names(clients, func(i int) string { return follower(authors, i) })
	for _, reader := range readers {
		for i := range authors {
			edges = append(edges, social.Edge{Agent: reader, Author: author(i)})
		}
	}
	if _, _, err := s.Social.FollowAll(ctx, edges, time.Now()); err != nil {
		return nil, err
	}
	for i := range authors * posts {
		p := social.Post{Author: author(i % authors), Caption: "A few words of about the length that people write. #Like so", Audience: social.Audience{Public: true}}
		if _, _, err := s.Social.CreatePost(ctx, p, social.Creation{}); err != nil {
			return nil, err
		}
	}
	return readers, b.idle(ctx, s)
}

// idle waits until no job is due.
func (b *bench) idle(ctx context.Context, s *system) error {
	for {
		st, err := s.Social.Stats(ctx)
		if err != nil || st.Oldest == 0 {
			return err
		}
		if err := sleep(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
}

// ask requests one page for each agent and returns the last answer.
func ask(ctx context.Context, addr, path string, agents ...string) ([]byte, error) {
	c, err := dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.conn.Close() }()
	var body []byte
	for _, agent := range agents {
		if body, err = c.call(http.MethodGet, path, agent, ""); err != nil {
			return nil, fmt.Errorf("%s of %s: %w", path, agent, err)
		}
	}
	return body, nil
}

// timelineServices compares a page from an existing list with the minimum work for a page and
// with a pull; it also measures pages without a list.
func (b *bench) timelineServices(ctx context.Context) (results []Result, err error) {
	if err := b.fillNetwork(ctx); err != nil {
		return nil, err
	}
	s, err := b.serve(ctx, b.socialConfig(filepath.Join(b.dir, "network")))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	for _, part := range []func(context.Context, *system) ([]Result, error){b.pagesThere, b.pagesPulled, b.pagesCold} {
		more, err := part(ctx, s)
		results = append(results, more...)
		if err != nil {
			return results, err
		}
	}
	return results, nil
}

// pagesThere measures pages from existing lists.
func (b *bench) pagesThere(ctx context.Context, s *system) (results []Result, err error) {
	p, client := b.people(), b.services.redis
	keys := rediskeys.For(client, b.prefix())
	readers, gazers := names(p.readers, func(i int) string { return follower(p.followees, i) }), names(p.readers, starGazer)
	for _, agents := range [][]string{readers, gazers} {
		if _, err := ask(ctx, s.addr, timelinePath, agents...); err != nil {
			return nil, err
		}
	}
	card := func(id string) string { return b.prefix() + "bare:" + id }
	if err := b.cacheCards(ctx, keys.Timeline, card, readers); err != nil {
		return nil, err
	}
	addr, stop, err := bare(ctx, rangeAndRead(client, b.services.postgres, keys.Timeline, card, keys.Cluster()))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	totals, err := b.compare(ctx, b.rounds(),
		b.reading("bare gin, ZREVRANGE + MGET + SELECT", addr, timelinePath, readers),
		b.reading("freshet", s.addr, timelinePath, readers),
		b.reading(fmt.Sprintf("freshet, %d celebrities", p.stars), s.addr, timelinePath, gazers))
	if err != nil {
		return nil, err
	}
	figures, err := b.listMemory(ctx, keys.Timeline(readers[0]))
	latency := totals[1].measured().Latency
	figures = append(figures, Value{"page, p50", latency.P50 / 1e3, "ms"}, Value{"page, p99", latency.P99 / 1e3, "ms"})
	return []Result{{
		What: fmt.Sprintf("%d clients over loopback HTTP, first pages of %d, lists there, readers of %d authors, %d posts",
			clients, page, p.followees, p.authors*p.posts),
		Cases: measured(totals), Ratios: []Ratio{ratio(totals[1], totals[0]), ratio(totals[2], totals[0])}, Figures: figures,
	}}, err
}

// listMemory measures the memory of a list in Redis, as configured.
func (b *bench) listMemory(ctx context.Context, key string) ([]Value, error) {
	used, err := b.services.redis.MemoryUsage(ctx, key, 0).Result()
	if err != nil {
		return nil, fmt.Errorf("MEMORY USAGE %s: %w", key, err)
	}
	entries, err := b.services.redis.ZCount(ctx, key, "0", "+inf").Result()
	if err != nil {
		return nil, err
	}
	encoding, err := b.services.redis.ObjectEncoding(ctx, key).Result()
	if err != nil {
		return nil, err
	}
	return []Value{{"entries of a list", float64(entries), ""}, {"bytes an entry, " + encoding, float64(used) / float64(entries), "bytes"}}, nil
}

// cacheCards stores the posts of agents' lists where the bare handler reads them.
func (b *bench) cacheCards(ctx context.Context, list, card func(string) string, agents []string) error {
	for _, agent := range agents {
		ids, err := b.services.redis.ZRevRange(ctx, list(agent), 0, page-1).Result()
		if err != nil {
			return err
		}
		cards, err := rowsOf(ctx, b.services.postgres, `SELECT content FROM posts WHERE id = ANY ($1)`, ids)
		if err != nil {
			return err
		}
		if len(cards) != page {
			return fmt.Errorf("the list of %s has %d posts", agent, len(cards))
		}
		_, err = b.services.redis.Pipelined(ctx, func(pipe redis.Pipeliner) error {
			for i, id := range ids {
				pipe.Set(ctx, card(id), cards[i], time.Hour)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// rangeAndRead is the minimum work for a timeline page: ZREVRANGE, MGET of the posts, and one
// SELECT that finds which of them still exist.
func rangeAndRead(client redis.UniversalClient, pool *pgxpool.Pool, list, card func(string) string, cluster bool) gin.HandlerFunc {
	read := client.MGet
	if cluster {
		read = func(ctx context.Context, keys ...string) *redis.SliceCmd { return getAll(ctx, client, keys) }
	}
	return func(c *gin.Context) {
		ctx := c.Request.Context()
		ids, err := client.ZRevRange(ctx, list(c.GetHeader("X-Agent-ID")), 0, page-1).Result()
		if err != nil {
			c.Status(http.StatusInternalServerError)
			return
		}
		keys := make([]string, len(ids))
		for i, id := range ids {
			keys[i] = card(id)
		}
		values, err := read(ctx, keys...).Result()
		if err != nil {
			c.Status(http.StatusInternalServerError)
			return
		}
		there, err := rowsOf(ctx, pool, `SELECT id FROM posts WHERE id = ANY ($1) AND gone = 0`, ids)
		if err != nil || len(there) != len(ids) {
			c.Status(http.StatusInternalServerError)
			return
		}
		cards := make([]string, len(values))
		for i, v := range values {
			cards[i], _ = v.(string)
		}
		writePage(c, cards)
	}
}

// pagesCold measures pages whose lists must be built first, one at a time.
func (b *bench) pagesCold(ctx context.Context, s *system) (results []Result, err error) {
	keys := rediskeys.For(b.services.redis, b.prefix())
	for _, n := range b.people().many(coldSizes...) {
		c, err := dial(ctx, s.addr)
		if err != nil {
			return results, err
		}
		defer func() { _ = c.conn.Close() }()
		totals, err := b.compare(ctx, b.rounds(),
			side{name: "freshet", run: func(ctx context.Context, _ int) (turn, error) {
				return eachFor(ctx, b.slice(), func(i int) (time.Duration, error) {
					agent := follower(n, i%few)
					if err := b.services.redis.Unlink(ctx, keys.Timeline(agent)).Err(); err != nil {
						return 0, err
					}
					return timed(func() error { return c.page(agent) })
				})
			}},
			side{name: "the query of a build alone", run: func(ctx context.Context, _ int) (turn, error) {
				return eachFor(ctx, b.slice(), func(i int) (time.Duration, error) {
					return timed(func() error {
						_, err := s.Social.Pull(ctx, social.PullQuery{Reader: follower(n, i%few), N: configs.Default().Timeline.Cap + 1})
						return err
					})
				})
			}})
		if err != nil {
			return results, err
		}
		cold := totals[0].measured()
		results = append(results, Result{
			What:  fmt.Sprintf("one client over loopback HTTP, first page of %d, the list built for it, readers of %d authors", page, n),
			Cases: measured(totals),
			Figures: []Value{
				{"followees, cold", float64(n), ""}, {"p50", cold.Latency.P50 / 1e3, "ms"}, {"p99", cold.Latency.P99 / 1e3, "ms"},
			},
		})
	}
	return results, nil
}

// page requests an agent's first page, which must be full and not degraded.
func (c *client) page(agent string) error {
	body, err := c.call(http.MethodGet, timelinePath, agent, "")
	if err != nil {
		return err
	}
	var answer struct {
		Data struct {
			Items    []json.RawMessage `json:"items"`
			Degraded []string          `json:"degraded"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return err
	}
	if len(answer.Data.Items) != page || len(answer.Data.Degraded) > 0 {
		return fmt.Errorf("a page of %d posts for %s, without %v", len(answer.Data.Items), agent, answer.Data.Degraded)
	}
	return nil
}
