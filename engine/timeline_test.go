package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
	socialsqlite "github.com/freshet/freshet/social/sqlite"
	"github.com/freshet/freshet/social/timeline"
	timelinememory "github.com/freshet/freshet/social/timeline/memory"
)

// network is a small social store with lists. The test builds the lists and pushes to them, so it
// can also leave that out.
type network struct {
	*testing.T
	store           *socialsqlite.Store
	lists, outboxes timeline.Lists
	profile         feed.Profile
	profileErr      error
	shown           []string
	listCap         int
	outboxCap       int
	unnoted         bool // shown items cannot be recorded
	isNew           bool // no agent has refreshed
	timelines       *engine.Timelines

	mu sync.Mutex
	at time.Time
}

func (n *network) now() time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.at
}

func (n *network) advance(d time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.at = n.at.Add(d)
}

const (
	smallCap    = 12
	smallOutbox = 5
)

func newNetwork(t *testing.T) *network { return newNetworkOf(t, smallCap, smallOutbox) }

func newNetworkOf(t *testing.T, lists, outboxes int) *network {
	n := &network{T: t, listCap: lists, outboxCap: outboxes, at: time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)}
	var err error
	n.store, err = socialsqlite.Open(t.Context(), filepath.Join(t.TempDir(), "social.db"),
		social.Options{Clock: n.now, CelebrityAt: 3, CelebrityUntil: 2})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, n.store.Close()) })
	n.lists = timelinememory.New(timelinememory.Config{Cap: lists, Clock: n.now})
	n.outboxes = timelinememory.New(timelinememory.Config{Cap: outboxes, Clock: n.now})
	n.timelines = engine.NewTimelines(engine.TimelineStores{
		Posts: n.store, Lists: n.lists, Outboxes: n.outboxes, Builder: n, Profiles: n,
	}, engine.Config{Clock: n.now})
	n.timelines.ShowThrough(n)
	return n
}

func (n *network) Profile(context.Context, string) (feed.Profile, error) {
	return n.profile, n.profileErr
}

func (n *network) ProfilesOf(_ context.Context, agents []string) ([]feed.Profile, error) {
	if n.profileErr != nil && !errors.Is(n.profileErr, feed.ErrNotFound) {
		return nil, n.profileErr
	}
	return slices.Repeat([]feed.Profile{n.profile}, len(agents)), nil
}

func (n *network) EditProfile(context.Context, string, func(*feed.Profile) (bool, error)) (feed.Profile, error) {
	return feed.Profile{}, nil
}

func (n *network) MuteItems(context.Context, string, []string) error              { return nil }
func (n *network) RemoveProfile(context.Context, string) error                    { return nil }
func (n *network) Learn(context.Context, string, func(*feed.Learning) bool) error { return nil }

func (n *network) Shown(ctx context.Context, _ string, ids []string) (bool, error) {
	n.shown = append(n.shown, ids...)
	return !n.unnoted, ctx.Err()
}

func (n *network) IsNew(context.Context, string) bool { return n.isNew }

func content(list []social.Entry, most int) (c timeline.Content) {
	for i, e := range list {
		if i == most {
			c.Floor = e.Position
			break
		}
		c.Entries = append(c.Entries, e.Position)
	}
	return c
}

func (n *network) Build(ctx context.Context, agent string) error {
	token, state, err := n.lists.Begin(ctx, agent)
	if err != nil || state == timeline.Ready {
		return err
	}
	list, err := n.store.Pull(ctx, social.PullQuery{Reader: agent, N: n.listCap + 1})
	if err != nil {
		return err
	}
	_, err = n.lists.Commit(ctx, agent, token, content(list, n.listCap))
	return err
}

func (n *network) Outbox(ctx context.Context, authors []string) error {
	for _, author := range authors {
		token, _, err := n.outboxes.Begin(ctx, author)
		require.NoError(n, err)
		list, err := n.store.Newest(ctx, []string{author}, social.Position{}, n.outboxCap+1)
		require.NoError(n, err)
		_, err = n.outboxes.Commit(ctx, author, token, content(list, n.outboxCap))
		require.NoError(n, err)
	}
	return nil
}

