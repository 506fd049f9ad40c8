// Package offline evaluates rankings without showing them to readers: how far two rankings of one
// agent differ ([Compare]), and how well a ranking would have placed the items that readers
// clicked ([Replay]).
//
// It compares rankings before items already shown are filtered. The ranking in force has chosen
// those, so leaving them out would remove the best of one list and not of the other.
package offline

import (
	"cmp"
	"math"
	"slices"

	"github.com/freshet/freshet/feed/terms"
)

// Persistence is the default p of the rank-biased overlap. With 0.9 the first ten ranks carry 86
// % of the weight (Webber et al., 2010, equation 21).
const Persistence = 0.9

// Overlap returns the share of items in both of two lists: |A ∩ B| / max(|A|, |B|). For lists of
// k it is the overlap at k, called the agreement at depth k in
//
//	W. Webber, A. Moffat, J. Zobel: A similarity measure for indefinite
//	rankings. ACM Transactions on Information Systems 28(4), 2010.
//
// The order does not matter. For two empty lists it is 1. No list may hold duplicates; this
// applies to all functions of this file.
func Overlap(a, b []string) float64 {
	longer := max(len(a), len(b))
	if longer == 0 {
		return 1
	}
	return float64(common(a, b)) / float64(longer)
}

// common returns the number of items in both lists.
func common(a, b []string) int {
	in := make(map[string]struct{}, len(a))
	for _, id := range a {
		in[id] = struct{}{}
	}
	n := 0
	for _, id := range b {
		_, both := in[id]
		if both {
			n++
		}
	}
	return n
}

// NewShare returns the share of B that is not in A: |B \ A| / |B|; 0 if B is empty.
func NewShare(a, b []string) float64 {
	if len(b) == 0 {
		return 0
	}
	return float64(len(b)-common(a, b)) / float64(len(b))
}

// RBO returns the extrapolated rank-biased overlap, RBO_ext, of two rankings: the agreement
// expected by a reader who looks at the first rank and continues to each next one with
// probability p. 1 means equal as far as seen, 0 nothing in common. Unlike [Overlap] it depends
// on the order, and most on the top. Behind their ends the lists are assumed to agree as much as
// before. For a longer list of l and a shorter one of s, with X(d) in common among the first d of
// each,
//
//	(1−p)/p · ( Σ_{d=1..l} X(d)/d · p^d + Σ_{d=s+1..l} X(s)·(d−s)/(s·d) · p^d )
//	+ ( (X(l)−X(s))/l + X(s)/s ) · p^l
//
// Source: Webber, Moffat and Zobel, 2010 (see [Overlap]), equation 32, which for equal lengths is
// equation 30. p lies between 0 and 1, both excluded. The result is 1 for two empty lists, and 0
// if only one is empty.
func RBO(a, b []string, p float64) float64 {
	short, long := a, b
	if len(short) > len(long) {
		short, long = b, a
	}
	if len(long) == 0 {
		return 1
	}
	if len(short) == 0 {
		return 0
	}
	if slices.Equal(short, long) {
		return 1 // rounding would change the last digits
	}
	s, l := float64(len(short)), float64(len(long))
	met := make(map[string]struct{}, len(short)+len(long))
	// meet returns 1 if the id was met before, otherwise 0.
	meet := func(id string) float64 {
		_, again := met[id]
		if again {
			return 1
		}
		met[id] = struct{}{}
		return 0
	}
	var sum, x, xs float64
	weight := 1.0
	for i, id := range long {
		d := float64(i + 1)
		weight *= p
		x += meet(id)
		if i < len(short) {
			x += meet(short[i])
			xs = x
		} else {
			sum += xs * (d - s) / (s * d) * weight
		}
		sum += x / d * weight
	}
	// Rounding must not raise the result above 1.
	return min(1, (1-p)/p*sum+((x-xs)/l+xs/s)*weight)
}

// KendallTau returns how far two lists agree on the order of their common items: 1 for the same
// order, −1 for the opposite one. Of all n(n−1)/2 pairs of common items C are in the same order
// in both and D are not:
//
//	τ = (C − D) / (n(n−1)/2)
//
// Source: M. G. Kendall: A new measure of rank correlation. Biometrika 30(1–2), 1938. Items in
// one list only do not count; [Overlap] measures those. ok is false with fewer than two common
// items, which have no order.
func KendallTau(a, b []string) (tau float64, ok bool) {
	place := make(map[string]int, len(a))
	for i, id := range a {
		place[id] = i
	}
	var places []int // in a, of the common items in the order of b
	for _, id := range b {
		i, both := place[id]
		if both {
			places = append(places, i)
		}
	}
	agree, pairs := 0, 0
	for i, p := range places {
		for _, before := range places[:i] {
			agree += cmp.Compare(p, before)
			pairs++
		}
	}
	if pairs == 0 {
		return 0, false
	}
	return float64(agree) / float64(pairs), true
}

// Median returns the middle value, of an even number the mean of the two middle ones. ok is false
// if there are no values.
func Median(values []float64) (median float64, ok bool) {
	n := len(values)
	if n == 0 {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(n-1)/2] + sorted[n/2]) / 2, true
}

// TagCoverage returns the share of an agent's interests that at least one item of a list has as a
// tag; interests of weight 0 do not count. It shows whether a page covers all interests or only
// the strongest one. The measure is the subtopic recall of
//
//	C. Zhai, W. W. Cohen, J. Lafferty: Beyond independent relevance. SIGIR 2003
//
// with interests as subtopics. ok is false for an agent without interests.
func TagCoverage(interests map[string]float64, tags [][]string) (share float64, ok bool) {
	wanted := make(map[string]bool, len(interests)) // folded tag → whether it is covered
	for tag, weight := range interests {
		if weight > 0 {
			wanted[terms.Fold(tag)] = false
		}
	}
	if len(wanted) == 0 {
		return 0, false
	}
	covered := 0
	for _, list := range tags {
		for _, tag := range list {
			had, is := wanted[terms.Fold(tag)]
			if is && !had {
				wanted[terms.Fold(tag)] = true
				covered++
			}
		}
	}
	return float64(covered) / float64(len(wanted)), true
}

// Hit returns 1 if the clicked item is among the first k, else 0; its mean over clicks is the hit
// rate at k. Source: M. Deshpande, G. Karypis: Item-based top-N recommendation algorithms. ACM
// TOIS 22(1), 2004. Ranks start at 1; 0 means not ranked. This applies to all of this file.
func Hit(rank, k int) float64 {
	if rank >= 1 && rank <= k {
		return 1
	}
	return 0
}

// ReciprocalRank returns 1/rank, and 0 for an item that is not ranked; its mean over clicks is
// the MRR. Source: E. M. Voorhees: The TREC-8 question answering track report. TREC 1999.
func ReciprocalRank(rank int) float64 {
	if rank < 1 {
		return 0
	}
	return 1 / float64(rank)
}

// NDCG returns the normalized discounted cumulative gain at k of one relevant item, a click, at a
// rank: 1/log₂(rank + 1) within k, else 0. Sources: K. Järvelin, J. Kekäläinen: Cumulated
// gain-based evaluation of IR techniques. ACM TOIS 20(4), 2002; with this discount: C. Burges et
// al.: Learning to rank using gradient descent. ICML 2005.
func NDCG(rank, k int) float64 { return Hit(rank, k) / math.Log2(float64(max(rank, 1))+1) }
