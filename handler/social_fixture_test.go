package handler

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/engine"
	timelines "github.com/freshet/freshet/engine/timeline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/feed/personal"
	"github.com/freshet/freshet/recall/trending"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/export"
	"github.com/freshet/freshet/social/graph"
	socialsqlite "github.com/freshet/freshet/social/sqlite"
	"github.com/freshet/freshet/social/timeline"
	timelinememory "github.com/freshet/freshet/social/timeline/memory"
)

// storeTimelines are timelines read from the store, without lists.
type storeTimelines struct{ store social.Store }

func (s storeTimelines) Timeline(ctx context.Context, r timelines.Request) (timelines.Page, error) {
	list, err := s.store.Pull(ctx, social.PullQuery{Reader: r.Agent, Below: r.Below, N: r.Limit + 1, Whole: true})
	if err != nil {
		return timelines.Page{}, err
	}
	var page timelines.Page
	if page.HasMore = len(list) > r.Limit; page.HasMore {
		list = list[:r.Limit]
	}
	if len(list) > 0 {
		page.Next = list[len(list)-1].Position
	}
	known := make([]social.PostVersion, len(list))
	for i, e := range list {
		known[i].ID = e.ID
	}
	page.NewReader = len(list) == 0 && r.Below.Zero()
	page.Posts, err = s.store.Cards(ctx, r.Agent, known)
	return page, err
}

func (s storeTimelines) Author(ctx context.Context, r timelines.AuthorRequest) (timelines.Page, error) {
	return timelines.New(timelines.Stores{Posts: s.store}, timelines.Config{}).Author(ctx, r)
}

func (s storeTimelines) Circle(ctx context.Context, r timelines.CircleRequest) (timelines.Page, error) {
	return timelines.New(timelines.Stores{Posts: s.store, Profiles: noProfiles{}}, timelines.Config{}).Circle(ctx, r)
}

func (s storeTimelines) Replies(ctx context.Context, r timelines.RepliesRequest) (timelines.Page, error) {
	return timelines.New(timelines.Stores{Posts: s.store, Profiles: noProfiles{}}, timelines.Config{}).Replies(ctx, r)
}

func (s storeTimelines) Liked(ctx context.Context, r timelines.LikedRequest) (timelines.Page, error) {
	return timelines.New(timelines.Stores{Posts: s.store}, timelines.Config{}).Liked(ctx, r)
}

func (s storeTimelines) Notifications(ctx context.Context, r timelines.NoticesRequest) (social.NoticePage, error) {
	return timelines.New(timelines.Stores{Posts: s.store, Profiles: noProfiles{}, Notifications: s.store}, timelines.Config{}).Notifications(ctx, r)
}

func (s storeTimelines) Warm(ctx context.Context, agent string) error {
	_, err := s.Timeline(ctx, timelines.Request{Agent: agent, Limit: 1})
	return err
}

type noLists struct{}

func (noLists) Build(context.Context, string) error    { return timeline.ErrUnavailable }
func (noLists) Outbox(context.Context, []string) error { return timeline.ErrUnavailable }

type noProfiles struct{ catalog.Profiles }

func (noProfiles) Profile(context.Context, string) (feed.Profile, error) {
	return feed.Profile{}, feed.ErrNotFound
}

func (noProfiles) ProfilesOf(_ context.Context, agents []string) ([]feed.Profile, error) {
	return make([]feed.Profile, len(agents)), nil
}

type noTrends struct{}

func (noTrends) Set() (*trending.Set, bool) { return nil, false }

// storeWatcher returns a watcher that queries the store, because there are no lists.
func storeWatcher(store *socialsqlite.Store) Watcher {
	lists := timelinememory.New(timelinememory.Config{Cap: timeline.Cap, Clock: time.Now})
	return timelines.NewWatcher(timelines.WatchStores{
		Posts: store, Lists: lists, Outboxes: lists, Builder: noLists{}, Profiles: noProfiles{}, Notifications: store,
	}, 0, timelines.Config{Clock: time.Now})
}

func socialFixture(t testing.TB, change func(*Config, *Deps)) (*fixture, *socialsqlite.Store) {
	t.Helper()
	store, err := socialsqlite.Open(t.Context(), filepath.Join(t.TempDir(), "social.db"), social.Options{KeepJobs: true, KeepChanges: time.Hour, KeepNotifications: time.Hour})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return newFixture(t, func(c *Config, d *Deps) {
		d.Social = &Social{Store: store, Timelines: storeTimelines{store}, Watcher: storeWatcher(store), Queue: store, Graph: graph.NewApplier(store, graph.Config{})}
		d.Social.Suggest = engine.NewSuggester(engine.SuggestStores{Posts: store, Queue: store, Trending: noTrends{}, Profiles: noProfiles{}}, engine.Config{Clock: time.Now}).Suggest
		d.Social.Exports = export.New(export.Config{Store: store, Queue: store, Files: export.Rows{Store: store}, Clock: time.Now})
		d.Personal = append(personal.Sources{{Erase: store.EraseAgent}}, d.Personal...)
		d.Social.Rederive = func(ctx context.Context, cursor string, _ int) (api.Rederived, error) {
			switch {
			case cursor == "x":
				return api.Rederived{}, fmt.Errorf("%w: no step has returned the cursor", feed.ErrInvalid)
			case ctx.Err() != nil:
				return api.Rederived{}, fmt.Errorf("%w: %w", feed.ErrUnavailable, ctx.Err())
			}
			return api.Rederived{}, nil
		}
		if change != nil {
			change(c, d)
		}
	}), store
}

// publish stores a post. By default it has a caption and is public.
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
	return stored.Post
}