// push adds a post to the current version of a list.
func (n *network) push(lists timeline.Lists, name string, p social.Post) {
	n.Helper()
	heads, err := lists.Heads(n.Context(), []string{name})
	require.NoError(n, err)
	_, err = lists.Push(n.Context(), []string{name}, []string{heads[0].Version}, []timeline.Position{p.Position()})
	require.NoError(n, err)
}

// post creates a post and adds it to lists and outboxes, as the deliver job does.
func (n *network) post(author string, a social.Audience) social.Post {
	n.Helper()
	return n.postAs(social.Post{Author: author, Caption: "#tag of " + author, Audience: a})
}

// postAs is post with a given post.
func (n *network) postAs(p social.Post) social.Post {
	n.Helper()
	p, _, err := n.store.CreatePost(n.Context(), p, social.Creation{})
	require.NoError(n, err)
	c, err := n.store.Celebrity(n.Context(), p.Author)
	require.NoError(n, err)
	receivers, err := n.store.Receivers(n.Context(), p.ID, c.Delivery != social.Pull, "", 1000)
	require.NoError(n, err)
	for _, r := range receivers {
		n.push(n.lists, r.Agent, p)
	}
	if c.Delivery != social.Push && p.Audience.Reach() >= social.ToFollowers {
		n.push(n.outboxes, p.Author, p)
	}
	return p
}

func (n *network) follow(agent string, authors ...string) {
	n.Helper()
	for _, author := range authors {
		_, err := n.store.Follow(n.Context(), agent, author, time.Time{})
		require.NoError(n, err)
	}
}

// deliver changes how an author's posts reach followers.
func (n *network) deliver(author string, from, to social.Delivery) {
	n.Helper()
	_, err := n.store.SetDelivery(n.Context(), author, from, to)
	require.NoError(n, err)
}

func (n *network) page(agent string, below social.Position, limit int) engine.TimelinePage {
	n.Helper()
	p, err := n.timelines.Timeline(n.Context(), engine.TimelineRequest{Agent: agent, Below: below, Limit: limit})
	require.NoError(n, err)
	return p
}

func (n *network) scroll(agent string, limit int) (ids []string) {
	n.Helper()
	below := social.Position{}
	for {
		p := n.page(agent, below, limit)
		ids = append(ids, postIDs(p)...)
		if !p.HasMore {
			return ids
		}
		require.NotEqual(n, below, p.Next, "a page that has more goes on")
		below = p.Next
	}
}

func postIDs(p engine.TimelinePage) []string {
	ids := make([]string, len(p.Posts))
	for i, c := range p.Posts {
		ids[i] = c.ID
	}
	return ids
}

// truth returns the expected timeline.
func (n *network) truth(agent string) (ids []string) {
	n.Helper()
	list, err := n.store.Pull(n.Context(), social.PullQuery{Reader: agent, N: 10_000, Whole: true})
	require.NoError(n, err)
	for _, e := range list {
		ids = append(ids, e.ID)
	}
	return ids
}

var toAll, toFollowers = social.Audience{Public: true}, social.Audience{Followers: true}

