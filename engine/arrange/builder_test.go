package arrange

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

// plainly is a plain implementation of the order that the page builder's comment defines, without
// regard to speed. told maps each item that was set aside on its last page to the item there with
// the same story. proper is the number of items placed before those set aside are used.
func plainly(from []feed.Candidate, by feed.Diversity, size, most int) (ranked []feed.Ref, told map[string]string, proper int) {
	told, proper = map[string]string{}, -1
	rest, aside := slices.Clone(from), []feed.Candidate(nil)
	takeUp := func() {
		if proper < 0 {
			proper = len(ranked)
		}
		rest, aside = aside, nil
		at := func(c feed.Candidate) int {
			return slices.IndexFunc(from, func(other feed.Candidate) bool { return other.ID == c.ID })
		}
		slices.SortFunc(rest, func(a, b feed.Candidate) int { return at(a) - at(b) })
	}
	for full := false; !full; {
		var page []feed.Candidate
		for taken := 0; len(page) < size; {
			for ; len(rest) == 0 && taken < 2; taken++ {
				takeUp()
			}
			if full = len(rest) == 0 || proper >= 0 && len(ranked) >= most; full {
				break
			}
			best := plainlyBest(rest, page, by)
			c := rest[best]
			rest = slices.Delete(rest, best, best+1)
			delete(told, c.ID)
			story := feed.ReadStory(c.Story)
			again := slices.IndexFunc(page, func(other feed.Candidate) bool {
				before := feed.ReadStory(other.Story)
				return by.OneStory() && story.Likeness(&before) >= by.SameStory
			})
			if again >= 0 {
				told[c.ID] = page[again].ID
			}
			if again >= 0 && taken < 2 {
				aside = append(aside, c)
				continue
			}
			page = append(page, c)
			ranked = append(ranked, feed.Ref{ID: c.ID, Group: c.Group})
		}
	}
	return ranked, told, proper
}

// plainlyBest returns the index of the item that a page takes next.
func plainlyBest(rest, page []feed.Candidate, by feed.Diversity) (best int) {
	traits := func(c feed.Candidate) [3]string { return [3]string{c.Author, c.Site, c.Tag} }
	highest := math.Inf(-1)
	for i, c := range rest {
		factor := 1.0
		for k, spread := range []feed.Spread{by.Author, by.Site, by.Tag} {
			one := 1.0
			for _, other := range page {
				if v := traits(c)[k]; spread.On() && v != "" && v == traits(other)[k] {
					one = max(spread.Floor, one*spread.Decay)
				}
			}
			factor *= one
		}
		if score := float64(c.Score) * factor; score > highest {
			best, highest = i, score
		}
	}
	return best
}

func randomCandidates(r *rand.Rand, n, values int) []feed.Candidate {
	out := make([]feed.Candidate, n)
	pick := func(what string) string {
		if v := r.IntN(values + 1); v > 0 {
			return fmt.Sprint(what, v)
		}
		return ""
	}
	for i := range out {
		score := float32(r.Float64())
		if r.IntN(3) == 0 {
			score = float32(r.IntN(4)) / 4 // with equal scores, and scores of 0
		}
		title := fmt.Sprintf("w%d w%d w%d w%d", r.IntN(6), 10+r.IntN(6), 20+r.IntN(6), 30+r.IntN(6))
		out[i] = feed.Candidate{
			ID: fmt.Sprintf("i%03d", i), Group: fmt.Sprintf("g%03d", i), Score: score,
			Traits: feed.Traits{Author: pick("a"), Site: pick("s"), Tag: pick("t"), Story: feed.Sketch(title)},
		}
	}
	slices.SortStableFunc(out, func(a, b feed.Candidate) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return 0
	})
	return out
}

