package demo_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/server/demo"
	"github.com/freshet/freshet/signals/events"
)

// reading answers each page with items of the catalog, and records the calls.
type reading struct {
	items []feed.Item
	asked map[string][]engine.Action
	acts  map[string][]engine.Act
	calls int
}

func (r *reading) Feed(_ context.Context, q engine.Request) (engine.Answer, error) {
	r.calls++
	r.asked[q.Agent] = append(r.asked[q.Agent], q.Action)
	if r.calls == 3 {
		return engine.Answer{}, errors.New("busy")
	}
	var a engine.Answer
	for i := range q.Limit {
		it := r.items[(r.calls*q.Limit+i)%len(r.items)]
		text, err := json.Marshal(it)
		if err != nil {
			return a, err
		}
		a.Docs = append(a.Docs, feed.Doc{ID: it.ID, JSON: text})
	}
	return a, nil
}

func (r *reading) React(_ context.Context, agent string, acts []engine.Act) (api.EventsTaken, error) {
	r.acts[agent] = append(r.acts[agent], acts...)
	return api.EventsTaken{Accepted: len(acts)}, nil
}

func TestRead(t *testing.T) {
	r := &reading{items: demo.Generate(1, 2000, now), asked: map[string][]engine.Action{}, acts: map[string][]engine.Act{}}
	tags := map[string][]string{}
	for _, it := range r.items {
		tags[it.ID] = it.Tags
	}
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		demo.Read(t.Context(), r, time.Second, slog.New(slog.DiscardHandler))
		require.Equal(t, time.Minute, time.Since(begun), "a call each second")
	})
	require.Equal(t, 60, r.calls, "a call that fails does not end it")
	require.Len(t, r.asked, len(demo.Tastes()))
	for agent, taste := range demo.Tastes() {
		require.NoError(t, feed.CheckAgentID(agent))
		require.Equal(t, []engine.Action{engine.ActionRefresh, engine.ActionLoadMore, engine.ActionLoadMore, engine.ActionRefresh}, r.asked[agent][:4])
		n := map[events.Kind]int{}
		wanted := 0
		for _, act := range r.acts[agent] {
			n[act.Kind]++
			if act.Kind == events.Click && slices.ContainsFunc(tags[act.ID], func(tag string) bool { return slices.Contains(taste, tag) }) {
				wanted++
			}
		}
		require.Greater(t, wanted, n[events.Click]/2, "%s clicks what is to their taste", agent)
		require.Positive(t, n[events.Like], agent)
		require.Positive(t, n[events.Hide], agent)
	}
}

func TestReadEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := &reading{}
	demo.Read(ctx, r, time.Hour, slog.New(slog.DiscardHandler))
	require.Zero(t, r.calls)
}
