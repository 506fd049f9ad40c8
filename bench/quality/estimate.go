package quality

import (
	"math"
	"math/rand/v2"
	"slices"
)

const (
	// resamples and seed of the bootstrap; the fixed seed makes the intervals reproducible.
	resamples = 2000
	seed      = 20160314
	// tail is the probability beyond each end of a 95 % interval.
	tail = 0.025
)

// Estimate is a figure and its 95 % interval.
type Estimate struct{ Value, Low, High float64 }

// draw is one resample: the number of times each reader occurs.
type draw []float64

// draws returns the resamples for a number of readers: as many readers, drawn with replacement.
// They are the same for every figure, so that differences are paired. Source: B. Efron, R. J.
// Tibshirani: An introduction to the bootstrap, 1993.
func draws(readers int) []draw {
	random := rand.New(rand.NewPCG(seed, uint64(readers)))
	all := make([]draw, resamples)
	for i := range all {
		all[i] = make(draw, readers)
		for range readers {
			all[i][random.IntN(readers)]++
		}
	}
	return all
}

// estimate returns a figure with the percentiles of its resamples, shifted by the difference
// between the figure and their mean. A resample contains only 63 % of the readers, so the share
// of items shown to any reader comes out too low in it; for means over readers the shift is
// negligible. The interval is clipped to the range from least to most.
func estimate(figure func(draw) float64, readers int, all []draw, least, most float64) Estimate {
	everybody := make(draw, readers)
	for i := range everybody {
		everybody[i] = 1
	}
	value := figure(everybody)
	values, sum := make([]float64, len(all)), 0.0
	for i, d := range all {
		values[i] = figure(d)
		sum += values[i]
	}
	slices.Sort(values)
	shift := value - sum/float64(len(values))
	within := func(v float64) float64 { return math.Max(least, math.Min(most, v)) }
	return Estimate{
		Value: value,
		Low:   within(quantile(values, tail) + shift),
		High:  within(quantile(values, 1-tail) + shift),
	}
}

// quantile returns a quantile of sorted values, interpolated.
func quantile(values []float64, q float64) float64 {
	at := q * float64(len(values)-1)
	below := int(at)
	above := min(below+1, len(values)-1)
	return values[below] + (at-float64(below))*(values[above]-values[below])
}

// mean returns the figure that averages values over readers.
func mean(values []float64) func(draw) float64 {
	return func(d draw) float64 {
		sum, n := 0.0, 0.0
		for i, times := range d {
			sum += times * values[i]
			n += times
		}
		return sum / n
	}
}

// covered returns the figure for coverage: the share of the items proposed to any reader that are
// shown to any reader.
func covered(shown, proposed []set) func(draw) float64 {
	return func(d draw) float64 {
		of := joined(proposed, d).size()
		if of == 0 {
			return 0
		}
		return float64(joined(shown, d).size()) / float64(of)
	}
}

// joined returns the union of the sets of the readers in a resample.
func joined(sets []set, d draw) set {
	all := make(set, len(sets[0]))
	for i, times := range d {
		if times > 0 {
			all.join(sets[i])
		}
	}
	return all
}