// TestTimelineEqualsPull scrolls through lists, outboxes and the store, some of which may be
// missing, and compares the result with a query of the store.
func TestTimelineEqualsPull(t *testing.T) {
	t.Parallel()
	for seed := range uint64(testenv.Schedules(40)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			n, random := newNetwork(t), rand.New(rand.NewPCG(seed, 0))
			for _, fan := range []string{"f1", "f2", "f3"} {
				n.follow(fan, "star", "idol")
			}
			authors := []string{"star", "idol", "ann", "bob", "reader"}
			for _, author := range authors[:4] {
				if random.IntN(4) > 0 {
					n.follow("reader", author)
				}
			}
			if seed%8 == 0 {
				n.follow("reader", social.Server)
			}
			for i := range random.IntN(120) {
				switch i {
				case 30:
					n.deliver("star", social.Push, social.Both)
					n.deliver("idol", social.Push, social.Both)
				case 50:
					n.deliver("star", social.Both, social.Pull)
				}
				n.post(authors[random.IntN(len(authors))], []social.Audience{toAll, toFollowers}[random.IntN(2)])
				switch random.IntN(12) {
				case 0:
					n.advance(time.Duration(random.IntN(3)) * time.Second)
				case 1:
					n.page("reader", social.Position{}, 1)
				case 2:
					_ = n.lists.Drop(t.Context(), []string{"reader"})
				case 3:
					_ = n.outboxes.Drop(t.Context(), []string{"star"})
				}
			}
			limit := 1 + random.IntN(7)
			want := n.truth("reader")
			if diff := slices.Compare(want, n.scroll("reader", limit)); diff != 0 {
				require.Equal(t, want, n.scroll("reader", limit), "pages of %d", limit)
				t.Fatal("it differs the first time only")
			}
		})
	}
}

// TestTimelineRefills checks that deleted and muted posts are replaced with older ones, and that a
// short page has has_more.
func TestTimelineRefills(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	n.follow("reader", "ann", "bob")
	keep := n.post("ann", toAll)
	n.advance(time.Second)
	for range 30 {
		n.post("bob", toAll)
	}
	n.profile.MutedAuthors = []string{"bob"}
	first := n.page("reader", social.Position{}, 5)
	assert.Empty(t, first.Posts)
	assert.True(t, first.HasMore, "four times five posts were examined")
	assert.Equal(t, []string{keep.ID}, n.scroll("reader", 5))
	n.profile = feed.Profile{MutedTags: []string{"tag"}}
	assert.Empty(t, n.scroll("reader", 5))
	n.profile = feed.Profile{MutedItems: []string{keep.ID}}
	assert.Len(t, n.scroll("reader", 5), 30)
	n.profile = feed.Profile{}
	n.shown = nil
	require.NoError(t, n.store.DeletePost(t.Context(), keep.ID, "ann", time.Time{}))
	assert.Len(t, n.scroll("reader", 4), 30, "a deleted post is in the list, and not shown")
	assert.Len(t, n.shown, 30, "what was shown is noted, nothing else")
}

// TestPagesNoteWhatTheyShow checks that pages record the shown posts of signed-in readers, and
// report when they could not.
func TestPagesNoteWhatTheyShow(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	n.follow("reader", "ann")
	n.group("g", "ann", "reader")
	var posts []string
	for range 3 {
		posts = append(posts, n.post("ann", social.Audience{Public: true, Circles: []string{"g"}}).ID)
		n.advance(time.Second)
	}
	require.NoError(t, n.store.DeletePost(t.Context(), posts[1], "ann", time.Time{}))
	author := engine.AuthorRequest{Reader: "reader", Author: "ann", Limit: 2}
	for name, read := range map[string]func() (engine.TimelinePage, error){
		"timeline": func() (engine.TimelinePage, error) {
			return n.timelines.Timeline(t.Context(), engine.TimelineRequest{Agent: "reader", Limit: 2})
		},
		"author": func() (engine.TimelinePage, error) { return n.timelines.Author(t.Context(), author) },
		"group": func() (engine.TimelinePage, error) {
			return n.timelines.Circle(t.Context(), engine.CircleRequest{Reader: "reader", Circle: "g", Limit: 2})
		},
	} {
		for _, n.unnoted = range []bool{false, true} {
			n.shown = nil
			page, err := read()
			require.NoError(t, err, name)
			assert.Equal(t, []string{posts[2], posts[0]}, postIDs(page), name)
			assert.Equal(t, postIDs(page), n.shown, name)
			assert.False(t, page.HasMore, name)
			if n.unnoted {
				assert.Equal(t, []string{"session"}, page.Degraded, name)
			} else {
				assert.Empty(t, page.Degraded, name)
			}
		}
	}
	n.shown = nil
	author.Reader, author.Limit = "", 1
	page, err := n.timelines.Author(t.Context(), author)
	require.NoError(t, err)
	assert.Equal(t, []string{posts[2]}, postIDs(page))
	assert.True(t, page.HasMore)
	assert.Empty(t, page.Degraded)
	author.Below = page.Next
	page, err = n.timelines.Author(t.Context(), author)
	require.NoError(t, err)
	assert.Equal(t, []string{posts[0]}, postIDs(page))
	assert.Empty(t, n.shown, "nobody in particular is shown anything")

	author.Limit = 101
	_, err = n.timelines.Author(t.Context(), author)
	require.ErrorIs(t, err, feed.ErrBadLimit)
	_, err = n.timelines.Author(t.Context(), engine.AuthorRequest{Author: social.Server, Limit: 1})
	require.ErrorIs(t, err, feed.ErrBadID)
}

