package enginetest

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine/timeline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
	socialsqlite "github.com/freshet/freshet/social/sqlite"
	lists "github.com/freshet/freshet/social/timeline"
	timelinememory "github.com/freshet/freshet/social/timeline/memory"
)

// Network is a small social store with lists. The test builds the lists and pushes to them, so it
// can also leave that out.
type Network struct {
	*testing.T
	Store           social.Store
	Lists, Outboxes lists.Lists
	Reader          feed.Profile
	ProfileErr      error
	ShownIDs        []string
	ListCap         int
	OutboxCap       int
	Unnoted         bool // shown items cannot be recorded
	New             bool // no agent has refreshed
	Notified        func(agents []string)
	Timelines       *timeline.Timelines

	mu sync.Mutex
	at time.Time
}

// Now returns the time of the network.
func (n *Network) Now() time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.at
}

// Advance moves the time of the network.
func (n *Network) Advance(d time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.at = n.at.Add(d)
}

// The capacities of the lists and outboxes of a [Network].
const (
	SmallCap    = 12
	SmallOutbox = 5
)

// NewNetwork returns a network at noon of a day, without posts.
func NewNetwork(t *testing.T) *Network { return NewNetworkOf(t, SmallCap, SmallOutbox) }

// NewNetworkOf returns a network with other capacities.
func NewNetworkOf(t *testing.T, listCap, outboxCap int) *Network {
	n := &Network{T: t, Notified: func([]string) {}, ListCap: listCap, OutboxCap: outboxCap, at: time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)}
	store, err := socialsqlite.Open(t.Context(), filepath.Join(t.TempDir(), "social.db"), social.Options{
		Clock: n.Now, CelebrityAt: 3, CelebrityUntil: 2, KeepNotifications: 30 * 24 * time.Hour,
		Notified: func(agents []string) { n.Notified(agents) },
	})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, store.Close()) })
	n.Store = store
	n.Lists = timelinememory.New(timelinememory.Config{Cap: listCap, Clock: n.Now})
	n.Outboxes = timelinememory.New(timelinememory.Config{Cap: outboxCap, Clock: n.Now})
	n.Timelines = timeline.New(timeline.Stores{Posts: n.Store, Lists: n.Lists, Outboxes: n.Outboxes, Builder: n, Profiles: n, Notifications: n.Store}, timeline.Config{Clock: n.Now})
	n.Timelines.ShowThrough(n)
	return n
}

// Profile returns the profile of every reader.
func (n *Network) Profile(context.Context, string) (feed.Profile, error) {
	return n.Reader, n.ProfileErr
}

// ProfilesOf returns the profile for each of the agents.
func (n *Network) ProfilesOf(_ context.Context, agents []string) ([]feed.Profile, error) {
	if n.ProfileErr != nil && !errors.Is(n.ProfileErr, feed.ErrNotFound) {
		return nil, n.ProfileErr
	}
	return slices.Repeat([]feed.Profile{n.Reader}, len(agents)), nil
}

// EditProfile changes nothing.
func (n *Network) EditProfile(context.Context, string, func(*feed.Profile) (bool, error)) (feed.Profile, error) {
	return feed.Profile{}, nil
}

// MuteItems changes nothing.
func (n *Network) MuteItems(context.Context, string, []string) error { return nil }

// RemoveProfile changes nothing.
func (n *Network) RemoveProfile(context.Context, string) error { return nil }

// Learn changes nothing.
func (n *Network) Learn(context.Context, string, func(*feed.Learning) bool) error { return nil }

// Shown notes what timelines have shown.
func (n *Network) Shown(ctx context.Context, _ string, ids []string) (bool, error) {
	n.ShownIDs = append(n.ShownIDs, ids...)
	return !n.Unnoted, ctx.Err()
}

// IsNew reports whether no agent has refreshed.
func (n *Network) IsNew(context.Context, string) bool { return n.New }

func content(list []social.Entry, most int) (c lists.Content) {
	for i, e := range list {
		if i == most {
			c.Floor = e.Position
			break
		}
		c.Entries = append(c.Entries, e.Position)
	}
	return c
}

