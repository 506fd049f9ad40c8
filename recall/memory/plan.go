package memory

import (
	"cmp"
	"slices"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/terms"
	"github.com/freshet/freshet/recall"
)

// plan is a query after all lookups that do not depend on an item. Gainers are sorted by
// weight, the largest first, and this order is fixed, so that a sum has the same rounding in
// every round.
type plan struct {
	query    *feed.Query
	ranking  feed.Ranking
	curve    *feed.DecayFunc
	origin   int64
	since    int64
	bounded  bool    // since applies
	counts   bool    // live popularity counts
	more     bool    // and with it the sums of further half-lives
	after    *cursor // nil in the first round
	gainers  []gainer
	tags     []uint32 // the terms of interests and of learned features other than words, for gainers
	lowerers []gainer // at most 64; they multiply by a learned factor

	filter *filter // nil selects all items

	mutedAuthors map[string]bool
	mutedItems   map[string]bool
	mutedTags    []uint32
	mutedWords   map[uint32][][]uint32 // the terms of muted words, by the first
	langs        terms.Langs
	lastLang     string // of the item checked last
	readsLast    bool   // whether the reader reads lastLang: most items are in few languages
}

// gainer is an interest, a learned feature, or a keyword in one of its fields, with its gain.
// It matches an item that has the tag, author or language, or that has the terms next to each
// other in the title, or in the summary but not in the title.
type gainer struct {
	terms   []uint32
	joined  []uint32 // terms that match as well; nil if there are none
	field   int
	weight  float64
	keyword int // number of the keyword, from 1; 0 for others

	name    string          // of the interest or keyword
	learned *recall.Learned // nil if it is declared
}

// take returns the current views and looks up the query's terms in the dictionaries.
func (p *plan) take(s *Source, q *feed.Query) []view {
	*p = plan{query: q, ranking: q.Ranking, curve: q.Ranking.Decay.Func(), origin: q.Origin.Unix(), gainers: p.gainers[:0], tags: p.tags[:0], lowerers: p.lowerers[:0]}
	p.counts, p.more = q.Ranking.LivePopularity(), q.Ranking.PopularityMore != feed.PerHalfLife{}
	if !q.Since.IsZero() {
		p.since, p.bounded = q.Since.Unix(), true
	}
	p.mutedAuthors, p.mutedItems = set(q.Profile.MutedAuthors), set(q.Profile.MutedItems)
	p.langs = terms.ReadLangs(q.Profile.Langs)
	interests := recall.InterestsOf(&q.Profile)
	keywords, learned := recall.Keywords(&q.Profile), recall.LearnedOf(q)

	s.mu.RLock()
	defer s.mu.RUnlock()
	p.filter = s.filterOf(q.Filter)
	tags := s.dictionaries[tagDictionary].numbers
	for _, is := range interests {
		if term, ok := tags[is.Tag]; ok {
			p.tags = append(p.tags, term)
			p.gainers = append(p.gainers, gainer{terms: p.tags[len(p.tags)-1:], field: tagField, weight: is.Weight, name: is.Name})
		}
	}
	for i := range learned {
		p.addLearned(s, &learned[i])
	}
	for i, k := range keywords {
		apart, known := s.words(k.Tokens)
		joined, alsoKnown := s.words(k.Joined)
		if !known {
			apart, joined = joined, nil
		}
		if known || alsoKnown {
			p.addKeyword(i+1, apart, joined, &k)
		}
	}
	slices.SortStableFunc(p.gainers, func(a, b gainer) int { return cmp.Compare(b.weight, a.weight) })
	for _, tag := range recall.MutedTags(&q.Profile) {
		if term, ok := tags[tag]; ok {
			p.mutedTags = append(p.mutedTags, term)
		}
	}
	slices.Sort(p.mutedTags)
	p.muteWords(s, recall.MutedPhrases(&q.Profile))
	return s.views
}

func (p *plan) muteWords(s *Source, phrases [][]string) {
	for _, tokens := range phrases {
		if phrase, known := s.words(tokens); known {
			if p.mutedWords == nil {
				p.mutedWords = map[uint32][][]uint32{}
			}
			p.mutedWords[phrase[0]] = append(p.mutedWords[phrase[0]], phrase)
		}
	}
}

// words returns the term numbers of tokens. It returns false if there are none, or if one of them is
// in no item.
func (s *Source) words(tokens []string) ([]uint32, bool) {
	if len(tokens) == 0 {
		return nil, false
	}
	numbers := s.dictionaries[wordDictionary].numbers
	found := make([]uint32, len(tokens))
	for i, token := range tokens {
		term, ok := numbers[token]
		if !ok {
			return nil, false
		}
		found[i] = term
	}
	return found, true
}

func (p *plan) addKeyword(number int, terms, joined []uint32, k *recall.Keyword) {
	g := gainer{terms: terms, joined: joined, field: titleField, weight: k.Weight, keyword: number, name: k.Term}
	p.gainers = append(p.gainers, g)
	share := p.ranking.KeywordsSummary
	if share > 0 {
		g.field, g.weight = summaryField, k.Weight*share
		p.gainers = append(p.gainers, g)
	}
}

// in reports whether an item has the terms in a field, next to each other, in either spelling.
func (g *gainer) in(f *field, item uint32) bool {
	return f.has(item, g.terms) || g.joined != nil && f.has(item, g.joined)
}

// set returns the words as a set, or nil if there are none.
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

// popularity returns the popularity factor of an item without counts, where log is its
// log10(1 + popularity).
func (p *plan) popularity(log float64) float64 { return 1 + p.ranking.PopularityWeight*log }

// refuses reports whether mutes, languages or the filter exclude the item.
func (p *plan) refuses(s *segment, item uint32) bool {
	if p.filter != nil && !p.filter.selects(s, item) {
		return true
	}
	if p.mutedAuthors != nil && p.mutedAuthors[s.authors.at(item)] {
		return true
	}
	if p.mutedItems != nil && (p.mutedItems[s.group(item)] || p.mutedItems[s.ids.at(item)]) {
		return true
	}
	lang := s.langs.at(item)
	if !p.langs.All() && lang != "" {
		if lang != p.lastLang {
			p.lastLang, p.readsLast = lang, p.langs.Take(lang)
		}
		if !p.readsLast {
			return true
		}
	}
	if len(p.mutedTags) > 0 {
		for _, tag := range s.fields[tagField].of(item) {
			_, muted := slices.BinarySearch(p.mutedTags, tag)
			if muted {
				return true
			}
		}
	}
	return len(p.mutedWords) > 0 && (p.mutesText(s.fields[titleField].of(item)) || p.mutesText(s.fields[summaryField].of(item)))
}

// mutesText reports whether a text has the terms of a muted word next to each other.
func (p *plan) mutesText(text []uint32) bool {
	for i, first := range text {
		for _, phrase := range p.mutedWords[first] {
			if len(text)-i >= len(phrase) && slices.Equal(text[i:i+len(phrase)], phrase) {
				return true
			}
		}
	}
	return false
}
