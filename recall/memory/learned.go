package memory

import (
	"math/bits"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
)

// fieldOf maps a kind of learned feature to the field that is searched for it.
var fieldOf = map[feed.FeatureKind]int{
	feed.FeatureTag: tagField, feed.FeatureAuthor: authorField, feed.FeatureLang: langField, feed.FeatureWord: titleField,
}

// addLearned adds a feature that some item has: to gainers if it raises relevance, to lowerers
// if it lowers it.
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

var _ [64 - feed.MaxLearned]struct{} // one bit for each

// lowering holds the lowerers of a view and, per item of a block, the set of those that match.
type lowering struct {
	lists []list            // per lowerer, the items that may match
	has   [blockSize]uint64 // per item of the block, one bit per lowerer
	any   bool              // some bit is set
}

// openLowering opens the list of each lowerer.
func (w *walker) openLowering(at uint32) {
	w.lowering.lists = w.lowering.lists[:0]
	for _, g := range w.plan.lowerers {
		l := list{gainer: gainer{terms: g.terms, field: g.field}, items: w.view.fields[g.field].candidates(g.terms)}
		l.skipTo(at)
		w.lowering.lists = append(w.lowering.lists, l)
	}
}

// lower records which lowerers match the items of a block.
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

// clearLowering clears the matches of a block.
func (w *walker) clearLowering() {
	if w.lowering.any {
		clear(w.lowering.has[:])
		w.lowering.any = false
	}
}

// lowered returns the product of the factors of the lowerers that match an item. They are
// multiplied in the order of the query, so the rounding is the same in every round.
func (w *walker) lowered(item uint32) float64 {
	factor := 1.0
	for has := w.lowering.has[item%blockSize]; has != 0; has &= has - 1 {
		factor *= w.plan.lowerers[bits.TrailingZeros64(has)].learned.Factor
	}
	return factor
}
