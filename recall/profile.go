package recall

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/terms"
	"github.com/freshet/freshet/feed/words"
)

// Interest is a declared interest, prepared for matching.
type Interest struct {
	Name      string   // as the reader wrote it; of several spellings the one with the highest weight
	Tag       string   // folded
	Spellings []string // as written, for an index without folded tags
	Weight    float64
}

// InterestsOf returns the declared interests with a positive weight, each tag once, in a fixed
// order. Of several spellings of a tag the highest weight counts.
func InterestsOf(p *feed.Profile) []Interest {
	all := make([]Interest, 0, len(p.Interests))
	at := make(map[string]int, len(p.Interests))
	for _, name := range slices.Sorted(maps.Keys(p.Interests)) {
		weight, tag := p.Interests[name], terms.Fold(name)
		if weight <= 0 {
			continue
		}
		i, again := at[tag]
		if !again {
			i, at[tag] = len(all), len(all)
			all = append(all, Interest{Tag: tag})
		}
		is := &all[i]
		if weight > is.Weight {
			is.Name, is.Weight = name, weight
		}
		all[i].Spellings = append(all[i].Spellings, name)
	}
	slices.SortFunc(all, func(a, b Interest) int { return strings.Compare(a.Tag, b.Tag) })
	return all
}

// Keyword is a keyword of a profile, prepared for matching.
type Keyword struct {
	Term   string   // as in the profile
	Weight float64  // greater than 0
	Tokens []string // one or more, adjacent where the keyword matches
	Joined []string // the same with one-letter parts joined by hyphens, which matches too; or nil
}

// Keywords returns the keywords of a profile that can match, in a fixed order: those with a
// positive weight and with tokens, except a single stop word. Of two with the same tokens the
// one with the larger weight counts.
func Keywords(p *feed.Profile) []Keyword {
	if len(p.Keywords) == 0 {
		return nil
	}
	all := make([]Keyword, 0, len(p.Keywords))
	for _, k := range p.Keywords {
		tokens, joined := words.OneLetterParts(words.Of(k.Term))
		isStop := len(tokens) == 1 && words.Stop(tokens[0])
		if k.Weight > 0 && len(tokens) > 0 && !isStop {
			all = append(all, Keyword{Term: k.Term, Weight: k.Weight, Tokens: tokens, Joined: joined})
		}
	}
	slices.SortStableFunc(all, func(a, b Keyword) int {
		return cmp.Or(slices.Compare(a.Tokens, b.Tokens), cmp.Compare(b.Weight, a.Weight), strings.Compare(a.Term, b.Term))
	})
	return slices.CompactFunc(all, func(a, b Keyword) bool { return slices.Equal(a.Tokens, b.Tokens) })
}

// MutedPhrases returns the muted words of a profile as the tokens that are adjacent where a word
// occurs, in each spelling.
func MutedPhrases(p *feed.Profile) (phrases [][]string) {
	for _, w := range p.MutedWords {
		apart, joined := words.OneLetterParts(words.Of(w.Term))
		for _, tokens := range [][]string{apart, joined} {
			if len(tokens) > 0 {
				phrases = append(phrases, tokens)
			}
		}
	}
	return phrases
}

// MutedTags returns the tags that a profile mutes, folded: also its muted words, which are tags of
// some items.
func MutedTags(p *feed.Profile) []string {
	tags := make([]string, 0, len(p.MutedTags)+len(p.MutedWords))
	for _, tag := range p.MutedTags {
		tags = append(tags, terms.Fold(tag))
	}
	for _, w := range p.MutedWords {
		tags = append(tags, terms.Fold(w.Term))
	}
	slices.Sort(tags)
	return slices.Compact(tags)
}

// Learned is a learned feature of a reader, prepared for matching.
type Learned struct {
	feed.LearnedGain
	Tokens []string // of a word: one or more, adjacent in the title
	Term   string   // of the other kinds: a folded tag, a [terms.LangKey] or an author
}

// LearnedOf returns the learned features that change relevance in this query, at most
// [feed.MaxLearned], in a fixed order. A tag, author or language matches an item that has it; a
// word matches if its tokens are adjacent in the title.
func LearnedOf(q *feed.Query) []Learned {
	effects := q.Profile.Learned.Effects(q.Ranking.Learned, q.Ranking.Base, q.Origin.Unix())
	if len(effects) == 0 {
		return nil
	}
	all := make([]Learned, 0, len(effects))
	for _, e := range effects {
		l := Learned{LearnedGain: e, Term: e.Value}
		switch e.Kind {
		case feed.FeatureWord:
			l.Tokens = words.Of(e.Value)
		case feed.FeatureTag:
			l.Term = terms.Fold(e.Value)
		case feed.FeatureLang:
			l.Term = terms.LangKey(e.Value)
		}
		searchable := l.Term != ""
		if e.Kind == feed.FeatureWord {
			searchable = len(l.Tokens) > 0
		}
		if searchable {
			all = append(all, l)
		}
	}
	return all
}

// SortLearned sorts by effect: the largest gain first, the strongest reduction last.
func SortLearned(gains []feed.LearnedGain) {
	slices.SortFunc(gains, func(a, b feed.LearnedGain) int {
		return cmp.Or(
			cmp.Compare(b.Score, a.Score), cmp.Compare(factorOf(&b), factorOf(&a)),
			strings.Compare(string(a.Kind), string(b.Kind)), strings.Compare(a.Value, b.Value),
		)
	})
}

// factorOf returns the factor, or 1 if none is set.
func factorOf(g *feed.LearnedGain) float64 { return cmp.Or(g.Factor, 1) }
