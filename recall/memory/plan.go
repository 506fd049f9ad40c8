package memory

import (
	"cmp"
	"maps"
	"slices"

	"github.com/freshet/freshet/feed"
)

// plan is a query with everything looked up that does not depend on an item.
// The terms are in a fixed order, so that a sum has the same rounding in every
// round.
type plan struct {
	query   *feed.Query
	ranking feed.Ranking
	curve   *feed.DecayFunc
	origin  int64
	since   int64
	bounded bool    // since counts
	after   *cursor // nil: the first round
	terms   []weighted
	lengths [fieldCount]lengthTable

	mutedAuthors map[string]bool
	mutedItems   map[string]bool
	mutedTags    []uint32
}

// weighted is a term that adds to the relevance of the items that have it: the
// weight itself for a tag; for a word, the weight times tf / (tf + length).
type weighted struct {
	field  int
	term   uint32
	weight float64
}

// keyword is a word of the agent's keywords and how often it occurs there.
type keyword struct {
	word  string
	times float64
}

// titleBoost is how much more a word in the title counts than in the summary.
const titleBoost = 2

var boosts = [fieldCount]float64{titleField: titleBoost, summaryField: 1}

// keywords cuts the profile's keywords into words, as a query text is cut. A
// word that occurs twice counts twice.
func keywords(p *feed.Profile) []keyword {
	var words []keyword
	var k tokenizer
	for _, text := range p.Keywords {
		k.each(text, func(token []byte) {
			for i := range words {
				if words[i].word == string(token) {
					words[i].times++
					return
				}
			}
			words = append(words, keyword{string(token), 1})
		})
	}
	return words
}

// take takes the state to work on and looks up the query's terms in it.
func (p *plan) take(s *Source, q *feed.Query) []view {
	*p = plan{query: q, ranking: q.Ranking, curve: q.Ranking.Decay.Func(), origin: q.Origin.Unix(), terms: p.terms[:0]}
	if !q.Since.IsZero() {
		p.since, p.bounded = q.Since.Unix(), true
	}
	p.mutedAuthors, p.mutedItems = set(q.Profile.MutedAuthors), set(q.Profile.MutedItems)
	interests := slices.Sorted(maps.Keys(q.Profile.Interests))
	words := keywords(&q.Profile)

	s.mu.RLock()
	defer s.mu.RUnlock()
	tags := s.dictionaries[tagDictionary].numbers
	for _, tag := range interests {
		if weight := q.Profile.Interests[tag]; weight > 0 {
			p.addTag(s, tag, weight)
		}
	}
	for _, w := range words {
		p.addWord(s, w)
	}
	for _, tag := range q.Profile.MutedTags {
		if term, ok := tags[tag]; ok {
			p.mutedTags = append(p.mutedTags, term)
		}
	}
	slices.Sort(p.mutedTags)
	// What adds the most comes first; see [walker].
	slices.SortStableFunc(p.terms, func(a, b weighted) int { return cmp.Compare(b.weight, a.weight) })
	if len(words) > 0 {
		for _, f := range []int{titleField, summaryField} {
			p.lengths[f].fill(s.statistics.having[f], s.statistics.lengths[f])
		}
	}
	return s.views
}

func (p *plan) addTag(s *Source, tag string, weight float64) {
	p.add(&s.statistics, s.dictionaries[tagDictionary].numbers, tagField, tag, weight)
}

func (p *plan) addWord(s *Source, w keyword) {
	numbers := s.dictionaries[wordDictionary].numbers
	p.add(&s.statistics, numbers, titleField, w.word, w.times)
	p.add(&s.statistics, numbers, summaryField, w.word, w.times)
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

func (p *plan) add(st *statistics, numbers map[string]uint32, field int, name string, weight float64) {
	term, ok := numbers[name]
	if !ok || st.terms[field][term] == 0 {
		return
	}
	if field != tagField {
		weight *= (bm25K1 + 1) * boosts[field] * idf(st.terms[field][term], st.having[field])
	}
	p.terms = append(p.terms, weighted{field: field, term: term, weight: weight})
}

// popularity is the factor for an item whose log10(1 + popularity) is given.
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
