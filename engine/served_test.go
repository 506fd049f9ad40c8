package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
)

func refOf(id string) feed.Ref { return feed.Ref{ID: id, Group: id} }

func numbered(from, to int) []string {
	var keys []string
	for i := from; i < to; i++ {
		keys = append(keys, fmt.Sprintf("doc_%d", i))
	}
	return keys
}

func TestServedKnowsWhatWasHandedOut(t *testing.T) {
	s := newServed()
	grouped := feed.Ref{ID: "doc", Group: "story"}
	s.add("u_1", feed.Keys([]feed.Ref{refOf("a"), grouped}), false, noon)
	s.add("u_1", []string{"b"}, true, noon)
	all := []feed.Ref{refOf("a"), refOf("b"), refOf("c"), refOf("doc"), {ID: "other", Group: "story"}, {ID: "doc", Group: "new"}}

	assert.Equal(t, []feed.Ref{refOf("c")}, s.unknown("u_1", all, true, noon))
	assert.Equal(t, []feed.Ref{all[0], all[2], all[3], all[4], all[5]}, s.unknown("u_1", all, false, noon), "only what nothing else knows of")
	assert.Equal(t, all, s.unknown("u_2", all, true, noon))

	verdicts := []dedup.Verdict{dedup.Unseen, dedup.Unseen, dedup.SeenDaysAgo(1), dedup.Unseen}
	s.mark("u_1", []string{"a", "c", "a", "b"}, verdicts, true, noon)
	assert.Equal(t, []dedup.Verdict{dedup.Pending, dedup.Unseen, dedup.SeenDaysAgo(1), dedup.Pending}, verdicts)

	s.remove("u_1", []string{"a", "b", "nothing"}, noon)
	assert.Equal(t, all[:3], s.unknown("u_1", all[:3], true, noon))

	s.add("u_1", []string{"b"}, true, noon)
	s.add("u_1", []string{"b"}, false, noon)
	assert.Equal(t, all[1:2], s.unknown("u_1", all[1:2], false, noon), "it is in a filter by now")
}

func TestServedForgetsInTime(t *testing.T) {
	s := newServed()
	a := []feed.Ref{refOf("a")}
	s.add("u_1", []string{"a"}, false, noon)
	s.add("u_1", []string{"b"}, false, noon.Add(servedFor))
	assert.Empty(t, s.unknown("u_1", a, true, noon.Add(2*servedFor-time.Minute)))
	assert.Equal(t, a, s.unknown("u_1", a, true, noon.Add(2*servedFor+time.Minute)))
	assert.Equal(t, []feed.Ref{refOf("b")}, s.unknown("u_1", []feed.Ref{refOf("b")}, true, noon.Add(9*servedFor)))
}

func TestServedIsBounded(t *testing.T) {
	s := newServed()
	for from := 0; from < 5*servedKeys; from += 50 { // of one agent, by number
		s.add("u_0", numbered(from, from+50), false, noon)
	}
	left := s.unknown("u_0", []feed.Ref{refOf("doc_0"), refOf(fmt.Sprintf("doc_%d", 4*servedKeys)), refOf(fmt.Sprintf("doc_%d", 5*servedKeys-1))}, true, noon)
	assert.Equal(t, []feed.Ref{refOf("doc_0")}, left, "the latest are known")
	assert.LessOrEqual(t, s.bytes, servedAgent+2*8*2*servedKeys)

	s.most = 100_000 // of all agents, by bytes
	for i := range 500 {
		s.add(fmt.Sprintf("u_%d", i), numbered(0, 100), false, noon)
	}
	assert.LessOrEqual(t, s.bytes, s.most)
	sum := 0
	for _, a := range s.agents.Values() {
		sum += a.size()
	}
	assert.Equal(t, sum, s.bytes, "the books are right")
	assert.Greater(t, s.agents.Len(), 50)
	doc := []feed.Ref{refOf("doc_1")}
	assert.Equal(t, doc, s.unknown("u_1", doc, true, noon), "who was not seen for longest is forgotten")
	assert.Empty(t, s.unknown("u_499", doc, true, noon))
}
