package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
)

// The answers to a reader have the new-reader mark until the first refresh has ended.
func TestNewReader(t *testing.T) {
	t.Parallel()
	type ask struct {
		engine.Request
		isNew bool
	}
	for name, c := range map[string]struct {
		items  int
		before func(t *testing.T, r *rig)
		asks   []ask
	}{
		"a refresh":           {items: 30, asks: []ask{{refresh(5), true}, {refresh(5), false}, {loadMore(5), false}, {silent(5), false}}},
		"load_more refreshes": {items: 30, asks: []ask{{loadMore(5), true}, {loadMore(5), false}, {refresh(5), false}}},
		"home":                {items: 30, asks: []ask{{ofHome(refresh(5)), true}, {refresh(5), false}, {ofHome(refresh(5)), false}}},
		"the other":           {items: 30, asks: []ask{{refresh(5), true}, {ofHome(silent(5)), false}, {ofHome(loadMore(5)), false}}},
		"a named feed":        {items: 30, asks: []ask{{of("tag:news", silent(5)), true}, {of("tag:news", refresh(5)), true}, {of("lang:de", silent(5)), false}, {silent(5), false}}},
		"a badge is no refresh": {
			items: 30, asks: []ask{{silent(5), true}, {ofHome(silent(5)), true}, {silent(5), true}, {refresh(5), true}, {silent(5), false}},
		},
		"there is nothing": {asks: []ask{{silent(5), true}, {refresh(5), true}, {refresh(5), false}, {silent(5), false}}},
		"a retry": {items: 30, asks: []ask{
			{named(refresh(5), "r1"), true}, {named(refresh(5), "r1"), true}, {refresh(5), false}, {named(refresh(5), "r1"), true},
		}},
		"a retry of load_more": {items: 30, asks: []ask{{named(loadMore(5), "r1"), true}, {named(loadMore(5), "r1"), true}, {named(loadMore(5), "r2"), false}}},
		"a first page that is filled up": {items: 30, asks: []ask{{refresh(5), true}, {refresh(5), false}}, before: func(t *testing.T, r *rig) {
			r.removeBehind(t, run(0, 7)...)
		}},
		"after an erase": {items: 30, asks: []ask{{silent(5), true}, {refresh(5), true}, {refresh(5), false}}, before: func(t *testing.T, r *rig) {
			r.ask(t, refresh(5))
			require.NoError(t, r.Forget(t.Context(), "u_1"))
		}},
		"after a long time, with something learned": {items: 30, asks: []ask{{silent(5), false}, {refresh(5), false}}, before: func(t *testing.T, r *rig) {
			r.learned("u_1")
		}},
		"a profile that was uploaded": {items: 30, asks: []ask{{silent(5), true}, {refresh(5), true}}, before: func(t *testing.T, r *rig) {
			require.NoError(t, r.PutProfile(t.Context(), "u_1", feed.Profile{Interests: map[string]float64{"news": 2}}))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, c.items, nil)
			if c.before != nil {
				c.before(t, r)
			}
			for i, q := range c.asks {
				assert.Equal(t, q.isNew, r.ask(t, q.Request).NewReader, "call %d", i+1)
			}
		})
	}
}

// learned stores a learned feature for an agent.
func (r *rig) learned(agent string) {
	shelf := r.stores.Catalog.(*shelf)
	shelf.mu.Lock()
	defer shelf.mu.Unlock()
	shelf.profiles[agent] = feed.Profile{Learned: feed.Learned{At: 1, Alone: true, Features: []feed.LearnedFeature{{Evidence: 1}}}}
}

// A degraded answer does not have the new-reader mark.
func TestNewReaderDegraded(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(r *rig){
		"sessions":   func(r *rig) { r.sessions.down(cache.ErrUnavailable) },
		"dedup":      func(r *rig) { r.seen.down(dedup.ErrUnavailable) },
		"recall":     func(r *rig) { r.recall.stale = true },
		"recovering": func(r *rig) { r.recovery.recovering = true },
	} {
		for call, q := range map[string]engine.Request{"refresh": refresh(5), "load_more": loadMore(5), "silent": silent(5), "home": ofHome(refresh(5))} {
			t.Run(name+", "+call, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, 30, nil)
				spoil(r)
				a := r.ask(t, q)
				require.NotEmpty(t, a.Degraded)
				assert.False(t, a.NewReader)
			})
		}
	}
}

// The check costs no additional call for known readers and for pages of a session.
func TestNewReaderCheckCost(t *testing.T) {
	t.Parallel()
	r := newRig(t, 30, nil)
	r.ask(t, refresh(5))
	assert.Zero(t, r.sessions.count("Refreshed"))
	r.ask(t, silent(5))
	assert.Equal(t, 1, r.sessions.count("Refreshed"))
}

// TestIsNew checks that it reports whether no feed has shown anything to an agent.
func TestIsNew(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before func(t *testing.T, r *rig)
		want   bool
	}{
		"nothing":         {func(*testing.T, *rig) {}, true},
		"a badge":         {func(t *testing.T, r *rig) { r.ask(t, silent(5)) }, true},
		"for-you":         {func(t *testing.T, r *rig) { r.ask(t, refresh(5)) }, false},
		"home":            {func(t *testing.T, r *rig) { r.ask(t, ofHome(refresh(5))) }, false},
		"nine days ago":   {func(t *testing.T, r *rig) { r.ask(t, refresh(5)); r.advance(9 * 24 * time.Hour) }, true},
		"sessions down":   {func(_ *testing.T, r *rig) { r.sessions.down(cache.ErrUnavailable) }, false},
		"sessions forgot": {func(_ *testing.T, r *rig) { r.recovery.recovering = true }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, 10, nil)
			c.before(t, r)
			assert.Equal(t, c.want, r.IsNew(context.Background(), "u_1"))
		})
	}
}