func TestTimelineEdges(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	assert.Equal(t, engine.TimelinePage{Posts: []social.Card{}}, n.page("reader", social.Position{}, 20))
	for _, limit := range []int{0, -1, 101} {
		_, err := n.timelines.Timeline(t.Context(), engine.TimelineRequest{Agent: "reader", Limit: limit})
		require.ErrorIs(t, err, feed.ErrBadLimit)
	}
	_, err := n.timelines.Timeline(t.Context(), engine.TimelineRequest{Agent: social.Server, Limit: 1})
	require.ErrorIs(t, err, feed.ErrBadID)
	n.follow("reader", "ann")
	p := n.post("ann", toAll)
	n.profileErr = catalog.ErrUnavailable
	page := n.page("reader", social.Position{}, 20)
	assert.Equal(t, []string{p.ID}, postIDs(page))
	assert.Equal(t, []string{"catalog"}, page.Degraded, "mutes are not known")
	n.profileErr = feed.ErrNotFound
	assert.Empty(t, n.page("reader", social.Position{}, 20).Degraded)
	assert.Empty(t, n.page("reader", p.Position(), 20).Posts)
	require.NoError(t, n.timelines.Warm(t.Context(), "other"))
	heads, err := n.lists.Heads(t.Context(), []string{"other"})
	require.NoError(t, err)
	assert.Equal(t, timeline.Ready, heads[0].State)
}

// unreachable has the lists of a Redis that is down.
type unreachable struct{ timeline.Reader }

func (unreachable) Read(context.Context, string, timeline.Position, int) (timeline.Page, error) {
	return timeline.Page{}, fmt.Errorf("%w: refused", timeline.ErrUnavailable)
}

func (unreachable) ReadMany(context.Context, []string, timeline.Position, int) ([]timeline.Page, error) {
	return nil, fmt.Errorf("%w: refused", timeline.ErrUnavailable)
}

func TestTimelineWithoutLists(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	for _, fan := range []string{"f1", "f2", "reader"} {
		n.follow(fan, "star")
	}
	n.follow("reader", "ann")
	n.deliver("star", social.Push, social.Pull)
	for range 30 {
		n.post("star", toAll)
		n.post("ann", toFollowers)
	}
	for name, stores := range map[string]engine.TimelineStores{
		"all":      {Lists: unreachable{}, Outboxes: unreachable{}},
		"lists":    {Lists: unreachable{}, Outboxes: n.outboxes},
		"outboxes": {Lists: n.lists, Outboxes: unreachable{}},
	} {
		stores.Posts, stores.Builder, stores.Profiles = n.store, n, n
		n.timelines = engine.NewTimelines(stores, engine.Config{})
		assert.Equal(t, n.truth("reader"), n.scroll("reader", 7), name)
		assert.Equal(t, []string{"timeline"}, n.page("reader", social.Position{}, 7).Degraded, name)
	}
}
