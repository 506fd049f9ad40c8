package app

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/elastic/go-elasticsearch/v8/typedapi/core/ping"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/handler"
	"github.com/freshet/freshet/internal/esindex"
)

// check asks a service how it is. Optional services are reported, but leave the
// server ready: without them it still answers, degraded, and all servers share
// them, so that taking one out of rotation would take out all.
type check func(context.Context) handler.Dependency

// checks are the services the system stands on. What runs in this process
// needs no asking.
type checks map[string]check

var _ handler.Health = checks(nil)

// Check asks all of them at once.
func (c checks) Check(ctx context.Context) map[string]handler.Dependency {
	var mu sync.Mutex
	var wg sync.WaitGroup
	states := make(map[string]handler.Dependency, len(c))
	for name, service := range c {
		wg.Go(func() {
			state := service(ctx)
			mu.Lock()
			defer mu.Unlock()
			states[name] = state
		})
	}
	wg.Wait()
	return states
}

// watchTimeout is the longest a look at the services for the metrics may take.
const watchTimeout = 2 * time.Second

// watch keeps the metric of what is up until ctx ends. Reading the
// metrics must not wait for a service that does not answer.
func (c checks) watch(ctx context.Context, pause time.Duration) {
	c.look(ctx)
	every(ctx, pause, c.look)
}

func (c checks) look(ctx context.Context) {
	asking, cancel := context.WithTimeout(ctx, watchTimeout)
	defer cancel()
	for name, state := range c.Check(asking) {
		up := 1.0
		if state.Err != nil {
			up = 0
		}
		if ctx.Err() == nil {
			setUp(name, func(u *upState) { u.look = up })
		}
	}
}

func pingElastic(ctx context.Context, client esindex.Client) error {
	// The type that every other request takes; by default it is one of version 8 alone.
	res, err := ping.New(client).Header("Accept", "application/json").Perform(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode > 299 {
		return fmt.Errorf("elasticsearch answers %s", res.Status)
	}
	return nil
}

// indexFields are the configured field names, as the index package takes them.
// An empty name says that the index has no such field. Fields of Freshet's own have its
// names in every index that has them.
func indexFields(cfg configs.Config) esindex.Fields {
	f := cfg.Elasticsearch.Fields
	none := func(name string) string { return cmp.Or(name, esindex.None) }
	return esindex.Fields{
		ID: f.ID, Title: f.Title, UpdateTime: f.UpdateTime,
		GroupID: none(f.GroupID), Summary: none(f.Summary), URL: none(f.URL), ImageURL: none(f.ImageURL),
		AuthorID: none(f.AuthorID), Lang: none(f.Lang), Tags: none(f.Tags),
		Likes: none(f.Likes), Comments: none(f.Comments), Popularity: none(f.Popularity),
	}
}

// timeUnit is the unit of a time field that is a number; "" leaves it to the
// mapping.
func timeUnit(cfg configs.Config) string {
	if u := cfg.Elasticsearch.Fields.UpdateTimeUnit; u != configs.UnitAuto {
		return u
	}
	return ""
}
