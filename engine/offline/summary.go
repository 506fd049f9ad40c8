package offline

import (
	"math"
	"slices"
)

// Spread describes the distribution of a figure over agents. N is the number of agents that have
// the figure; if it is 0, so are the other fields.
type Spread struct {
	N      int     `json:"n"`
	Mean   float64 `json:"mean"`
	SD     float64 `json:"sd"` // sample standard deviation; 0 with fewer than two
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	Max    float64 `json:"max"`
}

func spreadOf(values []float64) Spread {
	n := len(values)
	if n == 0 {
		return Spread{}
	}
	// Sorting makes the sum independent of the order of the values, to the last bit.
	values = slices.Sorted(slices.Values(values))
	s := Spread{N: n, Min: values[0], Max: values[n-1]}
	s.Median, _ = Median(values)
	for _, v := range values {
		s.Mean += v
	}
	s.Mean /= float64(n)
	if n > 1 {
		var squares float64
		for _, v := range values {
			squares += (v - s.Mean) * (v - s.Mean)
		}
		s.SD = math.Sqrt(squares / float64(n-1))
	}
	return s
}

// Summary holds the figures of many agents.
type Summary struct {
	Agents int `json:"agents"`
	// Empty counts the agents for whom neither ranking has an item. The figures exclude them.
	Empty      int    `json:"empty"`
	Overlap    Spread `json:"overlap"`
	RBO        Spread `json:"rbo"`
	KendallTau Spread `json:"kendall_tau"`
	NewShare   Spread `json:"new_share"`
	MedianAgeA Spread `json:"median_age_a"` // seconds
	MedianAgeB Spread `json:"median_age_b"`
	CoverageA  Spread `json:"tag_coverage_a"`
	CoverageB  Spread `json:"tag_coverage_b"`
}

// Summarize summarizes agents' figures, regardless of their order.
func Summarize(agents []AgentFigures) Summary {
	out := Summary{Agents: len(agents)}
	var some []AgentFigures
	for _, a := range agents {
		if a.ItemsA+a.ItemsB == 0 {
			out.Empty++
			continue
		}
		some = append(some, a)
	}
	over := func(figure func(Figures) *float64) Spread {
		var values []float64
		for _, a := range some {
			v := figure(a.Figures)
			if v != nil {
				values = append(values, *v)
			}
		}
		return spreadOf(values)
	}
	out.Overlap = over(func(f Figures) *float64 { return &f.Overlap })
	out.RBO = over(func(f Figures) *float64 { return &f.RBO })
	out.KendallTau = over(func(f Figures) *float64 { return f.KendallTau })
	out.NewShare = over(func(f Figures) *float64 { return &f.NewShare })
	out.MedianAgeA = over(func(f Figures) *float64 { return f.MedianAgeA })
	out.MedianAgeB = over(func(f Figures) *float64 { return f.MedianAgeB })
	out.CoverageA = over(func(f Figures) *float64 { return f.CoverageA })
	out.CoverageB = over(func(f Figures) *float64 { return f.CoverageB })
	return out
}
