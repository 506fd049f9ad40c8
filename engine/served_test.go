package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

func TestServedKnowsDelivered(t *testing.T) {
	s := newServed(servedFor, servedBytes)
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

func TestServedExpiry(t *testing.T) {
	s := newServed(servedFor, servedBytes)
	a := []feed.Ref{refOf("a")}
	s.add("u_1", []string{"a"}, false, noon)
	s.add("u_1", []string{"b"}, false, noon.Add(servedFor))
	assert.Empty(t, s.unknown("u_1", a, true, noon.Add(2*servedFor-time.Minute)))
	assert.Equal(t, a, s.unknown("u_1", a, true, noon.Add(2*servedFor+time.Minute)))
	assert.Equal(t, []feed.Ref{refOf("b")}, s.unknown("u_1", []feed.Ref{refOf("b")}, true, noon.Add(9*servedFor)))
}

func TestServedBounded(t *testing.T) {
	s := newServed(servedFor, servedBytes)
	for from := 0; from < 5*servedKeys; from += 50 { // the limit on the number of one agent's keys
		s.add("u_0", numbered(from, from+50), false, noon)
	}
	left := s.unknown("u_0", []feed.Ref{refOf("doc_0"), refOf(fmt.Sprintf("doc_%d", 4*servedKeys)), refOf(fmt.Sprintf("doc_%d", 5*servedKeys-1))}, true, noon)
	assert.Equal(t, []feed.Ref{refOf("doc_0")}, left, "the latest are known")
	assert.LessOrEqual(t, s.bytes, servedAgent+2*8*2*servedKeys)

	s.most = 100_000 // the limit on the bytes of all agents
	for i := range 500 {
		s.add(fmt.Sprintf("u_%d", i), numbered(0, 100), false, noon)
	}
	assert.LessOrEqual(t, s.bytes, s.most)
	requireBooks(t, s)
	assert.Greater(t, s.agents.Len(), 50)
	doc := []feed.Ref{refOf("doc_1")}
	assert.Equal(t, doc, s.unknown("u_1", doc, true, noon), "who was not seen for longest is forgotten")
	assert.Empty(t, s.unknown("u_499", doc, true, noon))
}

func requireBooks(t *testing.T, s *served) {
	t.Helper()
	sum := 0
	for _, a := range s.agents.Values() {
		sum += a.size()
	}
	require.Equal(t, sum, s.bytes, "the books are right")
}

// TestServedOverMidnight checks that recently delivered items are known, whatever their number and
// the time of day.
func TestServedOverMidnight(t *testing.T) {
	s := newServed(servedFor, servedBytes)
	now := noon.Add(12*time.Hour - 10*time.Second)
	for i := range servedKeys + 1 {
		s.add("u_1", []string{fmt.Sprintf("doc_%d", i)}, true, now)
	}
	last := []feed.Ref{refOf(fmt.Sprintf("doc_%d", servedKeys-1)), refOf(fmt.Sprintf("doc_%d", servedKeys))}
	require.Empty(t, s.unknown("u_1", last, true, now))
	require.Empty(t, s.unknown("u_1", last, true, now.Add(20*time.Second)))
}

// TestServedByOtherCall checks that items which another call was already answered with do
// not count as first deliveries, at any position of a page of several steps.
func TestServedByOtherCall(t *testing.T) {
	step := func(own bool, ids ...string) hydrated {
		var h hydrated
		h.docs, h.refs = make([]feed.Doc, 0, 10), make([]feed.Ref, 0, 10)
		for _, id := range ids {
			h.docs, h.refs = append(h.docs, feed.Doc{ID: id}), append(h.refs, refOf(id))
		}
		if own {
			h.deliver()
		}
		return h
	}
	for name, steps := range map[string][]hydrated{
		"first":  {step(false, "a", "b"), step(true, "c"), step(false, "d")},
		"second": {step(true, "a"), step(false, "b"), step(true, "c", "d")},
	} {
		got := steps[0]
		for _, more := range steps[1:] {
			got.add(more)
		}
		want := map[string][]string{"first": {"c"}, "second": {"a", "c", "d"}}[name]
		assert.Equal(t, want, feed.IDs(got.firstRefs), name)
		assert.Equal(t, []string{"a", "b", "c", "d"}, feed.IDs(got.refs), name)
		assert.Len(t, got.first, len(want), name)
		for i, d := range got.docs {
			assert.Equal(t, got.refs[i].ID, d.ID, name)
		}
	}
}

// TestServedFreesExpiredBytes checks that expired generations free their bytes, whichever call
// finds them. So as many readers as fit remain known, however long the process runs.
func TestServedFreesExpiredBytes(t *testing.T) {
	const readers, keys = 40, 50
	s := newServed(servedFor, servedBytes)
	s.most = readers * (servedAgent + 2*8*2*keys) // fits all readers with two generations each
	agent := func(i int) string { return fmt.Sprintf("u_%d", i) }
	for round := range 60 { // a month
		now := noon.Add(time.Duration(round) * servedFor)
		for i := range readers {
			switch i % 4 { // the call that finds an expired generation
			case 1:
				s.unknown(agent(i), []feed.Ref{refOf("x")}, true, now)
			case 2:
				s.mark(agent(i), []string{"x"}, []dedup.Verdict{dedup.Unseen}, true, now)
			case 3:
				s.remove(agent(i), []string{"x"}, now)
			}
			requireBooks(t, s)
			s.add(agent(i), numbered(round*keys, (round+1)*keys), i%2 == 0, now)
			requireBooks(t, s)
		}
		latest := []feed.Ref{refOf(fmt.Sprintf("doc_%d", (round+1)*keys-1))}
		for i := range readers {
			require.Empty(t, s.unknown(agent(i), latest, true, now), "%s is forgotten in round %d", agent(i), round)
		}
	}
	later := noon.Add(100 * servedFor) // all generations have expired
	for i := range readers {
		s.unknown(agent(i), nil, true, later)
	}
	requireBooks(t, s)
	require.Equal(t, readers*servedAgent, s.bytes)
}
