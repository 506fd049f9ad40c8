package fit

import (
	"context"
	"math"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/server/history"
)

const (
	// penalty is subtracted from the nDCG for each unit of a dial away from the ranking in force: so much
	// it must gain at least, on the clicks that are fitted to.
	penalty = 0.0003
	// worth is the least gain of a dial in all, after the search.
	worth = 0.0005
	// halvings is how often the steps of a search are halved: of that from the best start only.
	halvings = 2
	improved = 1e-6 // smallest difference that is an improvement
)

// fitter fits rankings. It is not safe for concurrent use.
type fitter struct {
	inForce   feed.Ranking
	keep      []string // parameters that are not fitted
	also      []string // weights of popularity that are fitted, though the ranking in force has none
	progress  func(evaluations int)
	tried     int  // rankings
	left      int  // that may still be tried for this fit
	exhausted bool // in some fit
	scorer    history.Scorer
}

// search is a fit to some moments, from one start.
type search struct {
	*fitter
	moments []history.Moment
	weights []float64 // of each moment: readers count the same
	dials   []dial
	base    feed.Ranking // the ranking that the dials change
	home    []float64    // positions of the ranking in force
	apart   float64      // penalty for a base that is not the ranking in force

	at    []float64
	value float64
}

// fit returns the best ranking found for some moments: by a search along the dials, one after the
// other, with steps that are halved when none of them improves (R. Hooke, T. A. Jeeves: "Direct search"
// solution of numerical and statistical problems, JACM 8(2), 1961, without its pattern moves), from
// several starts. One of these is the ranking in force.
func (f *fitter) fit(ctx context.Context, moments []history.Moment) (feed.Ranking, error) {
	var best *search
	weights := weightsOf(moments)
	for _, start := range f.starts() {
		s := f.newSearch(start, moments, weights)
		if err := s.along(ctx, 1); err != nil {
			return f.inForce, err
		}
		if best == nil || s.value > best.value+improved {
			best = s
		}
	}
	for scale, i := 0.5, 0; i < halvings; scale, i = scale/2, i+1 {
		if err := best.along(ctx, scale); err != nil {
			return f.inForce, err
		}
	}
	best.goHome()
	return best.ranking(best.at), nil
}

// starts returns the rankings that searches begin with. The first is the one in force.
func (f *fitter) starts() []feed.Ranking {
	list := []feed.Ranking{f.inForce}
	// For a slower community: with all time scales longer, and popularity by the longest half-life.
	slow := f.inForce
	longest := time.Duration(0)
	for _, w := range history.PopularityWeights() {
		if f.fits(w) {
			longest = max(longest, w.HalfLife)
			setNumber(&slow, w.Name, 0)
		}
	}
	for _, w := range history.PopularityWeights() {
		if f.fits(w) && w.HalfLife == longest {
			setNumber(&slow, w.Name, 2)
		}
	}
	list = append(list, slow)
	slower := slow
	for i := range slower.Decay.Curves.Len() {
		if slower.Decay.Curves[i].Shape != feed.Constant {
			slower.Decay.Curves[i].Scale *= 10
		}
	}
	if slower.Decay.Curves.Len() == 0 {
		slower.Decay.Scale *= 10
		for _, r := range []feed.Ranking{f.inForce, slow} {
			two, err := r.With("curves=two")
			if err == nil {
				list = append(list, two)
			}
		}
	}
	return append(list, slower)
}

func (f *fitter) newSearch(start feed.Ranking, moments []history.Moment, weights []float64) *search {
	s := &search{fitter: f, moments: moments, weights: weights, base: f.inForce}
	if start.Decay.Curves.Len() != f.inForce.Decay.Curves.Len() {
		s.base.Decay, s.apart = start.Decay, 5*penalty
	}
	s.dials = f.dialsFor(&s.base, moments)
	for i := range s.dials {
		d := &s.dials[i]
		home := d.at(&s.base)
		d.least, d.most = min(d.least, home), max(d.most, home)
		s.home = append(s.home, home)
		s.at = append(s.at, min(max(d.at(&start), d.least), d.most))
	}
	s.value = s.try(s.at)
	if !finite(s.value) {
		s.value = math.Inf(-1)
	}
	return s
}

// along moves along each dial, by steps of a part of its first step, as long as one of them improves.
func (s *search) along(ctx context.Context, part float64) error {
	for again := true; again; {
		again = false
		for i, d := range s.dials {
			if d.name == "curves" && d.most == 1 && d.least == 0 && part < 1 {
				continue // a shape has no half
			}
			for _, direction := range []float64{1, -1} {
				if err := ctx.Err(); err != nil {
					return err
				}
				if s.left <= 0 {
					s.exhausted = true
					return nil
				}
				moved := s.move(i, s.at[i]+direction*part*d.step)
				again = again || moved
				if moved {
					break
				}
			}
		}
	}
	return nil
}

// move sets a dial if that improves the value.
func (s *search) move(i int, to float64) bool {
	d := &s.dials[i]
	to = min(max(to, d.least), d.most)
	from := s.at[i]
	if to == from {
		return false
	}
	s.at[i] = to
	value := s.try(s.at)
	if value > s.value+improved {
		s.value = value
		return true
	}
	s.at[i] = from
	return false
}

// goHome puts back each dial that gains next to nothing by not being where the ranking in force has it:
// fewer changes are easier to understand.
func (s *search) goHome() {
	for i := range s.dials {
		from := s.at[i]
		if from == s.home[i] {
			continue
		}
		s.at[i] = s.home[i]
		value := s.try(s.at)
		if value >= s.value-worth {
			s.value = value
		} else {
			s.at[i] = from
		}
	}
}

// ranking returns the ranking at some positions. A dial that is where the ranking in force has it
// changes nothing, not even by rounding.
func (s *search) ranking(at []float64) feed.Ranking {
	r := s.base
	for i, d := range s.dials {
		if at[i] != s.home[i] {
			d.set(&r, at[i])
		}
	}
	return r
}

// try returns the value at some positions: the mean over readers of their nDCG, less the penalty.
func (s *search) try(at []float64) float64 {
	s.tried++
	s.left--
	if s.progress != nil {
		s.progress(s.tried)
	}
	r := s.ranking(at)
	if r.Validate() != nil {
		return math.Inf(-1)
	}
	s.scorer.Use(r)
	value := -s.apart
	for i := range s.moments {
		value += s.weights[i] * s.scorer.NDCG(&s.moments[i])
	}
	for i := range at {
		value -= penalty * math.Abs(at[i]-s.home[i])
	}
	return value
}

// weightsOf returns the weight of each moment in a mean over readers of the means of each.
func weightsOf(moments []history.Moment) []float64 {
	of := map[string]int{}
	for i := range moments {
		of[moments[i].Reader]++
	}
	weights := make([]float64, len(moments))
	for i := range moments {
		weights[i] = 1 / float64(of[moments[i].Reader]*len(of))
	}
	return weights
}
