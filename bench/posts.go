package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/social/jobs"
)

const postBody = `{"caption":"A few words of about the length that people write. #Like so, and not much more"}`

// writing is a server whose posts are tracked until they are in, or removed from, the last list.
type writing struct {
	b    *bench
	s    *system
	c    *client
	keys rediskeys.Keys
}

// postsServices measures publishing, deleting and unfollowing, one at a time, with an idle queue.
func (b *bench) postsServices(ctx context.Context) (results []Result, err error) {
	if err := b.fillNetwork(ctx); err != nil {
		return nil, err
	}
	cfg := b.socialConfig(filepath.Join(b.dir, "network"))
	cfg.Timeline.CelebrityAt = 1_000_000 // everyone's posts are pushed to lists
	s, err := b.serve(ctx, cfg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	w := &writing{b: b, s: s, keys: rediskeys.For(b.services.redis, b.prefix())}
	if err := w.warm(ctx, names(b.people().fans, fan)); err != nil {
		return nil, err
	}
	w.c, err = dial(ctx, s.addr) // now: a server closes a connection that sends no request for long
	if err != nil {
		return nil, err
	}
	defer func() { _ = w.c.conn.Close() }()
	for _, part := range []func(context.Context) (Result, error){w.publishing, w.unfollowing} {
		r, err := part(ctx)
		if err != nil {
			return results, err
		}
		results = append(results, r)
	}
	for _, fans := range b.idols() {
		r, err := w.spreading(ctx, fans)
		if err != nil {
			return results, err
		}
		results = append(results, r)
	}
	return results, nil
}

// warm builds the lists of agents.
func (w *writing) warm(ctx context.Context, agents []string) error {
	errs := make([]error, clients)
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			c, err := dial(ctx, w.s.addr)
			if err != nil {
				errs[i] = err
				return
			}
			defer func() { _ = c.conn.Close() }()
			for at := i; at < len(agents) && errs[i] == nil; at += clients {
				_, errs[i] = c.call(http.MethodPost, "/v1/timeline/warm", agents[at], "{}")
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// publish returns the id of the new post.
func (c *client) publish(author string) (string, error) {
	body, err := c.call(http.MethodPost, "/v1/posts", author, postBody)
	if err != nil {
		return "", err
	}
	return published(body)
}

// published returns the id of a post from the answer to its publication.
func published(body []byte) (string, error) {
	var answer struct {
		Data struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	err := json.Unmarshal(body, &answer)
	return answer.Data.ID, err
}

// publishing compares publishing a post, up to its answer, with a database commit.
func (w *writing) publishing(ctx context.Context) (Result, error) {
	if err := w.b.exec(ctx, `CREATE TABLE IF NOT EXISTS commits (n bigint)`); err != nil {
		return Result{}, err
	}
	author := follower(w.b.people().followees, 0) // has no followers, and a list
	if err := w.c.page(author); err != nil {
		return Result{}, err
	}
	totals, err := w.b.compare(ctx, w.b.rounds(),
		side{name: "the database's own commit", run: func(ctx context.Context, _ int) (turn, error) {
			return eachFor(ctx, w.b.slice(), func(i int) (time.Duration, error) {
				return timed(func() error {
					_, err := w.b.services.postgres.Exec(ctx, `INSERT INTO commits VALUES ($1)`, i)
					return err
				})
			})
		}},
		side{
			name: "freshet", settle: func(ctx context.Context) error { return w.b.idle(ctx, w.s) },
			run: func(ctx context.Context, _ int) (turn, error) {
				return eachFor(ctx, w.b.slice(), func(int) (time.Duration, error) {
					return timed(func() error { _, err := w.c.publish(author); return err })
				})
			},
		})
	if err != nil {
		return Result{}, err
	}
	commit, post := totals[0].measured().Latency, totals[1].measured().Latency
	return Result{
		What:  "publish, to the answer: one client over loopback HTTP, own list there, no followers",
		Cases: measured(totals),
		Figures: []Value{
			{"publish, p50 beyond a commit", (post.P50 - commit.P50) / 1e3, "ms"}, {"publish, p99 beyond a commit", (post.P99 - commit.P99) / 1e3, "ms"},
		},
	}, nil
}

// unfollowing measures an unfollow up to its answer; the list is correct by then.
func (w *writing) unfollowing(ctx context.Context) (Result, error) {
	n := w.b.people().followees
	totals, err := w.b.compare(ctx, w.b.rounds(), side{name: "freshet", run: func(ctx context.Context, round int) (turn, error) {
		return eachFor(ctx, w.b.slice(), func(i int) (time.Duration, error) {
			agent := follower(n, 1+i%(w.b.people().readers-1))
			if err := w.c.page(agent); err != nil {
				return 0, err
			}
			path := "/v1/agents/" + agent + "/following/" + author((round*17+i)%n)
			if _, err := w.c.call(http.MethodPut, path, agent, ""); err != nil {
				return 0, err
			}
			return timed(func() error { _, err := w.c.call(http.MethodDelete, path, agent, ""); return err })
		})
	}})
	if err != nil {
		return Result{}, err
	}
	l := totals[0].measured().Latency
	return Result{
		What:    fmt.Sprintf("unfollow, to the answer: one client over loopback HTTP, lists there, readers of %d authors", n),
		Cases:   measured(totals),
		Figures: []Value{{"unfollow, p50", l.P50 / 1e3, "ms"}, {"unfollow, p99", l.P99 / 1e3, "ms"}},
	}, nil
}

// spreading publishes and deletes posts of an author with that many followers, who all have a
// list. It measures the time from the change to the end of its job, by the queue's timestamps.
func (w *writing) spreading(ctx context.Context, fans int) (Result, error) {
	author, agents := followedBy(fans), names(fans, fan)
	var posts []string
	job := func(change func(i int) (string, error)) func(context.Context, int) (turn, error) {
		return func(ctx context.Context, _ int) (turn, error) {
			return eachFor(ctx, w.b.slice(), func(i int) (time.Duration, error) {
				id, err := change(i)
				if err != nil {
					return 0, err
				}
				return w.delivered(ctx, id)
			})
		}
	}
	pushed, err := w.b.compare(ctx, w.b.rounds(),
		side{name: "published", run: job(func(int) (string, error) {
			id, err := w.c.publish(author)
			posts = append(posts, id)
			return id, err
		}), settle: func(ctx context.Context) error { return w.held(ctx, posts[len(posts)-1], agents, true) }},
		side{name: "deleted", prepare: func(ctx context.Context, _ int) error {
			for len(posts) < 3 {
				id, err := w.c.publish(author)
				if err != nil {
					return err
				}
				if _, err := w.delivered(ctx, id); err != nil {
					return err
				}
				posts = append(posts, id)
			}
			return nil
		}, run: func(ctx context.Context, _ int) (turn, error) {
			all := posts
			posts = nil
			t, err := w.deleteAll(ctx, author, all)
			if err != nil {
				return t, err
			}
			return t, w.held(ctx, all[0], agents, false)
		}})
	if err != nil {
		return Result{}, err
	}
	r := Result{What: fmt.Sprintf("from a change's commit to the last of %d lists, one at a time, idle queue", fans), Cases: measured(pushed)}
	r.Figures = []Value{{"lists", float64(fans), ""}}
	for i, what := range []string{"publish", "delete"} {
		c := r.Cases[i]
		r.Figures = append(r.Figures, Value{what + ", p50", c.Latency.P50 / 1e3, "ms"}, Value{what + ", p99", c.Latency.P99 / 1e3, "ms"})
		for process, us := range c.CPU {
			r.Figures = append(r.Figures, Value{what + ", CPU of a list, " + process, us / float64(fans), "µs"})
		}
	}
	return r, nil
}

// deleteAll deletes posts, one after the other.
func (w *writing) deleteAll(ctx context.Context, author string, posts []string) (turn, error) {
	t := turn{times: newTimes()}
	for _, id := range posts {
		if _, err := w.c.call(http.MethodDelete, "/v1/posts/"+id, author, ""); err != nil {
			return t, err
		}
		took, err := w.delivered(ctx, id)
		if err != nil {
			return t, err
		}
		t.took += took
		if err := t.times.RecordValue(int64(took)); err != nil {
			return t, err
		}
	}
	return t, nil
}

// delivered waits until the job of a post is done and returns how long it took.
func (w *writing) delivered(ctx context.Context, id string) (time.Duration, error) {
	for {
		list, err := w.s.Social.List(ctx, jobs.Filter{Kind: jobs.Deliver, Key: id})
		if err != nil {
			return 0, err
		}
		if len(list) == 1 && list[0].State == jobs.Completed {
			return list[0].FinishedAt.Sub(list[0].Due), nil
		}
		if err := sleep(ctx, 2*time.Millisecond); err != nil {
			return 0, err
		}
	}
}

// held records lists that lack a post that they must contain, or the reverse.
func (w *writing) held(ctx context.Context, id string, agents []string, want bool) error {
	var cmds []*redis.FloatCmd
	_, err := w.b.services.redis.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for _, agent := range agents {
			cmds = append(cmds, pipe.ZScore(ctx, w.keys.Timeline(agent), id))
		}
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return err
	}
	wrong := 0
	for _, cmd := range cmds {
		if (cmd.Err() == nil) != want {
			wrong++
		}
	}
	if wrong > 0 {
		w.b.impossible("%s: %d of %d lists are wrong after its job (it must be there: %v)", id, wrong, len(agents), want)
	}
	return nil
}
