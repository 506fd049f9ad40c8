package mirror

import (
	"sync"

	"github.com/freshet/freshet/dedup/redisbloom"
	"github.com/freshet/freshet/feed"
)

var _ redisbloom.PastDays = (*Mirror)(nil)

// Find implements [redisbloom.PastDays]. Each member is looked up in the latest
// day's copy first, and in older ones only while it is in none.
func (m *Mirror) Find(agent string, days []feed.Day, members []string) (out redisbloom.Found) {
	s := sievePool.Get().(*sieve)
	defer sievePool.Put(s)
	past, copied := 0, 0
	for i, day := range days {
		if day >= days[0] { // today, or tomorrow; even if the clock was set back to a day that was over
			continue
		}
		past++
		c, shards := m.find(agent, day)
		if c == nil {
			continue
		}
		if copied++; copied == 1 {
			out.Copies, out.In = make([]redisbloom.Copied, len(days)), make([]uint8, len(members))
			s.begin(members)
		}
		out.Copies[i] = redisbloom.Copied{Shards: shards, Partial: c.also}
		s.scratch = append(s.scratch[:0], s.left...)
		s.left = c.sift(s.pairs, s.left, s.scratch, func(at int32) { out.In[at] = uint8(i) })
	}
	answeredByMirror.Add(float64(copied))
	answeredByRedis.Add(float64(past - copied))
	return out
}

// sieve is the work space of one Find: the members' hashes, and which of them
// are in no copy yet.
type sieve struct {
	pairs   []hashPair
	left    []int32
	scratch []int32
}

var sievePool = sync.Pool{New: func() any { return new(sieve) }}

func (s *sieve) begin(members []string) {
	s.pairs, s.left = s.pairs[:0], s.left[:0]
	for i, member := range members {
		s.pairs, s.left = append(s.pairs, hashMember(member)), append(s.left, int32(i))
	}
}
