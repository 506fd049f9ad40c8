package memory

import (
	"math/bits"

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
		return s.words(l.Tokens)
	}
	term, ok := s.dictionaries[dictionaryOf[fieldOf(l.Kind)]].numbers[l.Term]
	if !ok {
		return nil, false
	}
	p.tags = append(p.tags, term)
	return p.tags[len(p.tags)-1:], true
}

// addLearned adds what speaks for items to what adds, and what speaks against them
// to what lowers.
func (p *plan) addLearned(s *Source, l *recall.Learned) {
	terms, ok := p.termsOf(s, l)
	switch {
	case !ok:
	case l.Gain > 0:
		p.gainers = append(p.gainers, gainer{terms: terms, field: fieldOf(l.Kind), weight: l.Gain, learned: l})
	default:
		p.lowerers = append(p.lowerers, lowerer{terms: terms, field: fieldOf(l.Kind), learned: l})
	}
}

// lowerer is a learned feature that speaks against items.
type lowerer struct {
	terms   []uint32
	field   int
	learned *recall.Learned
}

var _ [64 - feed.MaxLearned]struct{} // a bit for each

// lowering are the lowerers of a view, and which of them the items of a block have.
type lowering struct {
	lists []list            // of each lowerer, the items that may have it
	has   [blockSize]uint64 // per item of the block: a bit for each lowerer
	any   bool              // a bit is set
}

// openLowering finds the lists of what speaks against items.
func (w *walker) openLowering(at uint32) {
	w.lowering.lists = w.lowering.lists[:0]
	for i := range w.plan.lowerers {
		p := &w.plan.lowerers[i]
		l := list{gainer: gainer{terms: p.terms, field: p.field}, items: w.view.fields[p.field].candidates(p.terms)}
		l.skipTo(at)
		w.lowering.lists = append(w.lowering.lists, l)
	}
}

// lower notes what speaks against the items of a block.
func (w *walker) lower(at, stop uint32) {
	for i := range w.lowering.lists {
		l := &w.lowering.lists[i]
		l.skipTo(at)
		for item, ok := l.take(stop); ok; item, ok = l.take(stop) {
			if w.matches(l, item) {
				w.lowering.has[item%blockSize] |= 1 << i
				w.lowering.any = true
			}
		}
	}
}

// raiseAgain forgets what speaks against the items of a block.
func (w *walker) raiseAgain() {
	if w.lowering.any {
		clear(w.lowering.has[:])
		w.lowering.any = false
	}
}

// lowered is the product of the factors of what speaks against an item, in the order of
// the query, so that it has the same rounding in every round.
func (w *walker) lowered(item uint32) float64 {
	factor := 1.0
	for has := w.lowering.has[item%blockSize]; has != 0; has &= has - 1 {
		factor *= w.plan.lowerers[bits.TrailingZeros64(has)].learned.Factor
	}
	return factor
}
