package experiment

import "math"

// Imbalance is the p-value below which the numbers of readers of the arms contradict their shares.
const Imbalance = 0.001

// prior is how many readers the expected shares weigh in [Balance]. It finds deviations of about
// 1/√prior soonest.
const prior = 1000

// Balance returns the p-value of numbers of distinct readers if each reader belongs to an arm with the
// probability that is its share; shares need not add up to 1. A small one means that readers of an
// arm are lost or counted twice, and that no other figure of the experiment can be believed. It is
// valid at each look. (M. Lindon, A. Malek, "Anytime-Valid Inference for Multinomial Count Data",
// NeurIPS 2022, with a Dirichlet distribution around the shares.)
func Balance(readers []int64, shares []float64) float64 {
	var n, all float64
	for i := range readers {
		n += float64(readers[i])
		all += shares[i]
	}
	if n == 0 || all == 0 {
		return 1
	}
	gamma := func(x float64) float64 { g, _ := math.Lgamma(x); return g }
	log := gamma(prior) - gamma(prior+n)
	for i := range readers {
		share, k := shares[i]/all, float64(readers[i])
		if share == 0 {
			if k > 0 {
				return 0
			}
			continue
		}
		log += gamma(prior*share+k) - gamma(prior*share) - k*math.Log(share)
	}
	return min(1, math.Exp(-log))
}
