package server

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/freshet/freshet/engine/timeline"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
)

// The size of the replayed part of the real network; scripts/network.sh replays all of it.
var (
	networkAccounts = flag.Int("network.accounts", 800, "accounts with numbers below this one")
	networkPosts    = flag.Int("network.posts", 300, "posts that are replayed")
	networkReaders  = flag.Int("network.readers", 150, "readers whose timelines are compared; 0: all")
	networkSeed     = flag.Uint64("network.seed", 1, "of what happens between the posts")
)

// TestTimelineModelOnRealNetwork replays real posts over a real network, while agents follow,
// unfollow, block, edit, delete and change circles. It compares timelines with a model that knows
// only these actions.
func TestTimelineModelOnRealNetwork(t *testing.T) {
	testenv.Full(t, "models")
	testenv.WithoutRace(t)
	t.Parallel()
	edges := testenv.Follows(t, *networkAccounts)
	posts := testenv.Posts(t)
	posts = posts[:min(len(posts), *networkPosts)]
	for _, m := range []mode{{"embedded", embedded}, {"services", withoutElastic}} {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			cfg := m.config(t)
			cfg.Timeline.Cap = 100         // readers scroll beyond it
			cfg.Timeline.CelebrityAt = 100 // some authors exceed it
			now := at(time.Unix(posts[0].UpdateTime, 0).Add(-time.Hour))
			w := &society{
				T: t, app: open(t, cfg, WithClock(now.Now)), clock: now, random: rand.New(rand.NewPCG(*networkSeed, 0)),
				follows: map[[2]string]bool{}, blocks: map[[2]string]bool{}, members: map[[2]string]bool{}, posts: map[string]*written{},
			}
			w.store = w.app.network.fanout.Store()
			w.phase("import", func() { w.people(edges, posts) })
			w.phase("replay", func() { w.replay(posts) })
			w.phase("what is left of the queue", w.settle)
			w.phase("comparison", w.compare)
		})
	}
}

func (w *society) anyAgent() string { return w.names[w.random.IntN(len(w.names))] }

// popularAuthor returns an author with many followers.
func (w *society) popularAuthor() string {
	return w.names[int(float64(min(len(w.names), 200))*w.random.Float64()*w.random.Float64())]
}

// step makes a random agent act.
func (w *society) step() {
	ctx, agent, author := w.Context(), w.anyAgent(), w.popularAuthor()
	pair := [2]string{agent, author}
	switch k := w.random.IntN(20); {
	case agent == author:
	case k < 6:
		if w.blocks[pair] || w.blocks[[2]string{author, agent}] {
			return
		}
		_, err := w.store.Follow(ctx, agent, author, time.Time{})
		require.NoError(w, err)
		w.follows[pair] = true
	case k < 10:
		_, err := w.store.Unfollow(ctx, agent, author, time.Time{})
		require.NoError(w, err)
		delete(w.follows, pair)
	case k < 11:
		_, err := w.store.Block(ctx, agent, author)
		require.NoError(w, err)
		w.blocks[pair] = true
		delete(w.follows, pair)
		delete(w.follows, [2]string{author, agent})
	case k < 12:
		_, err := w.store.Unblock(ctx, agent, author)
		require.NoError(w, err)
		delete(w.blocks, pair)
	case k < 14:
		w.membership(w.names[w.random.IntN(20)], agent)
	case k < 16:
		w.change(w.latest[max(0, len(w.latest)-1-w.random.IntN(100))])
	default:
		w.read(agent)
	}
}

func (w *society) membership(owner, agent string) {
	key := [2]string{owner, agent}
	do := w.store.AddMember
	if w.members[key] {
		do = w.store.RemoveMember
	}
	_, err := do(w.Context(), "of-"+owner, agent, owner, time.Time{})
	require.NoError(w, err)
	w.members[key] = !w.members[key]
}

