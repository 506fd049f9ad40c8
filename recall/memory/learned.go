package memory

import (
	"math/bits"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
)

// fieldOf is the field that learned features of a kind are looked for in.
var fieldOf = map[feed.FeatureKind]int{
	feed.FeatureTag: tagField, feed.FeatureAuthor: authorField, feed.FeatureLang: langField, feed.FeatureWord: titleField,
}

// addLearned adds a feature that some item has: what speaks for items to what adds, and what
// speaks against them to what lowers.
func (p *plan) addLearned(s *Source, l *recall.Learned) {
	g := gainer{field: fieldOf[l.Kind], weight: l.Score, learned: l}
	if l.Kind == feed.FeatureWord {
		g.terms, _ = s.words(l.Tokens)
	} else if term, ok := s.dictionaries[dictionaryOf[g.field]].numbers[l.Term]; ok {
		p.tags = append(p.tags, term)
		g.terms = p.tags[len(p.tags)-1:]
	}
	switch {
	case len(g.terms) == 0:
	case l.Score > 0:
		p.gainers = append(p.gainers, g)
	default:
		p.lowerers = append(p.lowerers, g)
	}
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
	for _, g := range w.plan.lowerers {
		l := list{gainer: gainer{terms: g.terms, field: g.field}, items: w.view.fields[g.field].candidates(g.terms)}
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