// Build builds the list of an agent.
func (n *Network) Build(ctx context.Context, agent string) error {
	token, state, err := n.Lists.Begin(ctx, agent)
	if err != nil || state == lists.Ready {
		return err
	}
	list, err := n.Store.Pull(ctx, social.PullQuery{Reader: agent, N: n.ListCap + 1})
	if err != nil {
		return err
	}
	_, err = n.Lists.Commit(ctx, agent, token, content(list, n.ListCap))
	return err
}

// Outbox builds the outboxes of authors.
func (n *Network) Outbox(ctx context.Context, authors []string) error {
	for _, author := range authors {
		token, _, err := n.Outboxes.Begin(ctx, author)
		require.NoError(n, err)
		list, err := n.Store.Newest(ctx, []string{author}, social.Position{}, n.OutboxCap+1)
		require.NoError(n, err)
		_, err = n.Outboxes.Commit(ctx, author, token, content(list, n.OutboxCap))
		require.NoError(n, err)
	}
	return nil
}

// Push adds a post to the current version of a list.
func (n *Network) Push(to lists.Lists, name string, p social.Post) {
	n.Helper()
	heads, err := to.Heads(n.Context(), []string{name})
	require.NoError(n, err)
	_, err = to.Push(n.Context(), []lists.Addition{{List: name, Version: heads[0].Version, Entries: []lists.Position{p.Position()}}})
	require.NoError(n, err)
}

// Post creates a post and adds it to lists and outboxes, as the deliver job does.
func (n *Network) Post(author string, a social.Audience) social.Post {
	n.Helper()
	return n.PostAs(social.Post{Author: author, Caption: "#tag of " + author, Audience: a})
}

// PostAs is post with a given post.
func (n *Network) PostAs(p social.Post) social.Post {
	n.Helper()
	made, _, err := n.Store.CreatePost(n.Context(), p, social.Creation{})
	require.NoError(n, err)
	p = made.Post
	receivers, err := n.Store.Receivers(n.Context(), []social.ReceiverPage{{Post: p.ID}}, 1000)
	require.NoError(n, err)
	for _, r := range receivers[0].List {
		n.Push(n.Lists, r.Agent, p)
	}
	if receivers[0].Delivery != social.Push && p.Audience.Reach() >= social.ToFollowers {
		n.Push(n.Outboxes, p.Author, p)
	}
	return p
}

// Follow makes an agent follow authors.
func (n *Network) Follow(agent string, authors ...string) {
	n.Helper()
	for _, author := range authors {
		_, err := n.Store.Follow(n.Context(), agent, author, time.Time{})
		require.NoError(n, err)
	}
}

// Deliver changes how an author's posts reach followers.
func (n *Network) Deliver(author string, from, to social.Delivery) {
	n.Helper()
	_, err := n.Store.SetDelivery(n.Context(), author, from, to)
	require.NoError(n, err)
}

// Page reads a page of a timeline.
func (n *Network) Page(agent string, below social.Position, limit int) timeline.Page {
	n.Helper()
	p, err := n.Timelines.Timeline(n.Context(), timeline.Request{Agent: agent, Below: below, Limit: limit})
	require.NoError(n, err)
	return p
}

// Scroll reads a timeline to its end, and returns the ids of its posts.
func (n *Network) Scroll(agent string, limit int) (ids []string) {
	n.Helper()
	below := social.Position{}
	for {
		p := n.Page(agent, below, limit)
		ids = append(ids, PostIDs(p)...)
		if !p.HasMore {
			return ids
		}
		require.NotEqual(n, below, p.Next, "a page that has more goes on")
		below = p.Next
	}
}

// PostIDs returns the ids of the posts of a page.
func PostIDs(p timeline.Page) []string {
	ids := make([]string, len(p.Posts))
	for i, c := range p.Posts {
		ids[i] = c.ID
	}
	return ids
}

// Truth returns the expected timeline.
func (n *Network) Truth(agent string) (ids []string) {
	n.Helper()
	list, err := n.Store.Pull(n.Context(), social.PullQuery{Reader: agent, N: 10_000, Whole: true})
	require.NoError(n, err)
	for _, e := range list {
		ids = append(ids, e.ID)
	}
	return ids
}
