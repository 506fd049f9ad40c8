package server

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
)

// The size of the network that readers read.
const (
	homeAccounts = 1500
	homePosts    = 300
	homeItems    = 200
	homeReaders  = 100
)

// homeSociety is a network with items in addition to its posts, and readers who have muted authors.
type homeSociety struct {
	*society
	items map[string]feed.Item
	mutes map[string][]string // reader → authors
}

// TestHomeShowsEverythingOnce checks with real posts in a real network that every reader gets
// everything addressed to them exactly once, and nothing else.
func TestHomeShowsEverythingOnce(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	edges, posts := testenv.Follows(t, homeAccounts), testenv.Posts(t)
	posts = posts[len(posts)-homePosts-homeItems:]
	cfg := embedded(t)
	cfg.Server.RequestTimeout = 30 * time.Second // no source of home is late on a busy machine
	cfg.Dedup.FalsePositiveRate = 1e-9           // no false positives
	cfg.Timeline.Cap = 100                       // readers read beyond their lists
	cfg.Timeline.CelebrityAt = 100               // some authors are pulled
	cfg.Ranking.Diversity.SameStory = 0          // all edited posts have the same text
	now := at(time.Unix(posts[0].UpdateTime, 0))
	w := &homeSociety{
		society: &society{
			T: t, app: open(t, cfg, WithClock(now.Now)), clock: now, random: rand.New(rand.NewPCG(1, 0)),
			follows: map[[2]string]bool{}, blocks: map[[2]string]bool{}, members: map[[2]string]bool{}, posts: map[string]*written{},
			shown: map[[2]string]bool{},
		},
		items: map[string]feed.Item{}, mutes: map[string][]string{},
	}
	w.store = w.app.network.fanout.Store()
	w.phase("import", func() { w.people(edges, posts) })
	w.phase("replay", func() { w.replay(posts[:homePosts]) })
	w.phase("items", func() { w.addItems(posts[homePosts:]) })
	w.random.Shuffle(len(w.names), func(i, j int) { w.names[i], w.names[j] = w.names[j], w.names[i] })
	names := w.names[:homeReaders]
	w.phase("blocks and mutes", func() { w.refuse(names) })
	w.phase("what is left of the queue", w.settle)
	w.phase("trends and promotions", w.promote)
	w.phase("reading", func() { w.readAll(names) })
}

// addItems adds posts as items of the same authors. Every tenth item has the group of the previous
// one.
func (w *homeSociety) addItems(posts []feed.Item) {
	items := slices.Clone(posts)
	for i := range items {
		items[i].AuthorID = w.authors[items[i].AuthorID]
		items[i].UpdateTime = w.clock.Now().Add(-time.Duration(i+1) * time.Minute).Unix()
		if i%10 == 9 {
			items[i].GroupID = items[i-1].ID
		}
		w.items[items[i].ID] = items[i]
	}
	put(w.T, w.app, items...)
}

// refuse has readers block and mute authors with posts.
func (w *homeSociety) refuse(names []string) {
	wrote := map[string]int{}
	for _, x := range w.posts {
		wrote[x.author]++
	}
	authors := byRank(wrote)
	some := func(i int) string { return authors[i%min(len(authors), 40)] }
	for i, reader := range names {
		if author := some(i); i%3 == 0 && author != reader {
			_, err := w.store.Block(w.Context(), reader, author)
			require.NoError(w, err)
			w.blocks[[2]string{reader, author}] = true
			delete(w.follows, [2]string{reader, author})
			delete(w.follows, [2]string{author, reader})
		}
		if i%4 == 0 {
			w.mutes[reader] = []string{some(i + 1), some(i + 7), some(i + 13)}
			require.NoError(w, w.app.Engine.PutProfile(w.Context(), reader, feed.Profile{MutedAuthors: w.mutes[reader]}))
		}
	}
}

// promote promotes some of the posts and items, and has the trending set computed.
func (w *homeSociety) promote() {
	refreshIndex(w.T, w.app)
	n := 0
	for _, id := range append(slices.Clone(w.latest[:20]), w.firstItem()) {
		if x := w.posts[id]; x != nil && x.reach != social.ToAll {
			continue
		}
		n++
		require.NoError(w, w.app.Social.PutPromotion(w.Context(), social.Promotion{
			ID: fmt.Sprint("ad", n), ItemID: id, From: w.clock.Now().Unix(), Until: w.clock.Now().Add(time.Hour).Unix(), Weight: float64(n),
		}))
	}
	require.NoError(w, w.app.network.promotions.Refresh(w.Context()))
	w.clock.Advance(5 * time.Minute)
	waitTrending(w.T, w.app)
}

func (w *homeSociety) firstItem() string {
	for id := range w.items {
		return id
	}
	return ""
}

// groupsFor returns the groups that a reader must find in home, without their own and those that
// their timeline has shown.
func (w *homeSociety) groupsFor(reader string) map[string]bool {
	groups := map[string]bool{}
	for id, x := range w.posts {
		if x.author != reader && w.maySee(reader, x) && !w.shown[[2]string{reader, id}] {
			groups[id] = true
		}
	}
	for _, it := range w.items {
		if it.AuthorID != reader && !slices.Contains(w.mutes[reader], it.AuthorID) {
			groups[it.Group()] = true
		}
	}
	return groups
}

func (w *homeSociety) maySee(reader string, x *written) bool {
	if slices.Contains(w.mutes[reader], x.author) {
		return false
	}
	blocked := w.blocks[[2]string{reader, x.author}] || w.blocks[[2]string{x.author, reader}]
	return w.due(reader, x) || x.reach == social.ToAll && !x.deleted && !blocked
}

func (w *homeSociety) readAll(names []string) {
	var all errgroup.Group
	all.SetLimit(comparing)
	found := 0
	for _, reader := range names {
		want := w.groupsFor(reader)
		found += len(want)
		all.Go(func() error {
			if err := w.readHome(w.Context(), reader, want); err != nil {
				return fmt.Errorf("%s: %w", reader, err)
			}
			return nil
		})
	}
	require.NoError(w, all.Wait())
	w.Logf("%d readers were given %d posts and items", len(names), found)
}

// readHome pages home to its end and checks that it has exactly the given groups.
func (w *homeSociety) readHome(ctx context.Context, reader string, want map[string]bool) error {
	met := map[string]bool{}
	for action := "refresh"; ; action = "load_more" {
		page, err := askHome(ctx, w.app, reader, action, 100)
		if err != nil {
			return err
		}
		if len(page.Data.Degraded) > 0 {
			return fmt.Errorf("a page lacks %v", page.Data.Degraded)
		}
		if len(page.Data.Items) == 0 && !page.Data.HasMore {
			break
		}
		for _, it := range page.Data.Items {
			group := it.ID
			if item, ok := w.items[it.ID]; ok {
				group = item.Group()
			}
			x := w.posts[it.ID]
			switch {
			case met[group]:
				return fmt.Errorf("%s comes again", group)
			case !want[group]:
				return fmt.Errorf("%s is not for them", it.ID)
			case it.InFeed.Source == "following" && (x == nil || !w.due(reader, x)):
				return fmt.Errorf("%s is not by whom they follow", it.ID)
			}
			met[group] = true
		}
	}
	for group := range want {
		if !met[group] {
			return fmt.Errorf("%s never comes; %d of %d do", group, len(met), len(want))
		}
	}
	return nil
}
