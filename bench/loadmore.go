package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/rediskeys"
)

// pages is a measured load_more: a server, and the setup of its agents' sessions.
type pages struct {
	name    string
	addr    string
	session func(ctx context.Context, agents []string) error
	settle  func(context.Context) error
}

// comparePages measures the sides over HTTP, each with as many agents as the first side can serve
// in a turn.
func (b *bench) comparePages(ctx context.Context, least int, all ...pages) ([]total, error) {
	n := clients
	probe, err := all[0].side("warm", n, least)(ctx, 0)
	if err != nil {
		return nil, err
	}
	perSecond := float64(probe.times.TotalCount()) / probe.took.Seconds()
	n = max(n, min(5000, int(perSecond*b.slice().Seconds()/agentPages)))
	sides := make([]side, len(all))
	for i, p := range all {
		if i > 0 {
			if _, err := p.side("warm", clients, least)(ctx, 0); err != nil {
				return nil, err
			}
		}
		sides[i] = side{
			name: p.name, settle: p.settle,
			prepare: func(ctx context.Context, round int) error { return p.session(ctx, agentNames(p.kind(round), n)) },
			run: func(ctx context.Context, round int) (turn, error) {
				return load(ctx, p.addr, agentNames(p.kind(round), n), least)
			},
		}
	}
	return b.compare(ctx, b.rounds(), sides...)
}

func (p pages) kind(round int) string { return fmt.Sprintf("r%d", round) }

// side prepares and runs one turn.
func (p pages) side(kind string, n, least int) func(context.Context, int) (turn, error) {
	return func(ctx context.Context, _ int) (turn, error) {
		if err := p.session(ctx, agentNames(kind, n)); err != nil {
			return turn{}, err
		}
		return load(ctx, p.addr, agentNames(kind, n), least)
	}
}

// agentNames returns names that no other kind shares.
func agentNames(kind string, n int) []string {
	agents := make([]string, n)
	for i := range agents {
		agents[i] = fmt.Sprintf("%s_%d", kind, i)
	}
	return agents
}

// ungrouped returns n items, each in its own group.
func ungrouped(n int) []feed.Item {
	items := makeItems(n, time.Now())
	for i := range items {
		items[i].GroupID = ""
	}
	return items
}

func (b *bench) loadMoreEmbedded(ctx context.Context) (results []Result, err error) {
	cfg := b.embeddedConfig(filepath.Join(b.dir, "load_more"))
	cfg.Recall.N = sessionItems + page
	s, err := b.serve(ctx, cfg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	items := ungrouped(sessionItems + page)
	if err := b.put(ctx, s, items); err != nil {
		return nil, err
	}
	var answer bytes.Buffer
	answer.WriteString(`{"code":0,"msg":"success","data":{"items":`)
	if err := json.NewEncoder(&answer).Encode(items[:page]); err != nil {
		return nil, err
	}
	answer.WriteString(`,"has_more":true}}`)
	addr, stop, err := bare(ctx, constant(answer.Bytes()))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	totals, err := b.comparePages(ctx, answer.Len()/2,
		pages{name: "bare gin, constant JSON", addr: addr, session: func(context.Context, []string) error { return nil }},
		pages{name: "freshet", addr: s.addr, session: s.sessions, settle: s.recorded},
	)
	if err != nil {
		return nil, err
	}
	return []Result{{
		What:  fmt.Sprintf("%d clients over loopback HTTP, sessions of %d items, pages of %d", clients, sessionItems, page),
		Cases: measured(totals), Ratios: []Ratio{ratio(totals[1], totals[0])},
	}}, b.verify(ctx, s)
}

// sessions creates a session for each agent with a refresh, which takes the first page.
func (s *system) sessions(ctx context.Context, agents []string) error {
	for _, agent := range agents {
		if _, err := s.Engine.Feed(ctx, refresh(agent)); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) loadMoreServices(ctx context.Context) (results []Result, err error) {
	cfg := b.servicesConfig(filepath.Join(b.dir, "services"))
	s, err := b.serve(ctx, cfg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	items := ungrouped(sessionItems)
	if err := b.put(ctx, s, items); err != nil {
		return nil, err
	}
	client, keys := b.services.redis, rediskeys.For(b.services.redis, b.prefix())
	least, err := cacheItems(ctx, client, keys, items)
	if err != nil {
		return nil, err
	}
	list := func(agent string) string { return b.prefix() + "bare:" + agent }
	addr, stop, err := bare(ctx, popAndRead(client, list, keys.Item, keys.Cluster()))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	lists := func(name func(string) string) func(context.Context, []string) error {
		return func(ctx context.Context, agents []string) error {
			return pushLists(ctx, client, keys, cfg.Sessions.TTL, items, agents, name)
		}
	}
	var same bytes.Buffer
	if err := json.NewEncoder(&same).Encode(items[:page]); err != nil {
		return nil, err
	}
	constAddr, stopConst, err := bare(ctx, constant(same.Bytes()))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stopConst()) }()
	totals, err := b.comparePages(ctx, min(least, same.Len()),
		pages{name: "bare gin, LPOP + MGET", addr: addr, session: lists(list)},
		pages{name: "bare gin, constant JSON", addr: constAddr, session: func(context.Context, []string) error { return nil }},
		pages{name: "freshet", addr: s.addr, session: lists(func(agent string) string { return keys.Session(agent, feed.ForYou) }), settle: s.recorded},
	)
	if err != nil {
		return nil, err
	}
	return []Result{{
		What:   fmt.Sprintf("%d clients over loopback HTTP, sessions of %d items, pages of %d, items in the content cache", clients, sessionItems, page),
		Cases:  measured(totals),
		Ratios: []Ratio{ratio(totals[2], totals[0]), ratio(totals[2], totals[1])},
	}}, b.verify(ctx, s)
}

// cacheItems puts the items' JSON into the content cache and returns the minimum size of a page.
func cacheItems(ctx context.Context, client redis.UniversalClient, keys rediskeys.Keys, items []feed.Item) (int, error) {
	shortest := 1 << 20
	_, err := client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for _, it := range items {
			text, err := it.MarshalJSON()
			if err != nil {
				return err
			}
			shortest = min(shortest, len(text))
			pipe.Set(ctx, keys.Item(it.ID), text, time.Hour)
		}
		return nil
	})
	return page * shortest, err
}

// pushLists gives each agent a list of the items' ids in the form of a session, and the marker of
// an agent without a profile.
func pushLists(
	ctx context.Context, client redis.UniversalClient, keys rediskeys.Keys, ttl time.Duration,
	items []feed.Item, agents []string, name func(string) string,
) error {
	refs := make([]any, len(items))
	for i, it := range items {
		refs[i] = it.ID
	}
	for len(agents) > 0 {
		some := agents[:min(200, len(agents))]
		agents = agents[len(some):]
		_, err := client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
			for _, agent := range some {
				pipe.RPush(ctx, name(agent), refs...)
				pipe.PExpire(ctx, name(agent), ttl)
				pipe.Set(ctx, keys.Profile(agent), "null", time.Hour)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// measured converts the totals of all sides for the report.
func measured(totals []total) []Case {
	cases := make([]Case, len(totals))
	for i, t := range totals {
		cases[i] = t.measured()
	}
	return cases
}