func (w *society) change(id string) {
	x := w.posts[id]
	if x.deleted {
		return
	}
	if w.random.IntN(2) == 0 {
		caption := "edited"
		_, err := w.store.EditPost(w.Context(), id, x.author, social.Edit{Caption: &caption}, time.Time{})
		require.NoError(w, err)
		return
	}
	require.NoError(w, w.store.DeletePost(w.Context(), id, x.author, time.Time{}))
	x.deleted = true
}

// read reads a page. Its posts must belong there, whatever the lists contain.
func (w *society) read(agent string) timeline.Page {
	page, err := w.app.network.timelines.Timeline(w.Context(), timeline.Request{Agent: agent, Limit: 20})
	require.NoError(w, err)
	for _, c := range page.Posts {
		require.True(w, w.due(agent, w.posts[c.ID]), "seed %d: %s is shown %s", *networkSeed, agent, c.ID)
		if w.shown != nil {
			w.shown[[2]string{agent, c.ID}] = true
		}
	}
	return page
}

func (w *society) compare() {
	readers := slices.Clone(w.names)
	w.random.Shuffle(len(readers), func(i, j int) { readers[i], readers[j] = readers[j], readers[i] })
	if *networkReaders > 0 {
		readers = readers[:min(len(readers), *networkReaders)]
	}
	from, entries := w.proposals(), 0
	var all errgroup.Group
	all.SetLimit(comparing)
	for _, agent := range readers {
		want, limit := w.timeline(agent, from[agent]), 5+w.random.IntN(40)
		entries += len(want)
		all.Go(func() error {
			if err := w.scroll(agent, want, limit); err != nil {
				return fmt.Errorf("seed %d: %s, in pages of %d: %w", *networkSeed, agent, limit, err)
			}
			return nil
		})
	}
	require.NoError(w, all.Wait())
	w.Logf("%d accounts, %d posts; %d timelines with %d entries are right", len(w.names), len(w.posts), len(readers), entries)
}

// proposals returns, for each agent, the posts that may be due.
func (w *society) proposals() map[string][]*written {
	wrote, out := map[string][]*written{}, map[string][]*written{}
	for _, x := range w.posts {
		wrote[x.author] = append(wrote[x.author], x)
		if x.mentions != "" {
			out[x.mentions] = append(out[x.mentions], x)
		}
	}
	for author, list := range wrote {
		out[author] = append(out[author], list...)
	}
	for pair := range w.follows {
		out[pair[0]] = append(out[pair[0]], wrote[pair[1]]...)
	}
	for pair := range w.members {
		out[pair[1]] = append(out[pair[1]], wrote[pair[0]]...)
	}
	return out
}

// timeline returns the posts due to an agent, newest first.
func (w *society) timeline(agent string, from []*written) []social.Position {
	var due []social.Position
	for _, x := range from {
		if w.due(agent, x) {
			due = append(due, x.Position)
		}
	}
	slices.SortFunc(due, func(a, b social.Position) int { return b.Compare(a) })
	return slices.Compact(due)
}

func (w *society) scroll(agent string, want []social.Position, limit int) error {
	r := timeline.Request{Agent: agent, Limit: limit}
	for n := 0; ; n++ {
		page, err := w.app.network.timelines.Timeline(w.Context(), r)
		if err != nil {
			return fmt.Errorf("page %d: %w", n, err)
		}
		if len(page.Degraded) > 0 {
			return fmt.Errorf("page %d lacks %v", n, page.Degraded)
		}
		for i, c := range page.Posts {
			if i >= len(want) || want[i].ID != c.ID {
				return fmt.Errorf("page %d has %s at %d, want %v", n, c.ID, i, want[i:min(i+1, len(want))])
			}
		}
		want = want[len(page.Posts):]
		if !page.HasMore {
			break
		}
		r.Below = page.Next
	}
	if len(want) > 0 {
		return fmt.Errorf("it lacks %v", want)
	}
	return nil
}
