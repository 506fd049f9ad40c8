package server

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// reacted has the inputs of the score of a post or an item.
type reacted struct {
	id, author      string
	at              time.Time
	likes, comments int64
}

// scoring is the formula of the scores of home, with parts that can be omitted.
type scoring struct{ decay, reactions, affinity float64 }

var wholeScore = scoring{1, 1, 1}

func (s scoring) of(p reacted, base float64, now time.Time, liked map[string]int) float64 {
	n := float64(liked[p.author])
	return base * math.Exp(-0.02*s.decay*now.Sub(p.at).Hours()) *
		(1 + s.reactions*math.Log10(float64(p.likes+2*p.comments)+1)) * (1 + 0.5*s.affinity*n/(n+5))
}

// order returns the ids by descending score.
func (s scoring) order(list []reacted, base float64, now time.Time, liked map[string]int) []string {
	sorted := slices.SortedFunc(slices.Values(list), func(a, b reacted) int {
		return cmp.Compare(s.of(b, base, now, liked), s.of(a, base, now, liked))
	})
	ids := make([]string, len(sorted))
	for i, p := range sorted {
		ids[i] = p.id
	}
	return ids
}

// scored is a system with a reader u who follows ann, bob and cid. u has recently liked four posts
// of ann and one of cid, and six of bob too long ago.
type scored struct {
	*testing.T
	a      *App
	clock  *clock
	random *rand.Rand
	liked  map[string]int
}

func newScored(t *testing.T) *scored {
	cfg := embedded(t)
	cfg.Ranking.Diversity = noDiversity
	s := &scored{
		T: t, clock: at(noon.Add(-35 * 24 * time.Hour)), random: rand.New(rand.NewPCG(5, 5)), liked: map[string]int{"ann": 4, "cid": 1},
	}
	s.a = open(t, cfg, WithClock(s.clock.Now))
	for _, author := range []string{"ann", "bob", "cid"} {
		for _, reader := range []string{"u", "fan"} {
			_, err := s.a.Social.Follow(t.Context(), reader, author, time.Time{})
			require.NoError(t, err)
		}
	}
	s.likes("bob", 6)
	s.clock.Advance(34 * 24 * time.Hour)
	s.likes("ann", 4)
	s.likes("cid", 1)
	s.clock.Advance(24 * time.Hour)
	return s
}

// likes has u like posts and deletes them afterwards, which does not affect the likes.
func (s *scored) likes(author string, n int) {
	for i := range n {
		p := s.post(reacted{id: fmt.Sprintf("post:old_%s_%d", author, i), author: author, at: s.clock.Now()})
		_, _, err := s.a.Social.Like(s.Context(), "u", p.id)
		require.NoError(s, err)
		require.NoError(s, s.a.Social.DeletePost(s.Context(), p.id, author, time.Time{}))
	}
}

func (s *scored) post(p reacted) reacted {
	_, _, err := s.a.Social.CreatePost(s.Context(), social.Post{
		ID: p.id, Author: p.author, Caption: p.id, CreatedAt: p.at.Unix(), Audience: social.Audience{Followers: true},
	}, social.Creation{At: p.at})
	require.NoError(s, err)
	if p.likes == 0 {
		return p
	}
	// One like is given here, the others are reported by another system.
	_, _, err = s.a.Social.Like(s.Context(), "fan", p.id)
	require.NoError(s, err)
	require.NoError(s, s.a.Social.SetCounts(s.Context(), p.id, social.Counts{Likes: p.likes - 1, Comments: p.comments}, s.clock.Now()))
	return p
}

// some returns posts or items of these authors that the parts of the formula order differently.
func (s *scored) some(name string, n int, authors ...string) []reacted {
	list := make([]reacted, n)
	for i := range list {
		list[i] = reacted{
			id: fmt.Sprintf("%s_%02d", name, i), author: authors[s.random.IntN(len(authors))],
			at:    s.clock.Now().Add(-time.Duration(s.random.IntN(100*3600)) * time.Second),
			likes: 1 + int64(math.Exp(6*s.random.Float64())), comments: int64(math.Exp(4 * s.random.Float64())),
		}
	}
	return list
}

