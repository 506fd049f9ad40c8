package feed

import (
	"math"
	"time"
)

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
