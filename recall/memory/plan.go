package memory

import (
	"maps"
	"slices"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
)

// plan is a query with everything looked up that does not depend on an item.
// The lists are in a fixed order, so that a sum has the same rounding in every
// round.
type plan struct {
	query   *feed.Query
	ranking feed.Ranking
	curve   feed.Curve
	origin  int64
	since   int64
	bounded bool    // since counts
	counts  bool    // so does live popularity
	after   *cursor // nil: the first round
	tags    []tagWeight
	phrases []phrase

	mutedAuthors map[string]bool
	mutedItems   map[string]bool
	mutedTags    []uint32
}

// tagWeight is an interest and what it adds to the items that have the tag.
type tagWeight struct {
	term   uint32
	weight float64
}

// phrase is a keyword: the terms that follow one another, and what it adds where
// they do in the title, or in the summary and not in the title.
type phrase struct {
	terms []uint32
	gains [fieldCount]float64
}

// take takes the state to work on and looks up the query's terms in it.
func (p *plan) take(s *Source, q *feed.Query) []view {
	*p = plan{query: q, ranking: q.Ranking, curve: q.Ranking.Decay.Curve(), origin: q.Origin.Unix(), tags: p.tags[:0], phrases: p.phrases[:0]}
	p.counts = q.Ranking.Popularity2h > 0 || q.Ranking.Popularity2d > 0
	if !q.Since.IsZero() {
		p.since, p.bounded = q.Since.Unix(), true
	}
	p.mutedAuthors, p.mutedItems = set(q.Profile.MutedAuthors), set(q.Profile.MutedItems)
	interests := slices.Sorted(maps.Keys(q.Profile.Interests))
	keywords := recall.Keywords(&q.Profile)

	s.mu.RLock()
	defer s.mu.RUnlock()
	tags := s.dictionaries[tagDictionary].numbers
	for _, tag := range interests {
		if weight := q.Profile.Interests[tag]; weight > 0 {
			if term, ok := tags[tag]; ok {
				p.tags = append(p.tags, tagWeight{term, weight})
			}
		}
	}
	for _, k := range keywords {
		if terms, ok := s.terms(k.Tokens); ok {
			p.phrases = append(p.phrases, newPhrase(terms, k.Weight, &q.Ranking))
		}
	}
	for _, tag := range q.Profile.MutedTags {
		if term, ok := tags[tag]; ok {
			p.mutedTags = append(p.mutedTags, term)
		}
	}
	slices.Sort(p.mutedTags)
	return s.views
}

// terms looks up the tokens of a keyword; false: no item has all of them.
func (s *Source) terms(tokens []string) ([]uint32, bool) {
	numbers := s.dictionaries[wordDictionary].numbers
	terms := make([]uint32, len(tokens))
	for i, token := range tokens {
		term, ok := numbers[token]
		if !ok {
			return nil, false
		}
		terms[i] = term
	}
	return terms, true
}

func newPhrase(terms []uint32, weight float64, r *feed.Ranking) phrase {
	return phrase{terms: terms, gains: [fieldCount]float64{titleField: weight, summaryField: weight * r.KeywordsSummary}}
}

// in returns the field that an item has the phrase in, the title before the
// summary.
func (p *phrase) in(s *segment, item uint32) (field int, ok bool) {
	for _, f := range []int{titleField, summaryField} {
		if s.fields[f].has(item, p.terms) {
			return f, true
		}
	}
	return 0, false
}

// set returns the words as a set; nil of none.
func set(words []string) map[string]bool {
	if len(words) == 0 {
		return nil
	}
	all := make(map[string]bool, len(words))
	for _, w := range words {
		all[w] = true
	}
	return all
}

// popularity is the factor for an item without counts whose log10(1 + popularity)
// is given.
func (p *plan) popularity(log float64) float64 { return 1 + p.ranking.PopularityWeight*log }

// refuses reports whether mutes or languages exclude the item.
func (p *plan) refuses(s *segment, item uint32) bool {
	if p.mutedAuthors != nil && p.mutedAuthors[s.authors.at(item)] {
		return true
	}
	if p.mutedItems != nil && (p.mutedItems[s.group(item)] || p.mutedItems[s.ids.at(item)]) {
		return true
	}
	if len(p.query.Profile.Langs) > 0 {
		if lang := s.langs.at(item); lang != "" && !slices.Contains(p.query.Profile.Langs, lang) {
			return true
		}
	}
	if len(p.mutedTags) > 0 {
		for _, tag := range s.fields[tagField].of(item) {
			if _, muted := slices.BinarySearch(p.mutedTags, tag); muted {
				return true
			}
		}
	}
	return false
}
