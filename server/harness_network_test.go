package server

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/socialtest"
)

// written is a post in the model.
type written struct {
	social.Position
	author   string
	reach    social.Reach
	circle   bool // addressed to the author's circle
	mentions string
	deleted  bool
}

// society is a system and the model of the actions on it.
type society struct {
	*testing.T
	app     *App
	store   social.Store
	clock   *clock
	random  *rand.Rand
	authors map[string]string // of the posts → account
	names   []string          // of all accounts
	follows map[[2]string]bool
	blocks  map[[2]string]bool
	members map[[2]string]bool // author, member of the author's only circle
	posts   map[string]*written
	latest  []string
	shown   map[[2]string]bool // agent, post: in a timeline that was read; nil means it is not recorded
}

// phase logs the duration of a part, which is long for a whole network.
func (w *society) phase(name string, do func()) {
	start := time.Now()
	do()
	w.Logf("%s: %v", name, time.Since(start).Round(time.Millisecond))
}

func account(n int) string { return fmt.Sprintf("u%d", n) }

// people imports the network. The author with the most posts becomes the account with the most
// followers, and so on.
func (w *society) people(edges [][2]int, posts []feed.Item) {
	followers, wrote := map[string]int{}, map[string]int{}
	var list []social.Edge
	for _, e := range edges {
		list = append(list, social.Edge{Agent: account(e[0]), Author: account(e[1])})
		followers[account(e[1])]++
		followers[account(e[0])] += 0
		w.follows[[2]string{account(e[0]), account(e[1])}] = true
	}
	for some := range slices.Chunk(list, social.MaxEdges) {
		changed, rejected, err := w.store.FollowAll(w.Context(), some, w.clock.Now())
		require.NoError(w, err)
		require.Empty(w, rejected)
		require.Equal(w, len(some), changed)
	}
	for _, p := range posts {
		wrote[cmp.Or(p.AuthorID, "nobody")]++
	}
	w.names = byRank(followers)
	w.authors = map[string]string{}
	for i, author := range byRank(wrote) {
		w.authors[author] = w.names[i%len(w.names)]
	}
	for _, author := range w.names[:20] {
		socialtest.PutCircle(w, w.store, social.Circle{ID: "of-" + author, Owner: author}, []string{}, time.Time{})
	}
}

func byRank(n map[string]int) []string {
	return slices.SortedFunc(maps.Keys(n), func(a, b string) int { return cmp.Or(n[b]-n[a], cmp.Compare(a, b)) })
}

func (w *society) replay(posts []feed.Item) {
	for _, p := range posts {
		// The posts keep their order, but with shorter intervals, because leases use this clock,
		// too.
		if w.random.IntN(4) > 0 {
			w.clock.Advance(time.Second)
		}
		w.publish(w.authors[cmp.Or(p.AuthorID, "nobody")], p)
		for range w.random.IntN(3) {
			w.step()
		}
	}
}

func (w *society) publish(author string, p feed.Item) {
	post, x := social.Post{Author: author, Caption: p.Title, Audience: social.Audience{Public: true}}, &written{author: author, reach: social.ToAll}
	switch w.random.IntN(10) {
	case 0, 1:
		post.Audience, x.reach = social.Audience{Followers: true}, social.ToFollowers
	case 2:
		if slices.Contains(w.names[:20], author) {
			post.Audience, x.reach, x.circle = social.Audience{Circles: []string{"of-" + author}}, social.Addressed, true
		}
	case 3:
		if x.mentions = w.anyAgent(); x.mentions != author {
			post.Audience, post.Mentions, x.reach = social.Audience{}, []string{x.mentions}, social.Addressed
		}
	}
	created, _, err := w.store.CreatePost(w.Context(), post, social.Creation{})
	require.NoError(w, err)
	x.Position = created.Position()
	w.posts[created.ID] = x
	w.latest = append(w.latest, created.ID)
	if w.random.IntN(4) == 0 {
		page := w.read(author)
		require.True(w, slices.ContainsFunc(page.Posts, func(c social.Card) bool { return c.ID == created.ID }),
			"seed %d: %s does not see what they have just posted", *networkSeed, author)
	}
}

// due reports whether a post belongs in an agent's timeline.
func (w *society) due(agent string, x *written) bool {
	if x.deleted || w.blocks[[2]string{agent, x.author}] || w.blocks[[2]string{x.author, agent}] {
		return false
	}
	return x.author == agent || x.mentions == agent || x.circle && w.members[[2]string{x.author, agent}] ||
		x.reach >= social.ToFollowers && w.follows[[2]string{agent, x.author}]
}

// settle advances time until the queue is empty.
func (w *society) settle() {
	var stats jobs.Stats
	defer func() {
		if w.Failed() {
			w.Logf("%+v", stats)
		}
	}()
	testenv.WaitFor(w, func() bool {
		var err error
		stats, err = w.app.network.store.Stats(w.Context())
		in := func(states ...jobs.State) bool {
			return slices.ContainsFunc(stats.Rows, func(r jobs.Rows) bool { return slices.Contains(states, r.State) })
		}
		left := in(jobs.Pending, jobs.Running, jobs.Failed, jobs.Dead)
		if left && !in(jobs.Running) { // authors are delivered both ways for a while
			w.clock.Advance(5 * time.Second)
		}
		late := w.app.network.completeness
		return err == nil && !left && !late.Incomplete() && !late.QueueBehind()
	}, "the queue is empty, and lists are answered from")
}

// comparing is the number of timelines that are compared concurrently.
const comparing = 8
