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

// EpochHalfLives is the length of an epoch, in half-lives. Within an epoch a term of a
// forward-decayed sum grows to at most 2¹⁰⁰, and the factor that converts the sum back to a count
// is at least 2⁻²⁰⁰: both are far within the range of a float64.
const EpochHalfLives = 100

// LatestAct bounds how much later than a newly counted act the latest counted act may be; acts
// are delayed while their store is down. A larger difference means that a clock was ahead.
const LatestAct = 14 * 24 * time.Hour

// ActTolerance is how much later than the moment of a count an act may be and still count, because
// the clocks of servers differ. It then counts as at its own time, that is, as one.
const ActTolerance = 10 * time.Minute

// negligible is the count below which the effect on a score is imperceptible.
const negligible = 0.001

// Counts holds an item's live popularity: how many readers clicked or liked it, each weighted by
// 2^(−age/half-life).
//
// The sums use forward decay (Cormode, Shkapenyuk, Srivastava, Xu: Forward Decay, 2009), so
// nothing is rewritten as time passes: an act at t adds 2^((t − t₀)/half-life), and the count at
// a moment is the sum times 2^(−(moment − t₀)/half-life), one factor for all items. t₀ is the
// start of the epoch that contains Last; epochs are [EpochHalfLives] long and begin at
// 1970-01-01. The zero value counts nothing.
type Counts struct {
	Last  int64   // Unix seconds of the latest act; 0 if there was none
	Short float64 // the sum with ShortHalfLife
	Long  float64 // the sum with LongHalfLife
	// More holds the sums of further half-lives; nil if none is kept. It is never changed.
	More *MoreSums
}

// Add counts an act at a moment, in Unix seconds. A late act counts with its decayed weight. If
// the latest act is more than [LatestAct] later, a clock was ahead when that act was recorded;
// then the counts keep their values but are dated to this act. More stays as it is: see
// [HalfLives.Add].
func (c Counts) Add(at int64) Counts {
	at = max(at, 1)
	if c.Last > at+int64(LatestAct/time.Second) {
		c = Counts{Last: at, Short: short.moved(c.Short, c.Last, at), Long: long.moved(c.Long, c.Last, at), More: c.More}
	}
	return Counts{Last: max(c.Last, at), Short: short.add(c.Short, c.Last, at), Long: long.add(c.Long, c.Last, at), More: c.More}
}

// Subtract removes an act that was counted at a moment, in Unix seconds. More stays as it is: see
// [HalfLives.Subtract].
func (c Counts) Subtract(at int64) Counts {
	if c.Last == 0 {
		return c
	}
	at = min(max(at, 1), c.Last) // later only if c was dated back
	c.Short, c.Long = short.subtract(c.Short, c.Last, at), long.subtract(c.Long, c.Last, at)
	return c
}

// At returns both counts at a moment, in Unix seconds. Up to [ActTolerance] before the latest act
// they are those at that act. At an earlier moment they are 0: a sum does not tell which of its
// acts came before. A sum older than the previous epoch counts nothing: at most 2⁻¹⁰⁰ of its acts
// is left.
func (c Counts) At(moment int64) (shortCount, longCount float64) {
	if c.Last == 0 || c.Last > moment+int64(ActTolerance/time.Second) {
		return 0, 0
	}
	moment = max(moment, c.Last)
	return short.at(c.Short, c.Last, moment), long.at(c.Long, c.Last, moment)
}

// Latest returns both counts at the latest act. They are never higher.
func (c Counts) Latest() (shortCount, longCount float64) { return c.At(c.Last) }

// Negligible reports whether at a moment, and at every later one, all counts are below 0.001 and
// add nothing perceptible to a score.
func (c Counts) Negligible(moment int64) bool {
	s, l := c.At(max(moment, c.Last))
	if c.More != nil {
		for _, n := range c.MoreAt(max(moment, c.Last)) {
			l = max(l, n)
		}
	}
	return s < negligible && l < negligible
}

// forward is a half-life, in seconds.
type forward int64

const (
	short = forward(ShortHalfLife / time.Second)
	long  = forward(LongHalfLife / time.Second)
)

// epoch returns the number of the epoch that contains a moment.
func (h forward) epoch(at int64) int64 { return at / (EpochHalfLives * int64(h)) }

// since returns how many half-lives after the start of an epoch a moment is.
func (h forward) since(epoch, at int64) float64 {
	return float64(at-epoch*EpochHalfLives*int64(h)) / float64(h)
}

// add moves the sum into the epoch of the later of the two moments and adds the act.
func (h forward) add(sum float64, last, at int64) float64 {
	epoch := h.epoch(max(last, at))
	sum *= math.Exp2(-EpochHalfLives * float64(epoch-h.epoch(last)))
	return sum + math.Exp2(h.since(epoch, at))
}

// subtract removes the act from the sum.
func (h forward) subtract(sum float64, last, at int64) float64 {
	return max(0, sum-math.Exp2(h.since(h.epoch(last), at)))
}

// moved returns the sum that gives the same count when the latest act is at another moment.
func (h forward) moved(sum float64, last, at int64) float64 {
	return sum * math.Exp2(h.since(h.epoch(at), at)-h.since(h.epoch(last), last))
}

func (h forward) at(sum float64, last, moment int64) float64 {
	epoch := h.epoch(last)
	if h.epoch(moment)-epoch > 1 {
		return 0
	}
	return sum * math.Exp2(-h.since(epoch, moment))
}

// Sum is one sum of [Counts] with the number of its epoch, for a store that computes counts from
// sums itself.
type Sum struct {
	Epoch int64
	Value float64
}

// Sums returns both sums, in the epochs that contain the latest act.
func (c Counts) Sums() (shortSum, longSum Sum) {
	return Sum{short.epoch(c.Last), c.Short}, Sum{long.epoch(c.Last), c.Long}
}

// CountsOf returns the counts with these sums. last is the latest act, 0 if it is unknown: then
// the counts are dated to the earliest moment that has both epochs, which changes none of them
// from the latest act on.
func CountsOf(shortSum, longSum Sum, last int64) Counts {
	if last == 0 {
		last = max(1, shortSum.Epoch*EpochHalfLives*int64(short), longSum.Epoch*EpochHalfLives*int64(long))
	}
	return Counts{Last: last, Short: shortSum.Value, Long: longSum.Value}
}

// Epoch is an epoch whose sums still count at some moment.
type Epoch struct {
	Number int64
	Factor float64 // converts a sum of this epoch to a count; > 0
}

// LiveEpochs returns the epochs whose sums with a half-life still count at a moment, in Unix
// seconds: the epoch of the moment and, as long as a float32 can hold its factor, the one before.
// After that at most 2⁻⁴⁹ of each act is left.
func LiveEpochs(halfLife time.Duration, moment int64) []Epoch {
	h := forward(halfLife / time.Second)
	now := h.epoch(max(moment, 0))
	live := make([]Epoch, 0, 2)
	for number := now; number >= max(now-1, 0); number-- {
		factor := math.Exp2(-h.since(number, moment))
		if float32(factor) > 0 {
			live = append(live, Epoch{number, factor})
		}
	}
	return live
}

// Count returns the value of a sum at the moment for which live was computed.
func (s Sum) Count(live []Epoch) float64 {
	for _, e := range live {
		if e.Number == s.Epoch {
			return s.Value * e.Factor
		}
	}
	return 0
}
