package recall

import (
	"cmp"
	"slices"
	"strings"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/terms"
	"github.com/freshet/freshet/feed/words"
)

// Learned is a feature learned of a reader, made ready to be looked for.
type Learned struct {
	feed.LearnedEffect
	Tokens []string // of a word: one or more, which follow one another in the title
	Term   string   // of the others what an item has it by: a folded tag, a [terms.LangKey], an author
}

// LearnedOf returns the learned features that change a relevance of the query, at
// most [feed.MaxLearned], in a fixed order. An item has a tag, an author and a
// language if they are its own, and a word if its tokens follow one another in the
// title.
func LearnedOf(q *feed.Query) []Learned {
	effects := q.Profile.Learned.Effects(q.Ranking.Learned, q.Ranking.Base, q.Origin.Unix())
	if len(effects) == 0 {
		return nil
	}
	all := make([]Learned, 0, len(effects))
	for _, e := range effects {
		l := Learned{LearnedEffect: e, Term: e.Value}
		switch e.Kind {
		case feed.FeatureWord:
			l.Tokens = words.Of(e.Value)
		case feed.FeatureTag:
			l.Term = terms.Fold(e.Value)
		case feed.FeatureLang:
			l.Term = terms.LangKey(e.Value)
		}
		if e.Kind == feed.FeatureWord && len(l.Tokens) > 0 || e.Kind != feed.FeatureWord && l.Term != "" {
			all = append(all, l)
		}
	}
	return all
}

// GainOf returns an effect as it is told.
func GainOf(e *feed.LearnedEffect) feed.LearnedGain {
	g := feed.LearnedGain{
		Feature: e.Feature, Score: e.Gain,
		Clicks: e.Clicks, Likes: e.Likes, Dislikes: e.Dislikes, Hides: e.Hides,
	}
	if e.Factor < 1 {
		g.Factor = e.Factor
	}
	return g
}

// SortLearned puts what adds most first, and what takes most away last.
func SortLearned(gains []feed.LearnedGain) {
	slices.SortFunc(gains, func(a, b feed.LearnedGain) int {
		return cmp.Or(
			cmp.Compare(b.Score, a.Score), cmp.Compare(factorOf(&b), factorOf(&a)),
			strings.Compare(string(a.Kind), string(b.Kind)), strings.Compare(a.Value, b.Value),
		)
	})
}

// factorOf is 1 where there is none.
func factorOf(g *feed.LearnedGain) float64 { return cmp.Or(g.Factor, 1) }