// ordered checks that the ids are ordered by score, and that each part of the formula affects the
// order.
func (s *scored) ordered(list []reacted, base float64, got []string) {
	s.Helper()
	now := s.clock.Now()
	assert.Equal(s, wholeScore.order(list, base, now, s.liked), got)
	for _, part := range []scoring{{0, 1, 1}, {1, 0, 1}, {1, 1, 0}} {
		require.NotEqual(s, part.order(list, base, now, s.liked), wholeScore.order(list, base, now, s.liked), "%v would not be noticed", part)
	}
}

// TestHomeOrderFollowsScores compares the order of each source with independently computed scores.
func TestHomeOrderFollowsScores(t *testing.T) {
	t.Parallel()
	s := newScored(t)
	followed, trends := s.some("post:f", 40, "ann", "bob", "cid"), s.some("t", 25, "ann", "bob", "cid", "eve")
	for _, p := range followed {
		s.post(p)
	}
	var items []feed.Item
	for _, p := range trends {
		items = append(items, feed.Item{ID: p.id, Title: p.id, AuthorID: p.author, UpdateTime: p.at.Unix(), Likes: p.likes, Comments: p.comments})
	}
	put(t, s.a, items...)
	waitSettled(t, s.a)
	s.clock.Advance(5 * time.Minute) // a set may have been computed before the items existed
	waitTrending(t, s.a)
	liked, err := s.a.Social.Affinities(t.Context(), "u", noon.Add(-30*24*time.Hour))
	require.NoError(t, err)
	require.Equal(t, s.liked, liked)

	got := map[string][]string{}
	for action := "refresh"; ; action = "load_more" {
		page := home(t, s.a, "u", action, 100)
		require.Empty(t, page.Data.Degraded)
		if len(page.Data.Items) == 0 {
			break
		}
		for _, it := range page.Data.Items {
			got[it.InFeed.Source] = append(got[it.InFeed.Source], it.ID)
		}
	}
	s.ordered(followed, 1, got["following"])
	s.ordered(trends, 0.6, got["trending"])
	s.promotions(items)
}

// promotions checks the scores of promoted items, and that weights, not scores, decide which are
// shown.
func (s *scored) promotions(items []feed.Item) {
	now := s.clock.Now()
	worst := slices.MinFunc(items, func(a, b feed.Item) int { return cmp.Compare(a.UpdateTime, b.UpdateTime) })
	for i, it := range items[:12] {
		p := social.Promotion{ID: fmt.Sprint("p", i), ItemID: it.ID, From: now.Unix(), Until: now.Unix() + 3600, Weight: 1e-9}
		require.NoError(s, s.a.Social.PutPromotion(s.Context(), p))
	}
	require.NoError(s, s.a.Social.PutPromotion(s.Context(), social.Promotion{ID: "most", ItemID: worst.ID, From: now.Unix(), Until: now.Unix() + 3600, Weight: 1e9}))
	require.NoError(s, s.a.network.promotions.Refresh(s.Context()))
	proposed, err := s.a.network.promotions.Propose(s.Context(), feed.Query{Agent: "v", Origin: now, N: 50})
	require.NoError(s, err)
	require.GreaterOrEqual(s, len(proposed.Proposals), 12)
	for _, p := range proposed.Proposals {
		it := items[slices.IndexFunc(items, func(it feed.Item) bool { return it.ID == p.ID })]
		age := now.Sub(time.Unix(it.UpdateTime, 0))
		by := reacted{it.ID, it.AuthorID, time.Unix(it.UpdateTime, 0), it.Likes, it.Comments}
		assert.InEpsilon(s, wholeScore.of(by, 0.8, now, s.liked),
			feed.DefaultHome.Score(feed.SourcePromoted, age, p.Reactions, feed.Affinity(float64(s.liked[p.Author]))).Total(), 1e-12, it.ID)
	}
	for i := range 10 {
		page := home(s.T, s.a, fmt.Sprint("v", i), "refresh", 20)
		require.Equal(s, "promoted", page.Data.Items[8].InFeed.Source)
		assert.Equal(s, worst.ID, page.Data.Items[8].ID)
	}
}
