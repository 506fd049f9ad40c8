package offline

import (
	"math"
	"slices"
)

// Hit is 1 where the clicked item stands among the first k, else 0; its mean
// over clicks is the hit rate at k. Source: M. Deshpande, G. Karypis:
// Item-based top-N recommendation algorithms. ACM TOIS 22(1), 2004. Ranks count
// from 1; 0 is an item that is not ranked. This is so for all of this file.
func Hit(rank, k int) float64 {
	if rank >= 1 && rank <= k {
		return 1
	}
	return 0
}

// ReciprocalRank is 1/rank, and 0 for an item that is not ranked; its mean over
// clicks is the MRR. Source: E. M. Voorhees: The TREC-8 question answering
// track report. TREC 1999.
func ReciprocalRank(rank int) float64 {
	if rank < 1 {
		return 0
	}
	return 1 / float64(rank)
}

// NDCG is the normalized discounted cumulative gain at k with binary
// relevance. ranks are those of the relevant items, each once:
//
//	DCG@k  = Σ over ranks r ≤ k of 1 / log₂(r + 1)
//	NDCG@k = DCG@k / DCG@k of the best order, with all of them at the top
//
// With one relevant item, a click, it is 1/log₂(rank + 1) within k. Sources:
// K. Järvelin, J. Kekäläinen: Cumulated gain-based evaluation of IR
// techniques. ACM TOIS 20(4), 2002; with this discount: C. Burges et al.:
// Learning to rank using gradient descent. ICML 2005. Without relevant items it
// is 0.
func NDCG(ranks []int, k int) float64 {
	best := min(len(ranks), k)
	if best <= 0 {
		return 0
	}
	var dcg, ideal float64
	// From the top, so that the best order sums to exactly the same.
	for _, rank := range slices.Sorted(slices.Values(ranks)) {
		if rank >= 1 && rank <= k {
			dcg += discount(rank)
		}
	}
	for rank := 1; rank <= best; rank++ {
		ideal += discount(rank)
	}
	return dcg / ideal
}

func discount(rank int) float64 { return 1 / math.Log2(float64(rank)+1) }
