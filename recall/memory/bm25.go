package memory

import (
	"math"
	"math/bits"
)

// Okapi BM25 as Elasticsearch computes it. Source: Lucene's BM25Similarity
// with Elasticsearch's factor k1 + 1 in front, default k1 and b:
//
//	2.2 · boost · idf · tf / (tf + k1·(1 − b + b·dl/avgdl))
//	idf = ln(1 + (N − n + 0.5) / (n + 0.5))
//
// N counts the documents that have the field, n those that have the term; dl
// is the field's length after its passage through Lucene's one-byte norm.
const (
	bm25K1 = 1.2
	bm25B  = 0.75
)

// idf is the weight of a term that n of total documents have.
func idf(n, total uint32) float64 {
	return math.Log(1 + (float64(total)-float64(n)+0.5)/(float64(n)+0.5))
}

// lengthTable holds k1·(1 − b + b·dl/avgdl) for each of the 256 norms.
type lengthTable [256]float64

func (t *lengthTable) fill(docs uint32, totalLength uint64) {
	if docs == 0 {
		return
	}
	average := float64(totalLength) / float64(docs)
	for norm := range t {
		t[norm] = bm25K1 * (1 - bm25B + bm25B*normLengths[norm]/average)
	}
}

// exactNorms is the number of lengths, from 0, that a norm keeps exactly.
// Longer lengths keep their four highest bits. Source: Lucene's SmallFloat.
const exactNorms = 24

// encodeNorm squeezes a field's length in tokens into one byte, rounding down.
func encodeNorm(length uint32) uint8 {
	if length < exactNorms {
		return uint8(length)
	}
	rest := length - exactNorms
	shift := bits.Len32(rest) - 4
	if shift < 0 {
		return uint8(exactNorms + rest)
	}
	return uint8(exactNorms + (uint32(shift+1)<<3 | rest>>shift&7))
}

// decodeNorm returns the length a norm stands for.
func decodeNorm(norm uint8) float64 {
	if norm < exactNorms {
		return float64(norm)
	}
	code := norm - exactNorms
	if code < 16 {
		return exactNorms + float64(code)
	}
	return exactNorms + float64(uint64(code&7|8)<<(code>>3-1))
}

var normLengths = func() (lengths [256]float64) {
	for norm := range lengths {
		lengths[norm] = decodeNorm(uint8(norm))
	}
	return lengths
}()
