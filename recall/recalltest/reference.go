package recalltest

import (
	"cmp"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/freshet/freshet/feed"
)

// Reference is recall by definition: it scores every item, sorts, keeps the
// best of each group and cuts to q.N. It is what backends are compared with;
// q.After is not looked at.
//
// It shares no code with what it checks: of package feed it uses the types
// alone, and the formula is written out from the design. It cuts text at spaces
// and lowers it, so the items' texts must be plain words. Scores are in float32
// as the contract says.
func Reference(items []feed.Item, q feed.Query) []feed.Candidate {
	return Best(Ranked(items, q), q.N)
}

// Best keeps the first n candidates that are the first of their group.
func Best(ranked []feed.Candidate, n int) []feed.Candidate {
	seen := map[string]bool{}
	best := []feed.Candidate{}
	for _, c := range ranked {
		if !seen[c.Group] && len(best) < n {
			seen[c.Group] = true
			best = append(best, c)
		}
	}
	return best
}

// Ranked scores and sorts every item the query admits, all items of a group
// included.
func Ranked(items []feed.Item, q feed.Query) []feed.Candidate {
	c := measure(items, q.Profile.Keywords)
	tags := slices.Sorted(maps.Keys(q.Profile.Interests))
	out := []feed.Candidate{}
	for i := range items {
		it := &items[i]
		late := !q.Since.IsZero() && it.UpdateTime <= q.Since.Unix()
		if it.UpdateTime > q.Origin.Unix() || late || unwanted(it, q.Profile) {
			continue
		}
		gain := 0.0
		for _, tag := range tags {
			if slices.Contains(it.Tags, tag) {
				gain += q.Profile.Interests[tag]
			}
		}
		score := (q.Ranking.Base + c.addBM25(gain, i)) *
			decayFactor(q.Ranking.Decay, float64(q.Origin.Unix()-it.UpdateTime)) *
			popularityFactor(q.Ranking.PopularityWeight, float64(it.Likes+2*it.Comments))
		out = append(out, feed.Candidate{ID: it.ID, Group: group(it), UpdateTime: it.UpdateTime, Score: float32(score)})
	}
	slices.SortFunc(out, Order)
	return out
}

// decayFactor is the sum of Elasticsearch's decay functions with a floor, at a
// distance in seconds. Without curves it is one Gaussian.
func decayFactor(d feed.Decay, distance float64) float64 {
	if d.Curves[0].Shape == "" {
		return max(d.Floor, curve(feed.Gauss, d.Scale, d.Offset, d.Decay, distance))
	}
	sum := 0.0
	for _, c := range d.Curves {
		if c.Shape != "" {
			sum += c.Weight * curve(c.Shape, c.Scale, c.Offset, c.Decay, distance)
		}
	}
	return max(d.Floor, sum)
}

// curve is, at x = max(0, |distance| − offset):
//
//	gauss  exp(−x² / 2σ²), σ² = −scale² / (2 ln decay)
//	exp    exp(λx), λ = ln decay / scale
//	linear max(0, (s − x) / s), s = scale / (1 − decay)
func curve(shape feed.Shape, scale, offset time.Duration, decay, distance float64) float64 {
	x := max(0, math.Abs(distance)-offset.Seconds())
	switch shape {
	case "gauss":
		variance := -math.Pow(scale.Seconds(), 2) / (2 * math.Log(decay))
		return math.Exp(-x * x / (2 * variance))
	case "exp":
		return math.Exp(math.Log(decay) / scale.Seconds() * x)
	case "linear":
		s := scale.Seconds() / (1 - decay)
		return max(0, (s-x)/s)
	}
	return 1
}

func popularityFactor(weight, popularity float64) float64 {
	return 1 + weight*math.Log10(1+popularity)
}

func group(it *feed.Item) string { return cmp.Or(it.GroupID, it.ID) }

// unwanted: the author, a tag, the item or its group is muted, or the item is in
// a language the reader has not asked for.
func unwanted(it *feed.Item, p feed.Profile) bool {
	muted := it.AuthorID != "" && slices.Contains(p.MutedAuthors, it.AuthorID) ||
		slices.Contains(p.MutedItems, it.ID) || slices.Contains(p.MutedItems, it.GroupID)
	for _, tag := range it.Tags {
		muted = muted || slices.Contains(p.MutedTags, tag)
	}
	return muted || it.Lang != "" && len(p.Langs) > 0 && !slices.Contains(p.Langs, it.Lang)
}

// Order is the order of candidates: score descending, newer first, then id.
func Order(a, b feed.Candidate) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.UpdateTime, a.UpdateTime), cmp.Compare(a.ID, b.ID))
}

// corpus is what BM25 needs to know of all items, for title and summary.
type corpus struct {
	words []string  // of the query, each once
	times []float64 // how often the query has them
	texts [][2][]string
	stats [2]struct {
		having, length float64
		holders        []float64 // per word of the query
	}
}

func cut(text string) []string { return strings.Fields(strings.ToLower(text)) }

func measure(items []feed.Item, keywords []string) *corpus {
	c := &corpus{texts: make([][2][]string, len(items))}
	for _, word := range cut(strings.Join(keywords, " ")) {
		i := slices.Index(c.words, word)
		if i < 0 {
			i = len(c.words)
			c.words, c.times = append(c.words, word), append(c.times, 0)
		}
		c.times[i]++
	}
	if len(c.words) == 0 {
		return c
	}
	for f := range c.stats {
		c.stats[f].holders = make([]float64, len(c.words))
	}
	for i := range items {
		c.texts[i] = [2][]string{cut(items[i].Title), cut(items[i].Summary)}
		for f, text := range c.texts[i] {
			if len(text) == 0 {
				continue
			}
			c.stats[f].having++
			c.stats[f].length += float64(len(text))
			for w, word := range c.words {
				if slices.Contains(text, word) {
					c.stats[f].holders[w]++
				}
			}
		}
	}
	return c
}

// addBM25 adds item i's score for the keywords to gain, word by word, title
// before summary.
func (c *corpus) addBM25(gain float64, i int) float64 {
	for w, word := range c.words {
		for f, text := range c.texts[i] {
			tf := 0.0
			for _, other := range text {
				if other == word {
					tf++
				}
			}
			if tf > 0 {
				gain += c.weight(f, w) * tf / (tf + c.norm(f, len(text)))
			}
		}
	}
	return gain
}

func (c *corpus) weight(f, w int) float64 {
	boost := []float64{2, 1}[f]
	having, n := c.stats[f].having, c.stats[f].holders[w]
	return c.times[w] * (2.2 * boost * math.Log(1+(having-n+0.5)/(n+0.5)))
}

func (c *corpus) norm(f, length int) float64 {
	average := c.stats[f].length / c.stats[f].having
	return 1.2 * (1 - 0.75 + 0.75*float64(storedLength(length))/average)
}

// storedLength is a field's length as one byte keeps it: beyond 24, only the
// four highest bits of what is more.
func storedLength(n int) int {
	if n <= 24 {
		return n
	}
	more := n - 24
	low := max(0, bits.Len(uint(more))-4)
	return 24 + more>>low<<low
}
