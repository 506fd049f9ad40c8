package feed

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/freshet/freshet/feed/terms"
)

// ActKind is the kind of a reader's action on an item.
type ActKind uint8

// The kinds of acts that are learned from.
const (
	Clicked ActKind = iota
	Liked
	Disliked
	Hidden
)

// evidence is the weight of an act for the features of its item. A click followed by a dislike
// counts against them.
var evidence = [...]float64{Clicked: 1, Liked: 1, Disliked: -2, Hidden: -2}

// LearningAct is an act of a reader on an item.
type LearningAct struct {
	Kind     ActKind
	Group    string // of the item
	Features []WeightedFeature
	At       time.Time // time of the act
	Undo     bool      // the act was taken back at this time; the features are ignored
}

// RememberActsDays is the number of days, including the day of the act, for which an act on an
// item is stored: repeating it within them does not count.
const RememberActsDays = 90

// maxRememberedActs bounds the stored acts of a reader; beyond it the earliest are dropped.
const maxRememberedActs = 4000

// Learning is the stored state of learning: more features than [Learned] has, and the acts
// already counted. The zero value is empty.
type Learning struct {
	At       int64            `json:"at,omitempty"` // Unix seconds of the latest act
	Features []LearnedFeature `json:"features,omitempty"`
	Acts     ActMemory        `json:"acts,omitempty"`
	// Undoable holds the latest acts other than clicks, earliest first.
	Undoable []UndoableAct `json:"undoable,omitempty"`
	// Erased is when the reader was last erased, in Unix microseconds; 0 if never. Earlier acts,
	// which another server may still hold, do not count.
	Erased int64 `json:"erased,omitempty"`
}

// IsZero reports whether nothing is stored.
func (l *Learning) IsZero() bool {
	return len(l.Features) == 0 && len(l.Acts) == 0 && len(l.Undoable) == 0 && l.Erased == 0
}

// Erase deletes everything and rejects acts from before now.
func (l *Learning) Erase(now time.Time) { *l = Learning{Erased: now.UnixMicro()} }

// Expire removes what is too old at a moment, and reports whether it did: everything, if the latest act is
// keep ago or longer (0 means never), and the acts that are remembered if all of them are too old. When the
// reader was erased stays.
func (l *Learning) Expire(now time.Time, keep time.Duration) bool {
	idle := time.Duration(now.Unix()-l.At) * time.Second
	switch {
	case l.At == 0:
		return false
	case keep > 0 && idle >= keep:
		*l = Learning{Erased: l.Erased}
		return true
	case idle >= RememberActsDays*24*time.Hour && len(l.Acts) > 0:
		l.Acts = nil
		return true
	}
	return false
}

// Learned returns the features that count for the reader.
func (l *Learning) Learned() Learned {
	return Learned{At: l.At, Features: slices.Clone(l.Features[:min(len(l.Features), MaxLearned)])}
}

// Add learns from acts with a half-life, 0 for the default, and reports whether anything changed;
// adding the same acts again changes nothing. A late act counts with its decayed weight, and one
// that was taken back later does not. A time after now, left by a clock that was ahead, counts as
// now. The result does not depend on the order of the acts, except for entries dropped to stay
// within the bounds.
func (l *Learning) Add(acts []LearningAct, halfLife time.Duration, now time.Time) (changed bool) {
	changed = l.correct(now)
	w, known := LearnedWeights{HalfLife: halfLife}, l.index()
	for i := range acts {
		act := acts[i]
		if act.At.After(now) {
			act.At = now
		}
		if act.At.UnixMicro() < l.Erased {
			continue
		}
		if act.Undo {
			undone := l.undo(known, &act, w)
			changed = changed || undone
			continue
		}
		added := !l.tookBack(&act) && l.Acts.add(&act)
		if !added {
			continue
		}
		changed = true
		l.remember(&act)
		l.advance(act.At.Unix(), w)
		count := evidence[act.Kind] * w.left(l.At-act.At.Unix())
		for _, f := range act.Features {
			l.feature(known, f.Feature).count(act.Kind, 1, count*f.Weight)
		}
	}
	if changed {
		l.Acts.expire(l.At)
		l.Features = slices.DeleteFunc(l.Features, func(f LearnedFeature) bool {
			return math.Abs(f.Evidence) < negligibleEvidence || f.ActCounts == ActCounts{}
		})
		l.Features = strongest(l.Features, maxLearnable)
	}
	return changed
}

// correct moves later timestamps back to now: otherwise nothing would expire and no act would
// count until that time.
func (l *Learning) correct(now time.Time) (changed bool) {
	if l.At > now.Unix() {
		l.At, changed = now.Unix(), true
		l.Acts.correct(l.At)
	}
	if l.Erased > now.UnixMicro() {
		l.Erased, changed = now.UnixMicro(), true
	}
	for i := range l.Undoable {
		l.Undoable[i].At = min(l.Undoable[i].At, now.UnixMicro())
	}
	return changed
}

