package learning

import (
	"math"

	"github.com/cespare/xxhash/v2"
)

const (
	rarityCounters = 1 << 14 // that words share by hash
	rarityLeast    = 100     // titles, before which all words are alike
	rarityMost     = 1 << 16 // titles, at which all counts are halved, so that they follow what is read
)

// rarity tells how rare words are in the titles that readers act on. What everybody
// reads says little of one reader: an item counts as often as it is acted on.
type rarity struct {
	titles float64
	counts [rarityCounters]float32
}

// add counts the words of a title, each once.
func (r *rarity) add(words []string) {
	if r.titles >= rarityMost {
		r.titles /= 2
		for i := range r.counts {
			r.counts[i] /= 2
		}
	}
	r.titles++
	for _, w := range words {
		r.counts[xxhash.Sum64String(w)%rarityCounters]++
	}
}

// of is 1 of a word that was never met, 0 of one that is in every title:
// log(titles / titles with the word) / log(titles).
func (r *rarity) of(word string) float64 {
	if r.titles < rarityLeast {
		return 1
	}
	with := max(1, float64(r.counts[xxhash.Sum64String(word)%rarityCounters]))
	return max(0, math.Log(r.titles/with)/math.Log(r.titles))
}
