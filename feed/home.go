package feed

import (
	"fmt"
	"math"
	"time"
)

// Home is how the sources of home score what they propose; see [Home.Score]. The
// zero value is that of a ranking from before there was one, and counts as
// [DefaultHome].
type Home struct {
	Decay     float64 // λ, per hour of age; > 0
	Following float64 // base of posts by whom the reader follows; > 0
	Trending  float64 // base of what is trending; > 0
	Promoted  float64 // base of what is promoted; > 0
	Affinity  float64 // what the affinity to the author adds at most; 0 turns it off
}

// DefaultHome is a new system's.
var DefaultHome = Home{Decay: 0.02, Following: 1, Trending: 0.6, Promoted: 0.8, Affinity: 0.5}

// affinityHalf is the number of likes that make an affinity of one half.
const affinityHalf = 5

// Affinity returns n/(n+5), where n is how many posts of an author the reader has
// liked in the last 30 days.
func Affinity(likes int) float64 {
	n := float64(max(0, likes))
	return n / (n + affinityHalf)
}

// Reactions returns likes + 2·comments.
func Reactions(likes, comments int64) float64 {
	return float64(max(0, likes)) + 2*float64(max(0, comments))
}

// Score returns
//
//	base × exp(−Decay · hours old) × (1 + log10(reactions + 1)) × (1 + Affinity · affinity)
//
// with the base of the source. What is dated in the future is as good as new. For
// other sources it is 0: those have scores of their own.
func (h Home) Score(source Source, age time.Duration, reactions, affinity float64) float64 {
	if h == (Home{}) {
		h = DefaultHome
	}
	return h.base(source) * math.Exp(-h.Decay*max(0, age.Hours())) * (1 + LogCount(reactions)) * (1 + h.Affinity*affinity)
}

func (h *Home) base(source Source) float64 {
	switch source {
	case SourceFollowing:
		return h.Following
	case SourceTrending:
		return h.Trending
	case SourcePromoted:
		return h.Promoted
	}
	return 0
}

// Validate says what is wrong with the parameters; the error wraps [ErrBadRanking].
func (h Home) Validate() error {
	if h == (Home{}) {
		return nil
	}
	if !(h.Decay > 0 && h.Decay <= 10) {
		return fmt.Errorf("%w: home.decay must be greater than 0 and at most 10, not %v", ErrBadRanking, h.Decay)
	}
	for _, base := range []struct {
		name  string
		value float64
	}{{"following", h.Following}, {"trending", h.Trending}, {"promoted", h.Promoted}} {
		if !(base.value > 0 && base.value <= 1000) {
			return fmt.Errorf("%w: home.%s must be greater than 0 and at most 1000, not %v", ErrBadRanking, base.name, base.value)
		}
	}
	if !(h.Affinity >= 0 && h.Affinity <= 1000) {
		return fmt.Errorf("%w: home.affinity must be 0 to 1000, not %v", ErrBadRanking, h.Affinity)
	}
	return nil
}
