package feed

import (
	"math"
	"time"
)

// Home holds the parameters by which the sources of home score their candidates; see
// [Home.Score]. The zero value, from a ranking stored before Home existed, means [DefaultHome].
type Home struct {
	Decay     float64 // λ, per hour of age; > 0
	Following float64 // base of posts from people the reader follows; > 0
	Trending  float64 // base of trending items; > 0
	Promoted  float64 // base of promoted items; > 0
	Affinity  float64 // largest share added for affinity to the author; 0 turns it off
	// AffinityDays is the number of days for which a like or a reply counts for the affinity. 0,
	// from a ranking stored before the parameter existed, means that of [DefaultHome].
	AffinityDays float64
}

// DefaultHome holds the defaults of a new system.
var DefaultHome = DefaultRanking().Home

const (
	// affinityHalf is the number of likes that give an affinity of one half.
	affinityHalf = 5
	// AffinityClick is the weight of a click in the affinity to an author, in likes.
	AffinityClick = 0.2
)

// Affinity returns n/(n+5), where n is the number of the reader's likes of an author's posts
// and replies to them within [Home.AffinityDays], plus [AffinityClick] for each click.
func Affinity(n float64) float64 {
	n = max(0, n)
	return n / (n + affinityHalf)
}

// Reactions returns likes + 2·comments.
func Reactions(likes, comments int64) float64 {
	return float64(max(0, likes)) + 2*float64(max(0, comments))
}

// HomeScore holds the factors of a score in home.
type HomeScore struct {
	Base, Decay, Popularity, Affinity float64
}

// Total returns the score, the product of the factors.
func (s HomeScore) Total() float64 { return s.Base * s.Decay * s.Popularity * s.Affinity }

// Score returns the factors of
//
//	base × exp(−Decay · hours old) × (1 + log10(reactions + 1)) × (1 + Affinity · affinity)
//
// with the base of the source. An item dated in the future counts as new. For other
// sources the base is 0: they have their own scores.
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

// written returns the parameters with defaults applied.
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

// AffinityFor returns how long a like or a reply counts for the affinity to an author.
func (h Home) AffinityFor() time.Duration {
	return time.Duration(h.written().AffinityDays * 24 * float64(time.Hour))
}

// TrendWindow is the greatest age of a trending item.
const TrendWindow = 7 * 24 * time.Hour

// guestDecay is the decay of [Trend.Guest], per hour of age.
const guestDecay = 0.02

// Trend measures likes and comments relative to age; see [TrendOf].
type Trend float64

// The trends above which an item is marked.
const (
	Hot  Trend = 5
	Warm Trend = 2
)

// TrendOf returns
//
//	reactions / (hours old + 1)²
//
// with the reactions of [Reactions]. An item dated in the future counts as new.
func TrendOf(reactions float64, age time.Duration) Trend {
	hours := max(0, age.Hours()) + 1
	return Trend(reactions / (hours * hours))
}

// Mark returns the label used in answers: "hot" above [Hot], "warm" above [Warm], else "".
func (t Trend) Mark() string {
	switch {
	case t > Hot:
		return "hot"
	case t > Warm:
		return "warm"
	}
	return ""
}

// Guest returns the score that orders the feed for readers without an account:
//
//	trend × exp(−0.02 · hours old)
func (t Trend) Guest(age time.Duration) float64 {
	return float64(t) * math.Exp(-guestDecay*max(0, age.Hours()))
}
