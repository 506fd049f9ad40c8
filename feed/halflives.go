package feed

import (
	"iter"
	"math"
	"slices"
	"strings"
	"time"
)

// The half-lives of live popularity that are always kept, by their names in settings.
const (
	shortName = "2h"
	longName  = "2d"
)

// moreHalfLives are the half-lives that may be kept as well.
var moreHalfLives = [...]struct {
	name     string
	halfLife forward
}{
	{"1h", forward(time.Hour / time.Second)},
	{"6h", forward(6 * time.Hour / time.Second)},
	{"1d", forward(24 * time.Hour / time.Second)},
	{"7d", forward(7 * 24 * time.Hour / time.Second)},
}

// PerHalfLife holds a value for each half-life that live popularity may have beside
// [ShortHalfLife] and [LongHalfLife]: 1 hour, 6 hours, 1 day and 7 days, in this order.
type PerHalfLife [len(moreHalfLives)]float64

// Max returns the higher value of each half-life.
func (p PerHalfLife) Max(other PerHalfLife) PerHalfLife {
	for i := range p {
		p[i] = max(p[i], other[i])
	}
	return p
}

// MoreSum is a sum as in [Counts], in the epoch that contains its own latest act: a server that does not
// keep it counts later acts without it. The zero value counts nothing.
type MoreSum struct {
	Last  int64 // Unix seconds of the latest act when it was last changed
	Value float64
}

// MoreSums holds the sums for the half-lives of [PerHalfLife].
type MoreSums [len(moreHalfLives)]MoreSum

// HalfLives is a set of the half-lives of [PerHalfLife]: those whose sums are kept. The zero value is
// none, so that only [ShortHalfLife] and [LongHalfLife] are.
type HalfLives uint8

// HalfLifeNames lists the names of all half-lives, the shortest first.
var HalfLifeNames = []string{"1h", shortName, "6h", "1d", longName, "7d"}

// HalfLivesOf returns the half-lives with these names, which must include 2h and 2d. Errors wrap
// [ErrInvalid].
func HalfLivesOf(names []string) (HalfLives, error) {
	var k HalfLives
	for _, name := range names {
		i, always := indexOfHalfLife(name), name == shortName || name == longName
		if i < 0 && !always {
			return 0, Errorf(ErrInvalid, "%q is no half-life: use %s", name, strings.Join(HalfLifeNames, ", "))
		}
		if i >= 0 {
			k |= 1 << i
		}
	}
	if !slices.Contains(names, shortName) || !slices.Contains(names, longName) {
		return 0, Errorf(ErrInvalid, "must include %s and %s, which are always kept", shortName, longName)
	}
	return k, nil
}

func indexOfHalfLife(name string) int {
	for i := range moreHalfLives {
		if moreHalfLives[i].name == name {
			return i
		}
	}
	return -1
}

// HalfLife is one of a set of half-lives.
type HalfLife struct {
	Index    int    // in a [PerHalfLife]
	Name     string // such as 1h
	Duration time.Duration
}

// All yields the half-lives of the set.
func (k HalfLives) All() iter.Seq[HalfLife] {
	return func(yield func(HalfLife) bool) {
		for i := range moreHalfLives {
			if k&(1<<i) == 0 {
				continue
			}
			h := &moreHalfLives[i]
			if !yield(HalfLife{i, h.name, time.Duration(h.halfLife) * time.Second}) {
				return
			}
		}
	}
}

// AllHalfLives is the set of all half-lives.
const AllHalfLives HalfLives = 1<<len(moreHalfLives) - 1

// Check returns an error that wraps [ErrInvalid] if the ranking weights a sum that is not kept.
func (k HalfLives) Check(r Ranking) error {
	for h := range (AllHalfLives &^ k).All() {
		if r.PopularityMore[h.Index] > 0 {
			return Errorf(ErrInvalid, "bad ranking parameters: popularity.weight_%s must be 0 unless the setting popularity.half_lives has %s: those readers are not counted", h.Name, h.Name)
		}
	}
	return nil
}

// Add is [Counts.Add] with the half-lives of the set. Sums of other half-lives are dropped.
func (k HalfLives) Add(c Counts, at int64) Counts {
	next := c.Add(at)
	next.More = nil
	if k == 0 {
		return next
	}
	at = max(at, 1)
	var more MoreSums
	for i := range more {
		if k&(1<<i) == 0 {
			continue
		}
		h, sum := moreHalfLives[i].halfLife, c.moreSum(i)
		if c.Last > at+int64(LatestAct/time.Second) {
			sum.Value *= math.Exp2(h.since(h.epoch(at), at) - h.since(h.epoch(sum.Last), c.Last))
			sum.Last = at
		}
		epoch := h.epoch(next.Last)
		sum.Value *= math.Exp2(-EpochHalfLives * float64(epoch-h.epoch(sum.Last)))
		more[i] = MoreSum{next.Last, sum.Value + math.Exp2(h.since(epoch, at))}
	}
	next.More = &more
	return next
}

