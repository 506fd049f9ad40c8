package recalltest

import (
	"cmp"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/freshet/freshet/feed"
)

// Reference is recall by definition: it scores every item, sorts, keeps the
// best of each group and cuts to q.N. It is what backends are compared with;
// q.After is not looked at.
//
// It cuts text at spaces and lowers it, so the items' texts must be plain
// words. Scores are in float32 as the contract says.
func Reference(items []feed.Item, q feed.Query) []feed.Candidate {
	all := Ranked(items, q)
	seen := map[string]bool{}
	kept := all[:0]
	for _, c := range all {
		if !seen[c.Group] {
			seen[c.Group] = true
			kept = append(kept, c)
		}
	}
	return kept[:min(q.N, len(kept))]
}

// Ranked scores and sorts every item the query admits, all items of a group
// included.
func Ranked(items []feed.Item, q feed.Query) []feed.Candidate {
	corpus := measure(items)
	out := []feed.Candidate{}
	for i := range items {
		it := &items[i]
		late := !q.Since.IsZero() && it.UpdateTime <= q.Since.Unix()
		if it.UpdateTime > q.Origin.Unix() || late || q.Profile.Refuses(it) {
			continue
		}
		age := float64(q.Origin.Unix() - it.UpdateTime)
		score := corpus.relevance(it, q) * q.Ranking.Decay.Curve().At(age) * q.Ranking.PopularityFactor(it.Popularity())
		out = append(out, feed.Candidate{ID: it.ID, Group: it.Group(), UpdateTime: it.UpdateTime, Score: float32(score)})
	}
	slices.SortFunc(out, Order)
	return out
}

// Order is the order of candidates: score descending, newer first, then id.
func Order(a, b feed.Candidate) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.UpdateTime, a.UpdateTime), cmp.Compare(a.ID, b.ID))
}

// corpus is what BM25 needs to know of all items, for title and summary.
type corpus [2]struct {
	having  float64
	length  float64
	holders map[string]float64
}

func texts(it *feed.Item) [2][]string {
	return [2][]string{strings.Fields(strings.ToLower(it.Title)), strings.Fields(strings.ToLower(it.Summary))}
}

func measure(items []feed.Item) *corpus {
	var c corpus
	for f := range c {
		c[f].holders = map[string]float64{}
	}
	for i := range items {
		for f, words := range texts(&items[i]) {
			if len(words) == 0 {
				continue
			}
			c[f].having++
			c[f].length += float64(len(words))
			for word := range count(words) {
				c[f].holders[word]++
			}
		}
	}
	return &c
}

func count(words []string) map[string]float64 {
	n := map[string]float64{}
	for _, word := range words {
		n[word]++
	}
	return n
}

func (c *corpus) relevance(it *feed.Item, q feed.Query) float64 {
	gain := 0.0
	for _, tag := range slices.Sorted(maps.Keys(q.Profile.Interests)) {
		if slices.Contains(it.Tags, tag) {
			gain += q.Profile.Interests[tag]
		}
	}
	words := strings.Fields(strings.ToLower(strings.Join(q.Profile.Keywords, " ")))
	times := count(words)
	for i, word := range words {
		if slices.Index(words, word) < i {
			continue // a repeated word counts by times
		}
		for f, text := range texts(it) {
			if tf := count(text)[word]; tf > 0 {
				gain += c.bm25(f, word, times[word]) * tf / (tf + c.norm(f, len(text)))
			}
		}
	}
	return q.Ranking.Base + gain
}

func (c *corpus) bm25(f int, word string, times float64) float64 {
	boost := []float64{2, 1}[f]
	n := c[f].holders[word]
	return times * (2.2 * boost * math.Log(1+(c[f].having-n+0.5)/(n+0.5)))
}

func (c *corpus) norm(f, length int) float64 {
	average := c[f].length / c[f].having
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
