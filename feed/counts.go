package feed

import (
	"math"
	"time"
)

// The half-lives of the two counts of an item's live popularity.
const (
	ShortHalfLife = 2 * time.Hour
	LongHalfLife  = 48 * time.Hour
)

// EpochHalfLives is the length of an epoch, in half-lives. Within it a term of a
// forward-decayed sum grows to 2¹⁰⁰ at most, and the factor that makes the sum a
// count again is 2⁻²⁰⁰ at least: both are far within a float64.
const EpochHalfLives = 100

// LatestAct is how much later than an act that is counted the latest one may be: acts
// wait while their store is down. Beyond it a clock was ahead.
const LatestAct = 14 * 24 * time.Hour

// negligible is the count below which nobody sees what it adds to a score.
const negligible = 0.001

// Counts are an item's live popularity: how many readers clicked or liked it, each
// of them counting 2^(−age/half-life).
//
// The sums are decayed forward (Cormode, Shkapenyuk, Srivastava, Xu: Forward
// Decay, 2009), so that nothing is rewritten as time passes: an act at t adds
// 2^((t − t₀)/half-life), and a count at some moment is its sum times
// 2^(−(moment − t₀)/half-life), one factor for all items. t₀ is the start of the
// epoch that Last is in; epochs are [EpochHalfLives] long and begin at 1970-01-01.
// The zero value counts nothing.
type Counts struct {
	Last  int64   // Unix seconds of the latest act; 0: there was none
	Short float64 // the sum with ShortHalfLife
	Long  float64 // the sum with LongHalfLife
}

// Add counts an act at a moment, in Unix seconds. One that comes in late counts as
// what is left of it. Where the latest act is more than [LatestAct] later, a clock was ahead
// when it came in: then the counts stay the same, as of this act.
func (c Counts) Add(at int64) Counts {
	at = max(at, 1)
	if c.Last > at+int64(LatestAct/time.Second) {
		c = Counts{Last: at, Short: short.moved(c.Short, c.Last, at), Long: long.moved(c.Long, c.Last, at)}
	}
	return Counts{Last: max(c.Last, at), Short: short.add(c.Short, c.Last, at), Long: long.add(c.Long, c.Last, at)}
}

// At returns both counts at a moment, in Unix seconds. At a moment before the
// latest act they are those at that act. A sum of an epoch before the last
// one counts nothing: at most 2⁻¹⁰⁰ of its acts is left.
func (c Counts) At(moment int64) (shortCount, longCount float64) {
	if c.Last == 0 {
		return 0, 0
	}
	return short.at(c.Short, c.Last, moment), long.at(c.Long, c.Last, moment)
}

// Negligible reports whether at a moment, and so ever after, the counts add
// nothing that could be seen: both are below 0.001.
func (c Counts) Negligible(moment int64) bool {
	s, l := c.At(moment)
	return s < negligible && l < negligible
}

// forward is a half-life, in seconds.
type forward int64

const (
	short = forward(ShortHalfLife / time.Second)
	long  = forward(LongHalfLife / time.Second)
)

// epoch is the number of the epoch that a moment is in.
func (h forward) epoch(at int64) int64 { return at / (EpochHalfLives * int64(h)) }

// since is how many half-lives after the start of an epoch a moment is.
func (h forward) since(epoch, at int64) float64 {
	return float64(at-epoch*EpochHalfLives*int64(h)) / float64(h)
}

// add moves the sum into the epoch of the later moment, and adds the act.
func (h forward) add(sum float64, last, at int64) float64 {
	epoch := h.epoch(max(last, at))
	sum *= math.Exp2(-EpochHalfLives * float64(epoch-h.epoch(last)))
	return sum + math.Exp2(h.since(epoch, at))
}

// moved is the sum of the same count with its latest act at another moment.
func (h forward) moved(sum float64, last, at int64) float64 {
	return sum * math.Exp2(h.since(h.epoch(at), at)-h.since(h.epoch(last), last))
}

func (h forward) at(sum float64, last, moment int64) float64 {
	moment = max(moment, last)
	epoch := h.epoch(last)
	if h.epoch(moment)-epoch > 1 {
		return 0
	}
	return sum * math.Exp2(-h.since(epoch, moment))
}

// Sum is one sum of [Counts] and the number of its epoch, for a store that makes
// counts of sums by itself.
type Sum struct {
	Epoch int64
	Value float64
}

// Sums returns both sums, in the epochs that the latest act is in.
func (c Counts) Sums() (shortSum, longSum Sum) {
	return Sum{short.epoch(c.Last), c.Short}, Sum{long.epoch(c.Last), c.Long}
}

// Epoch is an epoch whose sums count something at some moment.
type Epoch struct {
	Number int64
	Factor float64 // a sum of this epoch times it is a count, > 0
}

// LiveEpochs returns the epochs whose sums with a half-life count something at a
// moment, in Unix seconds: the one the moment is in and the one before, as long as
// a float32 can hold its factor. After that at most 2⁻⁴⁹ of each act is left.
func LiveEpochs(halfLife time.Duration, moment int64) []Epoch {
	h := forward(halfLife / time.Second)
	now := h.epoch(max(moment, 0))
	live := make([]Epoch, 0, 2)
	for number := now; number >= max(now-1, 0); number-- {
		if factor := math.Exp2(-h.since(number, moment)); float32(factor) > 0 {
			live = append(live, Epoch{number, factor})
		}
	}
	return live
}

// Count is the value of a sum at the moment that the epochs belong to.
func (s Sum) Count(live []Epoch) float64 {
	for _, e := range live {
		if e.Number == s.Epoch {
			return s.Value * e.Factor
		}
	}
	return 0
}
