package recalltest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shelf returns a catalog with many equal scores and times.
func shelf(n int) []feed.Item {
	items := make([]feed.Item, n)
	for i := range items {
		items[i] = feed.Item{
			ID: fmt.Sprintf("i%03d", i*37%n), Title: fmt.Sprintf("title %d", i%7),
			UpdateTime: ago(time.Duration(i/4) * 5 * time.Hour), Tags: []string{fmt.Sprintf("t%d", i%5)},
		}
	}
	return items
}

// Rounds recalls round after round until the source has no more, and returns all candidates. It
// fails if the rounds do not end.
func Rounds(t *testing.T, s recall.Source, q feed.Query) []feed.Candidate {
	t.Helper()
	var all []feed.Candidate
	for range 10_000 {
		r := recallAll(t, s, q)
		inRound := map[string]bool{}
		for _, c := range r.Candidates {
			require.False(t, inRound[c.Group], "group %s twice in a round", c.Group)
			inRound[c.Group] = true
		}
		all = append(all, r.Candidates...)
		if r.Next == "" {
			return all
		}
		q.After = r.Next
	}
	t.Fatal("the rounds do not end")
	return nil
}

// firsts removes all but the first candidate of each group.
func firsts(candidates []feed.Candidate) []feed.Candidate {
	seen := map[string]bool{}
	var out []feed.Candidate
	for _, c := range candidates {
		if !seen[c.Group] {
			seen[c.Group] = true
			out = append(out, c)
		}
	}
	return out
}

func rounds(t *testing.T, open Open) {
	items := shelf(120)
	s := open(t, items)
	for name, p := range map[string]feed.Profile{
		"freshness": {},
		"interests": {Interests: map[string]float64{"t1": 2, "t3": 0.7}},
		"keywords":  {Keywords: feed.Keywords("3", "title")},
		"muted":     {Interests: map[string]float64{"t1": 2}, MutedTags: []string{"t2", "t3"}},
	} {
		t.Run(name, func(t *testing.T) {
			big := recallAll(t, s, query(500, p))
			require.Empty(t, big.Next, "there is nothing left")
			assertRanking(t, items, query(500, p), big.Candidates)
			for _, n := range []int{7, 40} {
				all := Rounds(t, s, query(n, p))
				require.Equal(t, big.Candidates, all, "rounds of %d", n)
			}
		})
	}
}

func groups(t *testing.T, open Open) {
	items := shelf(60)
	for i := range items {
		if i%3 != 0 {
			items[i].GroupID = fmt.Sprintf("story%d", i%4)
		}
	}
	// An item whose id is another item's group belongs to that group.
	items[0].ID = "story1"
	// A mute of the id of an item with a group does apply to it.
	items[4].ID, items[4].GroupID = "i111", "story2"
	s := open(t, items)
	for name, p := range map[string]feed.Profile{
		"freshness": {},
		"interests": {Interests: map[string]float64{"t1": 2, "t3": 0.7}},
		"muted":     {MutedItems: []string{"story1", "i051", "i111"}},
	} {
		t.Run(name, func(t *testing.T) {
			assertRanking(t, items, query(500, p), recallAll(t, s, query(500, p)).Candidates)
			for _, n := range []int{1, 5} {
				// A source may apply groups only after it has selected N items.
				got := recallAll(t, s, query(n, p)).Candidates
				require.NotEmpty(t, got)
				assertRanking(t, items, query(len(got), p), got)
			}
			all := Rounds(t, s, query(4, p))
			seen := map[string]bool{}
			for _, c := range all {
				require.False(t, seen[c.ID], "%s came twice", c.ID)
				seen[c.ID] = true
			}
			assertRanking(t, items, query(500, p), firsts(all))
		})
	}
}

func edges(t *testing.T, open Open) {
	t.Run("empty catalog", func(t *testing.T) {
		s := open(t, nil)
		r := recallAll(t, s, query(10, feed.Profile{Interests: map[string]float64{"a": 1}, Keywords: feed.Keywords("b")}))
		assert.Empty(t, r.Candidates)
		assert.Empty(t, r.Next)
	})
	s := open(t, library())
	t.Run("nothing fits", func(t *testing.T) {
		q := query(10, feed.Profile{})
		q.Origin = origin.Add(-1000 * 24 * time.Hour)
		r := recallAll(t, s, q)
		assert.Empty(t, r.Candidates)
		assert.Empty(t, r.Next)
	})
	t.Run("bad cursor", func(t *testing.T) {
		for _, cursor := range []string{"x", "!!", "bm8", "WzEsMl0", "null", "[]", "{}", "AAAAAAAAAAAAAAAAAAAAAA"} {
			q := query(10, feed.Profile{})
			q.After = cursor
			_, err := s.Recall(context.Background(), q)
			require.ErrorIs(t, err, recall.ErrBadCursor, "%q", cursor)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err := s.Recall(ctx, query(10, feed.Profile{}))
		require.ErrorIs(t, err, context.Canceled)
	})
	t.Run("buffer", func(t *testing.T) {
		want := recallAll(t, s, query(50, feed.Profile{})).Candidates
		for _, n := range []int{0, 3, 50, 90} {
			q := query(50, feed.Profile{})
			q.Buffer = slices.Repeat([]feed.Candidate{{ID: "of an earlier answer", Group: "g", Traits: feed.Traits{Story: "s"}}}, n)
			require.Equal(t, want, recallAll(t, s, q).Candidates, "%d candidates fit", n)
		}
	})
	t.Run("words that are syntax elsewhere", func(t *testing.T) {
		p := feed.Profile{
			Keywords:  feed.Keywords(`"go" AND (rust) -news +x* ~1`, "!!!", "C++"),
			Interests: map[string]float64{`a"b\c`: 1},
		}
		assert.Len(t, recallAll(t, s, query(50, p)).Candidates, len(library())-1)
	})
}

func concurrent(t *testing.T, open Open) {
	items := shelf(80)
	s := open(t, items)
	var wait sync.WaitGroup
	for g := range 8 {
		p := feed.Profile{Interests: map[string]float64{fmt.Sprintf("t%d", g%5): 1 + float64(g)}, Keywords: feed.Keywords(fmt.Sprint(g % 7))}
		q := query(20, p)
		want := Reference(items, q)
		wait.Go(func() {
			for range 10 {
				r, err := s.Recall(context.Background(), q)
				if !assert.NoError(t, err) || !assert.Len(t, r.Candidates, len(want)) {
					return
				}
				for i := range want {
					assert.InEpsilon(t, want[i].Score, r.Candidates[i].Score, tolerance)
				}
			}
		})
	}
	wait.Wait()
}
