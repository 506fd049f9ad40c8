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
	// AffinityDays is for how many days a like or a reply counts for the affinity; 0, as in a
	// ranking from before there was the parameter, counts as that of [DefaultHome].
	AffinityDays float64
}

// DefaultHome is a new system's.
var DefaultHome = DefaultRanking().Home

const (
	// affinityHalf is the number of likes that make an affinity of one half.
	affinityHalf = 5
	// AffinityClick is how much of a like a click counts for the affinity to an author.
	AffinityClick = 0.2
)

// Affinity returns n/(n+5), where n is the reader's likes of an author's posts and replies
// under them within [Home.AffinityDays], and [AffinityClick] for each click.
func Affinity(n float64) float64 {
	n = max(0, n)
	return n / (n + affinityHalf)
}

// Reactions returns likes + 2·comments.
func Reactions(likes, comments int64) float64 {
	return float64(max(0, likes)) + 2*float64(max(0, comments))
}

// HomeScore is the factors of a score of home.
type HomeScore struct {
	Base, Decay, Popularity, Affinity float64
}

// Total is the score.
func (s HomeScore) Total() float64 { return s.Base * s.Decay * s.Popularity * s.Affinity }

// Score returns the factors of
//
//	base × exp(−Decay · hours old) × (1 + log10(reactions + 1)) × (1 + Affinity · affinity)
//
// with the base of the source. What is dated in the future is as good as new. For
// other sources it is 0: those have scores of their own.
func (h Home) Score(source Source, age time.Duration, reactions, affinity float64) HomeScore {
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
	if h.AffinityDays == 0 {
		h.AffinityDays = DefaultHome.AffinityDays
	}
	return h
}

// AffinityOff reports whether the affinity to an author changes no score.
func (h Home) AffinityOff() bool { return h.written().Affinity == 0 }

// AffinityFor is how long a like or a reply counts for the affinity to an author.
func (h Home) AffinityFor() time.Duration {
	return time.Duration(h.written().AffinityDays * 24 * float64(time.Hour))
}

// TrendWindow is how old what trends may be.
const TrendWindow = 7 * 24 * time.Hour

// guestDecay is the decay of [Trend.Guest], per hour of age.
const guestDecay = 0.02

// Trend is how much something is liked and commented for its age; see [TrendOf].
type Trend float64

// The least trends with a mark of their own.
const (
	Hot  Trend = 5
	Warm Trend = 2
)

// TrendOf returns
//
//	reactions / (hours old + 1)²
//
// with the reactions of [Reactions]. What is dated in the future is as good as new.
func TrendOf(reactions float64, age time.Duration) Trend {
	hours := max(0, age.Hours()) + 1
	return Trend(reactions / (hours * hours))
}

// Mark is the label that answers carry: "hot" above [Hot], "warm" above [Warm], else "".
func (t Trend) Mark() string {
	switch {
	case t > Hot:
		return "hot"
	case t > Warm:
		return "warm"
	}
	return ""
}

// Guest is the score that orders the feed for readers without an account:
//
//	trend × exp(−0.02 · hours old)
func (t Trend) Guest(age time.Duration) float64 {
	return float64(t) * math.Exp(-guestDecay*max(0, age.Hours()))
}