// The page builder orders a list as the plain implementation does: the result is a permutation of
// the input, except for items that were set aside and exceed the maximal length.
func TestPageBuilderEqualsReference(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 11))
	spread := func() feed.Spread {
		return []feed.Spread{{}, {Decay: 1, Floor: 0.5}, {Decay: 0.01 + 0.98*r.Float64(), Floor: r.Float64()}, {Decay: 0.5}, {Decay: 0.7, Floor: 1}}[r.IntN(5)]
	}
	var b Builder
	for n := range 800 {
		from := randomCandidates(r, r.IntN(90), 1+r.IntN(30))
		by := feed.Diversity{Author: spread(), Site: spread(), Tag: spread(), SameStory: []float64{0, 0.3, 0.5, 0.6, 1}[r.IntN(5)]}
		ranking := feed.DefaultRanking()
		ranking.Diversity = by
		require.NoError(t, ranking.Validate())
		size, most := 1+r.IntN(25), []int{20, 90}[r.IntN(2)]
		b.places = []Place{}
		got := b.Build(from, by, size, most)
		want, told, proper := plainly(from, by, size, most)
		require.Equal(t, proper, b.regular)
		require.Equal(t, len(want), len(got), "%d", n)
		for i := range want {
			require.Equal(t, want[i], got[i], "place %d of %d by %+v in pages of %d", i, n, by, size)
		}
		require.True(t, len(got) == len(from) || len(got) >= most, "a permutation, as far as a list goes")
		for i, p := range b.places {
			if told[from[i].ID] == "" {
				require.Equal(t, int32(-1), p.Same)
			} else {
				require.Equal(t, told[from[i].ID], from[p.Same].ID)
			}
			if p.At == 0 {
				continue
			}
			require.Equal(t, from[i].ID, got[p.At-1].ID)
			require.Equal(t, (p.At-1)/size+1, p.Page)
		}
		require.Equal(t, got, b.Build(from, by, size, most), "in a page builder that was used")
		b.Release()
		require.Equal(t, got, b.Build(from, by, size, most), "without notes, in one that was pooled")
		b.Release()
	}
}

func TestPageBuilderWithoutRules(t *testing.T) {
	t.Parallel()
	from := randomCandidates(rand.New(rand.NewPCG(1, 2)), 200, 3)
	for _, by := range []feed.Diversity{{}, {Author: feed.Spread{Decay: 1}, Site: feed.Spread{Decay: 0.1, Floor: 1}, SameStory: 1}} {
		var b Builder
		assert.Equal(t, refsOf(from), b.Build(from, by, 20, 500))
		b.places = []Place{}
		assert.Equal(t, refsOf(from), b.Build(from, by, 20, 500), "explained")
		assert.Equal(t, Place{At: 200, Page: 10, Factor: [3]float64{1, 1, 1}, Same: -1}, b.places[199])
	}
}

// The counts of a page follow the formula: when scores differ only in order, the site with many
// items gets one place in each round.
func TestPageBuilderSiteCounts(t *testing.T) {
	t.Parallel()
	var from []feed.Candidate
	for i := range 60 {
		site := "one.example"
		if i >= 40 {
			site = fmt.Sprintf("s%d.example", i)
		}
		id := fmt.Sprint(i)
		from = append(from, feed.Candidate{ID: id, Group: id, Score: float32(1000-i) / 1000, Traits: feed.Traits{Site: site}})
	}
	var b Builder
	got := b.Build(from, feed.Diversity{Site: feed.Spread{Decay: 0.5}}, 20, 500)
	sites := map[string]int{}
	for _, ref := range got[:20] {
		i := slices.IndexFunc(from, func(c feed.Candidate) bool { return c.ID == ref.ID })
		sites[from[i].Site]++
	}
	assert.Equal(t, 1, sites["one.example"], "its second item counts half, and there are nineteen others")
	assert.Len(t, sites, 20)
	b.Release()
	got = b.Build(from, feed.Diversity{Site: feed.Spread{Decay: 0.5, Floor: 0.97}}, 20, 500)
	assert.Equal(t, feed.Ref{ID: "9", Group: "9"}, got[9], "a floor bounds how much an item is set back")
}

// title returns eight words, two of them from a small set of common ones.
func title(r *rand.Rand) (text string) {
	for i := range 8 {
		n := r.IntN(3000)
		if i < 2 {
			n %= 20
		}
		text += fmt.Sprint("w", n, " ")
	}
	return text
}

func BenchmarkPageBuilder(b *testing.B) {
	by := feed.Diversity{
		Author: feed.Spread{Decay: 0.8, Floor: 0.3}, Site: feed.Spread{Decay: 0.7, Floor: 0.05}, Tag: feed.Spread{Decay: 0.95, Floor: 0.5}, SameStory: 0.6,
	}
	r := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		name   string
		n      int
		values int // of each trait
	}{{"500 of 100 sites", 500, 100}, {"500 of 2 sites", 500, 2}, {"500 of one site", 500, 1}, {"2000 of 100 sites", 2000, 100}} {
		b.Run(c.name, func(b *testing.B) {
			from := make([]feed.Candidate, c.n)
			for i := range from {
				v := r.IntN(c.values)
				from[i] = feed.Candidate{ID: fmt.Sprint(i), Group: fmt.Sprint(i), Score: float32(c.n-i) / float32(c.n), Traits: feed.Traits{
					Author: fmt.Sprint("author ", r.IntN(400)), Site: fmt.Sprintf("site%d.example", v), Tag: fmt.Sprint("tag ", v%20),
					Story: feed.Sketch(title(r)),
				}}
			}
			var builder Builder
			b.ReportAllocs()
			for b.Loop() {
				builder.Build(from, by, 20, 500)
				builder.Release()
			}
		})
	}
}
