package recall

import (
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// answers keeps the answers asked for last, at most so many, and those that hold
// at most so many candidates: one to a reader who has seen much, or with a large
// N, is as long as twenty others. Its caller locks it.
type answers struct {
	lru        *simplelru.LRU[queryKey, kept]
	candidates int
	most       int // candidates
}

// kept is an answer and when it came.
type kept struct {
	result Result
	at     time.Time
}

func newAnswers(entries, candidates int) *answers {
	a := &answers{most: candidates}
	var err error
	a.lru, err = simplelru.NewLRU(entries, func(_ queryKey, k kept) { a.candidates -= len(k.result.Candidates) })
	if err != nil {
		panic(err) // only for a size that is not positive
	}
	return a
}

func (a *answers) get(key queryKey) (kept, bool) { return a.lru.Get(key) }

func (a *answers) add(key queryKey, k kept) {
	a.lru.Remove(key) // so that what it held is taken off
	a.lru.Add(key, k)
	for a.candidates += len(k.result.Candidates); a.candidates > a.most; {
		a.lru.RemoveOldest()
	}
}
