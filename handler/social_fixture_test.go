package handler

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/graph"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/sqlite"
)

// storeTimelines are timelines that are read from the store, without lists.
type storeTimelines struct{ store social.Store }

func (s storeTimelines) Timeline(ctx context.Context, r engine.TimelineRequest) (engine.TimelinePage, error) {
	list, err := s.store.Pull(ctx, social.PullQuery{Reader: r.Agent, Below: r.Below, N: r.Limit + 1, Whole: true})
	if err != nil {
		return engine.TimelinePage{}, err
	}
	var page engine.TimelinePage
	if page.HasMore = len(list) > r.Limit; page.HasMore {
		list = list[:r.Limit]
	}
	if len(list) > 0 {
		page.Next = list[len(list)-1].Position
	}
	known := make([]social.Known, len(list))
	for i, e := range list {
		known[i].ID = e.ID
	}
	page.Posts, err = s.store.Cards(ctx, r.Agent, known)
	return page, err
}

func (s storeTimelines) Warm(ctx context.Context, agent string) error {
	_, err := s.Timeline(ctx, engine.TimelineRequest{Agent: agent, Limit: 1})
	return err
}

// socialFixture is a fixture with a real store of posts.
func socialFixture(t testing.TB, change func(*Config, *Deps)) (*fixture, *sqlite.Store) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "social.db"), social.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return newFixture(t, func(c *Config, d *Deps) {
		d.Social = &Social{Store: store, Timelines: storeTimelines{store}, Queue: store, Graph: graph.NewApplier(store, graph.Config{})}
		if change != nil {
			change(c, d)
		}
	}), store
}

// publish stores a post, with a caption and for everybody where it does not say.
func publish(t testing.TB, store social.Store, p social.Post) social.Post {
	t.Helper()
	if p.Caption == "" {
		p.Caption = "A post of " + p.Author
	}
	if p.Audience.Reach() == social.Addressed && p.Audience.Circles == nil && p.Mentions == nil {
		p.Audience.Public = true
	}
	stored, _, err := store.CreatePost(t.Context(), p, social.Creation{})
	require.NoError(t, err)
	return stored
}
