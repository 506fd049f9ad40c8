package recalltest

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/terms"
)

// Reference implements recall by definition: it scores every item, sorts, keeps the best of
// each group and truncates to q.N. Backends are compared with it; q.After is ignored.
//
// It shares no code with the backends, except package terms, which decides which tags and
// languages are equal. Of package feed it uses only types, and the formula is written out from
// the design. It splits text at spaces and lowercases it, so the items' texts must be plain
// words. Scores are float32, as the contract requires.
func Reference(items []feed.Item, q feed.Query) []feed.Candidate {
	return Best(Ranked(items, q), q.N)
}

// Best returns the first n candidates that are the first of their group.
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

// Ranked scores and sorts every item that the query admits, including all items of a group.
func Ranked(items []feed.Item, q feed.Query) []feed.Candidate { return RankedLive(items, nil, q) }

// Live is the live popularity of an item at the origin: its two counts.
type Live struct {
	In2h, In2d float64
	More       feed.PerHalfLife // 1 h, 6 h, 1 d and 7 d
}

// RankedLive is Ranked for items with live popularity, given by id.
func RankedLive(items []feed.Item, live map[string]Live, q feed.Query) []feed.Candidate {
	phrases := phrases(q.Profile.Keywords)
	interests := map[string]float64{}
	for tag, weight := range q.Profile.Interests {
		interests[terms.Fold(tag)] = max(interests[terms.Fold(tag)], weight)
	}
	tags := slices.Sorted(maps.Keys(interests))
	out := []feed.Candidate{}
	for i := range items {
		it := &items[i]
		late := !q.Since.IsZero() && it.UpdateTime <= q.Since.Unix()
		if it.UpdateTime > q.Origin.Unix() || late || unwanted(it, q.Profile) || !admits(q.Filter, it) {
			continue
		}
		gain := 0.0
		for _, tag := range tags {
			if tagged(it, tag) {
				gain += interests[tag]
			}
		}
		for _, p := range phrases {
			switch {
			case stands(p.words, it.Title):
				gain += p.weight
			case stands(p.words, it.Summary):
				gain += p.weight * q.Ranking.KeywordsSummary
			}
		}
		likes, factor := learnedOf(it, q)
		score := (q.Ranking.Base + gain + likes) * factor *
			decayFactor(q.Ranking.Decay, float64(q.Origin.Unix()-it.UpdateTime)) *
			popularityFactor(q.Ranking, live[it.ID], float64(it.Likes+2*it.Comments))
		out = append(out, feed.Candidate{ID: it.ID, Group: group(it), UpdateTime: it.UpdateTime, Score: float32(score), Traits: it.Traits()})
	}
	slices.SortFunc(out, Order)
	return out
}

// learnedOf returns the gain of learned features for an item's relevance and the factor that
// lowers it:
//
//	gain   = weight of the kind · base · (1 − 2^−e)      e > 0, the sum of all scaled to at most 1
//	factor = 1 − negative · (1 − 2^e)                    e < 0
//	e      = evidence · 2^(−age of the latest act / half-life)
func learnedOf(it *feed.Item, q feed.Query) (gain, factor float64) {
	l, w := q.Profile.Learned, q.Ranking.Learned
	weights := map[feed.FeatureKind]float64{"tag": w.Tags, "author": w.Author, "lang": w.Lang, "word": w.Words}
	age := max(0, float64(q.Origin.Unix()-l.At))
	all := 0.0
	factor = 1
	for _, f := range l.Features {
		e, weight := f.Evidence*math.Pow(2, -age/w.HalfLife.Seconds()), weights[f.Kind]
		has := f.Kind == "tag" && tagged(it, f.Value) || f.Kind == "author" && it.AuthorID == f.Value ||
			f.Kind == "lang" && it.Lang != "" && terms.LangKey(it.Lang) == terms.LangKey(f.Value) || f.Kind == "word" && stands(spaced(f.Value), it.Title)
		switch {
		case weight == 0:
		case e > 0:
			one := weight * q.Ranking.Base * (1 - math.Pow(2, -e))
			all += one
			if has {
				gain += one
			}
		case has:
			factor *= 1 - w.Negative*(1-math.Pow(2, e))
		}
	}
	return gain / max(1, all), factor
}

// decayFactor is the sum of Elasticsearch's decay functions with a floor, at a distance in
// seconds. Without curves it is a single Gaussian.
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

func popularityFactor(r feed.Ranking, live Live, uploaded float64) float64 {
	factor := 1 + r.Popularity2h*math.Log10(1+live.In2h) + r.Popularity2d*math.Log10(1+live.In2d) + r.PopularityWeight*math.Log10(1+uploaded)
	more := 0.0
	for i, weight := range r.PopularityMore {
		more += weight * math.Log10(1+live.More[i])
	}
	return factor + more
}

func group(it *feed.Item) string { return cmp.Or(it.GroupID, it.ID) }

// unwanted reports whether the author, a tag, a word of the texts, the item or its group is muted, or
// the item is in a language that the reader does not read.
func unwanted(it *feed.Item, p feed.Profile) bool {
	muted := it.AuthorID != "" && slices.Contains(p.MutedAuthors, it.AuthorID) ||
		slices.Contains(p.MutedItems, it.ID) || slices.Contains(p.MutedItems, it.GroupID)
	for _, tag := range p.MutedTags {
		muted = muted || tagged(it, tag)
	}
	for _, w := range p.MutedWords {
		phrase := spaced(w.Term)
		muted = muted || stands(phrase, it.Title) || stands(phrase, it.Summary) || tagged(it, w.Term)
	}
	return muted || !terms.ReadLangs(p.Langs).Take(it.Lang)
}

func tagged(it *feed.Item, tag string) bool {
	return slices.ContainsFunc(it.Tags, func(own string) bool { return terms.Same(own, tag) })
}

// Order compares candidates: score descending, newer first, then id.
func Order(a, b feed.Candidate) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.UpdateTime, a.UpdateTime), cmp.Compare(a.ID, b.ID))
}

type weightedPhrase struct {
	words  string // separated and surrounded by spaces
	weight float64
}

// phrases returns the keywords that can match, sorted by their words: each once, with its
// largest weight, except "the" alone.
func phrases(keywords []feed.Keyword) []weightedPhrase {
	weights := map[string]float64{}
	for _, k := range keywords {
		words := spaced(k.Term)
		if words != "  " && words != " the " && k.Weight > weights[words] {
			weights[words] = k.Weight
		}
	}
	out := []weightedPhrase{}
	for _, words := range slices.Sorted(maps.Keys(weights)) {
		out = append(out, weightedPhrase{words, weights[words]})
	}
	return out
}

func spaced(text string) string {
	return " " + strings.Join(strings.Fields(strings.ToLower(text)), " ") + " "
}

func stands(words, text string) bool { return strings.Contains(spaced(text), words) }
