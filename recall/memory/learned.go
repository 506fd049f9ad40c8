package memory

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
)

// fieldOf is the field that learned features of a kind are looked for in.
func fieldOf(kind feed.FeatureKind) int {
	switch kind {
	case feed.FeatureAuthor:
		return authorField
	case feed.FeatureLang:
		return langField
	case feed.FeatureWord:
		return titleField
	}
	return tagField
}

// termsOf looks up a learned feature; false: no item has it. p.tags has room for a
// term that is no word.
func (p *plan) termsOf(s *Source, l *recall.Learned) (terms []uint32, ok bool) {
	if l.Kind == feed.FeatureWord {
		return s.terms(l.Tokens)
	}
	term, ok := s.dictionaries[dictionaryOf[fieldOf(l.Kind)]].numbers[l.Value]
	if !ok {
		return nil, false
	}
	p.tags = append(p.tags, term)
	return p.tags[len(p.tags)-1:], true
}

// addLearned adds a list of items for what speaks for them, and a factor for what
// speaks against them.
func (p *plan) addLearned(s *Source, l *recall.Learned) {
	terms, ok := p.termsOf(s, l)
	switch {
	case !ok:
	case l.Gain > 0:
		p.gainers = append(p.gainers, gainer{terms: terms, field: fieldOf(l.Kind), weight: l.Gain})
	default:
		p.against.add(fieldOf(l.Kind), terms, l.Factor)
	}
}

// against is what lowers the relevance of the items that have it.
type against struct {
	factors []float64 // at most 64, in the order of the query
	fields  [fieldCount][]lowering
}

// lowering is a feature in the list of its field, which is sorted by first terms.
type lowering struct {
	terms []uint32
	place int // of its factor
}

var _ [64 - feed.MaxLearned]struct{} // a bit for each

func (a against) emptied() against {
	a.factors = a.factors[:0]
	for f := range a.fields {
		a.fields[f] = a.fields[f][:0]
	}
	return a
}

func (a *against) any() bool { return len(a.factors) > 0 }

func (a *against) add(field int, terms []uint32, factor float64) {
	of := a.fields[field]
	at, _ := slices.BinarySearchFunc(of, terms[0], byFirst)
	a.fields[field] = slices.Insert(of, at, lowering{terms, len(a.factors)})
	a.factors = append(a.factors, factor)
}

func byFirst(l lowering, term uint32) int { return cmp.Compare(l.terms[0], term) }

// factor is the product of the factors of what the item has, in the order of the
// query whatever order the item has them in, so that it has the same rounding in
// every round.
func (a *against) factor(s *segment, item uint32) float64 {
	var has uint64
	for f := range a.fields {
		of := a.fields[f]
		if len(of) == 0 {
			continue
		}
		for _, term := range s.fields[f].of(item) {
			at, found := slices.BinarySearchFunc(of, term, byFirst)
			for ; found && at < len(of) && of[at].terms[0] == term; at++ {
				if len(of[at].terms) == 1 || s.fields[f].has(item, of[at].terms) {
					has |= 1 << of[at].place
				}
			}
		}
	}
	factor := 1.0
	for ; has != 0; has &= has - 1 {
		factor *= a.factors[bits.TrailingZeros64(has)]
	}
	return factor
}
