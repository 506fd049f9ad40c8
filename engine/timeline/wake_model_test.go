package timeline_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine/timeline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
	lists "github.com/freshet/freshet/social/timeline"
)

// TestWakesModel compares a watcher that gets wakes, of which many are lost, repeated or about nothing,
// with one that only looks: after random posts, on time and late, of all sources and audiences, both
// have reported the same number of posts to each stream, and the same position to resume at. Between
// the comparisons agents follow, block, mute and are erased, and streams are opened again.
func TestWakesModel(t *testing.T) {
	t.Parallel()
	for seed := range testenv.Schedules(10) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			woken(t, never, func(w *watching) {
				m := &wakesModel{watching: w, r: rand.New(rand.NewPCG(uint64(seed), 1))}
				m.looking = timeline.NewWatcher(timeline.WatchStores{Posts: w.posts, Lists: w.lists, Outboxes: w.Outboxes, Builder: w, Profiles: w}, 0, timeline.Config{Clock: time.Now})
				m.run()
			})
		})
	}
}

type wakesModel struct {
	*watching
	r       *rand.Rand
	looking *timeline.Watcher
	streams []*comparedStream
	posts   []social.Post
	erased  map[string]bool
}

// comparedStream is a stream of an agent on both watchers.
type comparedStream struct {
	agent          string
	woken, looking *timeline.Watch
	counts         [2]int
	last           [2]timeline.Point
}

var (
	modelAuthors = []string{"a", "b", "star", "r0", "r1", "stranger"}
	modelAgents  = []string{"r0", "r1", "r2", "r3", "r4"}
)

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

func (m *wakesModel) run() {
	m.erased = map[string]bool{}
	m.celebrity("star")
	for _, agent := range modelAgents {
		for _, author := range append(modelAuthors, social.Server) {
			if m.r.IntN(2) == 0 && author != agent {
				m.Follow(agent, author)
			}
		}
	}
	_, err := m.Store.PutCircle(m.Context(), social.Circle{ID: "club", Owner: "a"}, modelAgents[:3], m.Now())
	require.NoError(m, err)
	m.publish("a", public)
	for _, agent := range append(modelAgents, modelAgents[:2]...) { // two have a second device
		m.streams = append(m.streams, &comparedStream{agent: agent})
		m.open(m.streams[len(m.streams)-1], nil, nil)
	}
	m.settle()
	for range 6 {
		for range 25 {
			m.step()
		}
		m.settle()
		m.change()
		m.settle()
	}
	for _, s := range m.streams {
		s.woken.Close()
		s.looking.Close()
	}
}

func (m *wakesModel) open(s *comparedStream, woken, looking *timeline.Point) {
	m.Helper()
	var err error
	s.woken, err = m.watcher.WatchFrom(m.Context(), s.agent, woken)
	require.NoError(m, err)
	s.looking, err = m.looking.WatchFrom(m.Context(), s.agent, looking)
	require.NoError(m, err)
	s.last = [2]timeline.Point{s.woken.StartPoint(), s.looking.StartPoint()}
}

// step does something that may be news.
func (m *wakesModel) step() {
	author := pick(m.r, modelAuthors)
	if m.erased[author] {
		author = "a"
	}
	names := append(modelAgents, "nobody", "")
	wake := lists.Wake{Agents: names[:m.r.IntN(len(names)+1)]}
	if m.r.IntN(3) == 0 {
		wake.Authors = []string{pick(m.r, modelAuthors), "", social.Server, "nobody"}[:m.r.IntN(5)]
	}
	switch m.r.IntN(8) {
	case 0, 1, 2:
		m.Advance(time.Duration(m.r.IntN(2)) * time.Second)
		p := social.Post{Author: author, Caption: "#tag", Audience: pick(m.r, []social.Audience{public, followers})}
		if author == "a" && m.r.IntN(2) == 0 {
			p.Audience = social.Audience{Circles: []string{"club"}}
		}
		if m.r.IntN(4) == 0 {
			p.Mentions = []string{pick(m.r, modelAgents)}
		}
		m.posts = append(m.posts, m.PostAs(p))
	case 3:
		m.arrivals(author)
	case 4:
		m.watcher.Poll(m.Context())
	case 5:
		m.wake(turnFor, wake)
	default:
		m.wake(time.Duration(m.r.IntN(3))*collectFor/2, wake)
	}
}

// arrivals adds a post that arrives some time after its date.
func (m *wakesModel) arrivals(author string) {
	m.arrived++
	m.posts = append(m.posts, m.PostAs(social.Post{
		ID: fmt.Sprintf("post:late%d", m.arrived), Author: author, Caption: "late", Audience: public,
		CreatedAt: m.Now().Add(-time.Duration(m.r.IntN(600)) * time.Second).Unix(),
	}))
}

const turnFor = 250 * time.Millisecond

// settle has both watchers look at everything, and compares what they have reported.
func (m *wakesModel) settle() {
	m.Helper()
	time.Sleep(time.Second)
	synctest.Wait()
	m.Advance(2 * time.Second) // late posts can be read
	for range 2 {
		m.watcher.Poll(m.Context())
		m.looking.Poll(m.Context())
		m.Advance(time.Second)
	}
	for i, s := range m.streams {
		for k, watch := range []*timeline.Watch{s.woken, s.looking} {
			news := watch.Take()
			s.counts[k] += news.Count
			if news.Count > 0 {
				s.last[k] = timeline.Point{Position: news.Head, Arrived: news.Arrived}
			}
		}
		require.Equal(m, s.counts[1], s.counts[0], "posts of stream %d of %s", i, s.agent)
		require.Equal(m, s.last[1].Position, s.last[0].Position, "position of stream %d of %s", i, s.agent)
	}
}

// change changes who sees what.
func (m *wakesModel) change() {
	m.Helper()
	agent, author := pick(m.r, modelAgents), pick(m.r, modelAuthors)
	var err error
	switch m.r.IntN(7) {
	case 0:
		if agent != author {
			_, err = m.Store.Unfollow(m.Context(), agent, author, time.Time{})
		}
	case 1:
		if agent != author {
			_, err = m.Store.Block(m.Context(), author, agent)
		}
	case 2:
		m.Reader = feed.Profile{MutedAuthors: []string{author}}
	case 3:
		m.Reader = feed.Profile{}
	case 4:
		if len(m.posts) > 0 {
			p := pick(m.r, m.posts)
			if !m.erased[p.Author] {
				err = m.Store.DeletePost(m.Context(), p.ID, p.Author, time.Time{})
			}
		}
	case 5:
		m.erased["b"] = true
		err = m.Store.EraseAuthor(m.Context(), "b")
	case 6:
		s := pick(m.r, m.streams)
		s.woken.Close()
		s.looking.Close()
		m.open(s, &s.last[0], &s.last[1])
	}
	if err != nil {
		require.ErrorIs(m, err, feed.ErrNotFound)
	}
}
