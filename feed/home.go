package feed

import (
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
var DefaultHome = DefaultRanking().Home

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
	return h.Explain(source, age, reactions, affinity).Total()
}

// HomeScore is the factors of a score of home.
type HomeScore struct {
	Base, Decay, Popularity, Affinity float64
}

// Total is the score.
func (s HomeScore) Total() float64 { return s.Base * s.Decay * s.Popularity * s.Affinity }

// Explain returns what [Home.Score] is made of.
func (h Home) Explain(source Source, age time.Duration, reactions, affinity float64) HomeScore {
	h = h.written()
	return HomeScore{
		Base: h.base(source), Decay: math.Exp(-h.Decay * max(0, age.Hours())), Popularity: 1 + LogCount(reactions), Affinity: 1 + h.Affinity*affinity,
	}
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

// written are the parameters as they count.
func (h Home) written() Home {
	if h == (Home{}) {
		return DefaultHome
	}
	return h
}

// AffinityOff reports whether the affinity to an author changes no score.
func (h Home) AffinityOff() bool { return h.written().Affinity == 0 }
