package feed

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"
)

// ActKind is what a reader did with an item.
type ActKind uint8

// The kinds of acts that are learned from.
const (
	Clicked ActKind = iota
	Liked
	Disliked
	Hidden
)

// evidence is what an act counts for the features of its item. A click that is
// followed by a dislike speaks against them.
var evidence = [...]float64{Clicked: 1, Liked: 1, Disliked: -2, Hidden: -2}

// LearningAct is an act of a reader on an item.
type LearningAct struct {
	Kind     ActKind
	Group    string // of the item
	Features []WeightedFeature
	At       int64 // Unix seconds
}

// RememberActsDays is how many days it is remembered that a reader has acted on an
// item, the day of the act included: until then acting so again does not count.
const RememberActsDays = 90

// maxRememberedActs bounds how many acts of a reader are remembered; beyond it the
// earliest are forgotten.
const maxRememberedActs = 4000

// Learning is what is remembered of a reader to learn on: more features than
// [Learned] has, and which acts have counted. The zero value remembers nothing.
type Learning struct {
	At       int64            `json:"at,omitempty"` // Unix seconds of the latest act
	Features []LearnedFeature `json:"features,omitempty"`
	Acts     ActMemory        `json:"acts,omitempty"`
}

// IsZero reports whether nothing is remembered.
func (l *Learning) IsZero() bool { return len(l.Features) == 0 && len(l.Acts) == 0 }

// Learned returns the features that count for the reader.
func (l *Learning) Learned() Learned {
	return Learned{At: l.At, Features: slices.Clone(l.Features[:min(len(l.Features), MaxLearned)])}
}

// Add learns from acts with a half-life, 0 for the default, and reports whether one
// of them counted: adding the same acts again changes nothing. One that comes in
// late counts as what is left of it. The result does not depend on the order in
// which acts come in, but for what has to be forgotten.
func (l *Learning) Add(acts []LearningAct, halfLife time.Duration) (changed bool) {
	w := LearnedWeights{HalfLife: halfLife}
	for i := range acts {
		act := &acts[i]
		if !l.Acts.add(act) {
			continue
		}
		changed = true
		l.advance(act.At, w)
		count := evidence[act.Kind] * w.left(l.At-act.At)
		for _, f := range act.Features {
			l.feature(f.Feature).count(act.Kind, count*f.Weight)
		}
	}
	if changed {
		l.Features = slices.DeleteFunc(l.Features, func(f LearnedFeature) bool { return math.Abs(f.Evidence) < negligibleEvidence })
		l.Features = strongest(l.Features, maxLearnable)
	}
	return changed
}

// advance lets what there is decay up to a moment.
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

func (l *Learning) feature(f Feature) *LearnedFeature {
	for i := range l.Features {
		if l.Features[i].Feature == f {
			return &l.Features[i]
		}
	}
	l.Features = append(l.Features, LearnedFeature{Feature: f})
	return &l.Features[len(l.Features)-1]
}

func (f *LearnedFeature) count(kind ActKind, evidence float64) {
	f.Evidence += evidence
	switch kind {
	case Clicked:
		f.Clicks++
	case Liked:
		f.Likes++
	case Disliked:
		f.Dislikes++
	case Hidden:
		f.Hides++
	}
}

// ActMemory remembers which acts have counted, the earliest first, in 8 bytes each:
// 48 bits of a hash of the item's group, 14 of the day, 2 of the kind. In JSON it is
// one text.
type ActMemory []uint64

const (
	dayBits, kindBits = 14, 2
	whatMask          = ^uint64(1<<(dayBits+kindBits)-1) | (1<<kindBits - 1) // all but the day
	days              = 1 << dayBits
)

// add remembers an act; false: it has counted in the last [RememberActsDays].
func (m *ActMemory) add(act *LearningAct) bool {
	day := uint64(DayOf(time.Unix(act.At, 0))) % days
	one := xxhash.Sum64String(act.Group)<<(dayBits+kindBits) | day<<kindBits | uint64(act.Kind)
	kept := (*m)[:0:0]
	for _, known := range *m {
		if ago := daysBetween(known, one); ago >= RememberActsDays && ago < days/2 {
			continue
		}
		if known&whatMask == one&whatMask {
			return false
		}
		kept = append(kept, known)
	}
	kept = append(kept, one)
	*m = kept[max(0, len(kept)-maxRememberedActs):]
	return true
}

// daysBetween is how many days the second act comes after the first, modulo the
// days there is room for.
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
		return errors.New("the acts that were learned from cannot be read")
	}
	*m = make(ActMemory, 0, len(data)/8)
	for ; len(data) > 0; data = data[8:] {
		*m = append(*m, binary.BigEndian.Uint64(data))
	}
	return nil
}
