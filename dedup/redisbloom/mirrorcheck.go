package redisbloom

import (
	"sync"

	"github.com/freshet/freshet/dedup"
)

// answers notes for a check which past days the copies answer for. Today and
// tomorrow are never among them, even if the clock was set back to a day that
// was over.
func (m *mirror) answers(q *question) {
	if m == nil {
		return
	}
	inProcess, window := 0, m.s.cfg.WindowDays
	for ago := 1; ago < window; ago++ {
		c, shards := m.find(q.agent, q.days[ago])
		if c == nil {
			continue
		}
		if q.copies == nil {
			q.copies, q.shards = make([]*copied, len(q.days)), make([]int, len(q.days))
		}
		q.copies[ago], q.shards[ago] = c, shards
		inProcess++
	}
	mirrorAnswered.Add(float64(inProcess))
	mirrorAsked.Add(float64(window - 1 - inProcess))
}

// sifting is what asking copies needs beside the answer.
type sifting struct {
	pairs   []hashPair // of the members, where they were still unseen
	unseen  []int32
	scratch []int32
}

var siftings = sync.Pool{New: func() any { return new(sifting) }}

// markCopied asks the copy of one day about what no later day has.
func (q *question) markCopied(verdicts []dedup.Verdict, ago int) {
	s := q.sifting
	if s == nil {
		s = siftings.Get().(*sifting)
		s.hash(q.members, verdicts)
		q.sifting = s
	}
	s.unseen = s.unseen[:0]
	for i, v := range verdicts {
		if v == dedup.Unseen {
			s.unseen = append(s.unseen, int32(i))
		}
	}
	s.scratch = append(s.scratch[:0], s.unseen...)
	q.copies[ago].sift(s.pairs, s.unseen, s.scratch, func(i int32) { verdicts[i] = dedup.SeenDaysAgo(ago) })
}

// hash places every member that is still unseen; once a check, for all days.
func (s *sifting) hash(members []string, verdicts []dedup.Verdict) {
	if cap(s.pairs) < len(members) {
		s.pairs = make([]hashPair, len(members))
	}
	s.pairs = s.pairs[:len(members)]
	for i, v := range verdicts {
		if v == dedup.Unseen {
			s.pairs[i] = hashMember(members[i])
		}
	}
}

// done gives back what the copies needed.
func (q *question) done() {
	if q.sifting != nil {
		siftings.Put(q.sifting)
		q.sifting = nil
	}
}