// Subtract is [Counts.Subtract] with the half-lives of the set. Sums of other half-lives are dropped.
// A sum that was kept only since a later act than this one becomes a little too small, by what is left
// of one act.
func (k HalfLives) Subtract(c Counts, at int64) Counts {
	next := c.Subtract(at)
	next.More = nil
	if k == 0 || c.More == nil {
		return next
	}
	at = min(max(at, 1), c.Last)
	var more MoreSums
	for i := range more {
		if k&(1<<i) == 0 {
			continue
		}
		h, sum := moreHalfLives[i].halfLife, c.moreSum(i)
		epoch := h.epoch(sum.Last)
		if h.epoch(at) <= epoch {
			sum.Value = max(0, sum.Value-math.Exp2(h.since(epoch, at)))
		}
		more[i] = sum
	}
	next.More = &more
	return next
}

// moreSum returns a sum. One that is later than the latest act counts nothing: a server that does not
// keep the sum has dated the counts back, because a clock was ahead.
func (c *Counts) moreSum(i int) MoreSum {
	if c.More == nil {
		return MoreSum{Last: c.Last}
	}
	sum := c.More[i]
	if sum.Last > c.Last || sum.Value <= 0 {
		return MoreSum{Last: c.Last}
	}
	return sum
}

// MoreAt is [Counts.At] for the half-lives of [PerHalfLife]; 0 for those that are not kept.
func (c Counts) MoreAt(moment int64) (counts PerHalfLife) {
	if c.More == nil || c.Last > moment+int64(ActTolerance/time.Second) {
		return counts
	}
	moment = max(moment, c.Last)
	for i := range counts {
		h, sum := moreHalfLives[i].halfLife, c.moreSum(i)
		counts[i] = h.at(sum.Value, sum.Last, moment)
	}
	return counts
}

// MoreSums returns the sums that count, for the half-lives of the set; zero ones for others.
func (k HalfLives) MoreSums(c Counts) (sums MoreSums) {
	for h := range k.All() {
		if c.More != nil {
			sums[h.Index] = c.moreSum(h.Index)
		}
	}
	return sums
}

// Sum returns the sum of this half-life with the number of its epoch, for a store that computes counts
// from sums itself.
func (h HalfLife) Sum(s MoreSum) Sum {
	return Sum{moreHalfLives[h.Index].halfLife.epoch(s.Last), s.Value}
}

// MoreSum is the inverse of [HalfLife.Sum]: the sum is dated to the beginning of its epoch, which changes
// no count.
func (h HalfLife) MoreSum(s Sum) MoreSum {
	return MoreSum{max(1, s.Epoch*EpochHalfLives*int64(moreHalfLives[h.Index].halfLife)), s.Value}
}

// MorePopularity returns
//
//	Σ weight·log10(1 + count)
//
// over the half-lives of [PerHalfLife] for an item's [Counts.MoreAt] a moment, which is added to
// [Ranking.PopularityFactor].
func (r *Ranking) MorePopularity(counts PerHalfLife) float64 {
	sum := 0.0
	for i, weight := range r.PopularityMore {
		if weight > 0 {
			sum += weight * LogCount(counts[i])
		}
	}
	return sum
}

// LivePopularity reports whether live popularity changes any score.
func (r *Ranking) LivePopularity() bool {
	return r.Popularity2h > 0 || r.Popularity2d > 0 || r.PopularityMore != PerHalfLife{}
}

// halfLifeWeight returns the parameter that weights the readers of about the last half-life.
func halfLifeWeight(name string) Parameter {
	i := indexOfHalfLife(name)
	return Parameter{
		Name: "weight_" + name, Path: "popularity.weight_" + name,
		Help: "weight of readers who clicked or liked in about the last " + spelled[name] + ", if popularity.half_lives has " + name + "; 0: off",
		Most: maxWeight, number: func(r *Ranking) *float64 { return &r.PopularityMore[i] },
	}
}

var spelled = map[string]string{"1h": "hour", "6h": "6 hours", "1d": "day", "7d": "7 days"}
