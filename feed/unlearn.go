package feed

import (
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
)

// Bounds of the acts of a reader that are stored to be taken back, and of those that were taken back.
// Beyond them the earliest are dropped.
const (
	maxUndoable = 64
	maxUndone   = 16
)

// UndoableAct is an act that can be taken back, with what it has added, or one that was.
type UndoableAct struct {
	What uint64 `json:"what,string"` // the act as in [ActMemory], without its day
	At   int64  `json:"at"`          // Unix microseconds; if Undone, when it was taken back
	// Features holds the weight of each feature, by its kind and value with a space between them:
	// the item may change, and which words of a title are rare depends on the server.
	Features map[string]float32 `json:"features,omitempty"`
	// Undone acts are remembered because another server may still hold the act itself.
	Undone bool `json:"undone,omitempty"`
}

func (act *LearningAct) what() uint64 {
	return xxhash.Sum64String(act.Group)<<(dayBits+kindBits) | uint64(act.Kind)
}

func (l *Learning) undoable(what uint64) *UndoableAct {
	i := slices.IndexFunc(l.Undoable, func(u UndoableAct) bool { return u.What == what })
	if i < 0 {
		return nil
	}
	return &l.Undoable[i]
}

// tookBack reports whether an act was taken back after it happened.
func (l *Learning) tookBack(act *LearningAct) bool {
	u := l.undoable(act.what())
	return u != nil && u.Undone && act.At.UnixMicro() < u.At
}

// remember stores what an act adds. Clicks cannot be taken back.
func (l *Learning) remember(act *LearningAct) {
	if act.Kind == Clicked {
		return
	}
	u := UndoableAct{What: act.what(), At: act.At.UnixMicro(), Features: make(map[string]float32, len(act.Features))}
	for _, f := range act.Features {
		u.Features[string(f.Kind)+" "+f.Value] = float32(f.Weight)
	}
	l.setUndoable(u)
}

// setUndoable stores an act last, and drops the earliest one of those in the same state if there are
// too many.
func (l *Learning) setUndoable(u UndoableAct) {
	l.Undoable = slices.DeleteFunc(l.Undoable, func(o UndoableAct) bool { return o.What == u.What })
	l.Undoable = append(l.Undoable, u)
	left := maxUndoable
	if u.Undone {
		left = maxUndone
	}
	for i := len(l.Undoable) - 1; i >= 0; i-- {
		if l.Undoable[i].Undone == u.Undone {
			left--
		}
		if left < 0 {
			l.Undoable = slices.Delete(l.Undoable, i, i+1)
			return
		}
	}
}

// undo takes an act back: it subtracts what is left of the evidence that the act has added. One
// that is no longer among the undoable acts remains.
func (l *Learning) undo(known map[Feature]int, act *LearningAct, w LearnedWeights) (changed bool) {
	what, at := act.what(), act.At.UnixMicro()
	u := l.undoable(what)
	switch {
	case u == nil && l.Acts.has(what), u != nil && u.Undone && u.At >= at:
		return false
	case u != nil && !u.Undone:
		count := evidence[act.Kind] * w.left(l.At-time.UnixMicro(u.At).Unix())
		for name, weight := range u.Features {
			kind, value, _ := strings.Cut(name, " ")
			if i, ok := known[Feature{FeatureKind(kind), value}.identity()]; ok {
				l.Features[i].count(act.Kind, -1, -count*float64(weight))
			}
		}
		l.Acts.remove(what)
	}
	l.setUndoable(UndoableAct{What: what, At: at, Undone: true})
	return true
}

// has reports whether an act, given without its day, is remembered.
func (m ActMemory) has(what uint64) bool {
	return slices.ContainsFunc(m, func(known uint64) bool { return known&whatMask == what })
}

func (m *ActMemory) remove(what uint64) {
	*m = slices.DeleteFunc(*m, func(known uint64) bool { return known&whatMask == what })
}