// index maps the identity of each feature to its position, merging features with the same
// identity.
func (l *Learning) index() map[Feature]int {
	at := make(map[Feature]int, len(l.Features))
	kept := 0
	for i := range l.Features {
		key := l.Features[i].identity()
		first, again := at[key]
		if again {
			l.Features[first].add(&l.Features[i])
			continue
		}
		at[key] = kept
		if kept != i {
			l.Features[kept] = l.Features[i]
		}
		kept++
	}
	l.Features = l.Features[:kept]
	return at
}

// identity returns a key that is equal for all spellings of a tag or a language.
func (f Feature) identity() Feature {
	switch f.Kind {
	case FeatureTag:
		f.Value = terms.Fold(f.Value)
	case FeatureLang:
		f.Value = terms.LangKey(f.Value)
	}
	return f
}

// advance decays the evidence up to a moment.
func (l *Learning) advance(at int64, w LearnedWeights) {
	if at <= l.At {
		return
	}
	left := w.left(at - l.At)
	for i := range l.Features {
		l.Features[i].Evidence *= left
	}
	l.At = at
}

func (l *Learning) feature(known map[Feature]int, f Feature) *LearnedFeature {
	key := f.identity()
	at, ok := known[key]
	if !ok {
		at = len(l.Features)
		known[key] = at
		l.Features = append(l.Features, LearnedFeature{Feature: f})
	}
	return &l.Features[at]
}

func (f *LearnedFeature) add(o *LearnedFeature) {
	f.Evidence += o.Evidence
	f.ActCounts = ActCounts{f.Clicks + o.Clicks, f.Likes + o.Likes, f.Dislikes + o.Dislikes, f.Hides + o.Hides}
}

// count adds an act and its evidence, or subtracts them.
func (f *LearnedFeature) count(kind ActKind, by int, evidence float64) {
	f.Evidence += evidence
	n := map[ActKind]*int{Clicked: &f.Clicks, Liked: &f.Likes, Disliked: &f.Dislikes, Hidden: &f.Hides}[kind]
	*n = max(0, *n+by)
}

// ActMemory holds the acts already counted, earliest first, in 8 bytes each: 48 bits of a hash of
// the item's group, 14 of the day, 2 of the kind. In JSON it is one string.
type ActMemory []uint64

const (
	dayBits, kindBits = 14, 2
	whatMask          = ^uint64(1<<(dayBits+kindBits)-1) | (1<<kindBits - 1) // all but the day
	days              = 1 << dayBits
)

// add stores an act. It returns false if the act was counted within [RememberActsDays].
func (m *ActMemory) add(act *LearningAct) bool {
	one := act.what() | dayOf(act.At.Unix())
	for i, known := range *m {
		if known&whatMask != one&whatMask {
			continue
		}
		if !expired(known, one) {
			return false
		}
		*m = slices.Delete(*m, i, i+1)
		break
	}
	*m = append(*m, one)
	*m = (*m)[max(0, len(*m)-maxRememberedActs):]
	return true
}

// expire removes the acts that are too old at a moment, in Unix seconds.
func (m *ActMemory) expire(at int64) {
	*m = slices.DeleteFunc(*m, func(known uint64) bool { return expired(known, dayOf(at)) })
}

// correct moves acts with later days to the day of a moment.
func (m *ActMemory) correct(at int64) {
	day := dayOf(at)
	for i, known := range *m {
		if daysBetween(known, day) >= days/2 {
			(*m)[i] = known&whatMask | day
		}
	}
}

// dayOf returns the day of a moment in the position it has in a stored act.
func dayOf(at int64) uint64 { return uint64(DayOf(time.Unix(at, 0))) % days << kindBits }

// expired reports whether the first act is too old at the time of the second.
func expired(first, second uint64) bool {
	ago := daysBetween(first, second)
	return ago >= RememberActsDays && ago < days/2
}

// daysBetween returns how many days after the first act the second one is, modulo the range of a
// stored day.
func daysBetween(first, second uint64) uint64 {
	day := func(act uint64) uint64 { return act >> kindBits % days }
	return (day(second) - day(first) + days) % days
}

// MarshalText implements [encoding.TextMarshaler].
func (m ActMemory) MarshalText() ([]byte, error) {
	data := make([]byte, 0, 8*len(m))
	for _, act := range m {
		data = binary.BigEndian.AppendUint64(data, act)
	}
	return base64.RawStdEncoding.AppendEncode(nil, data), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (m *ActMemory) UnmarshalText(text []byte) error {
	data, err := base64.RawStdEncoding.AppendDecode(nil, text)
	if err != nil || len(data)%8 != 0 {
		return errors.New("the stored acts are malformed")
	}
	*m = make(ActMemory, 0, len(data)/8)
	for ; len(data) > 0; data = data[8:] {
		*m = append(*m, binary.BigEndian.Uint64(data))
	}
	return nil
}
