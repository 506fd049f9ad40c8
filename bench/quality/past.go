package quality

import (
	"context"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/freshet/freshet/server/history"
	"github.com/freshet/freshet/signals/coread"
)

// lately is the period of the baseline "most popular".
const lately = 24 * time.Hour

// past holds the posts and reads up to a moment, for the baselines.
type past struct {
	*history.Past
	data       *Data
	reads      []readAt            // of the last day, oldest first
	readLately []int               // number of those by item
	interest   []history.Readers   // by item
	readers    []string            // who have read something, in the order of their first reads
	readBy     map[string][]string // ids of the items that each has read, the last one last
}

// pair is a reader and a group of items.
type pair struct{ reader, group string }

type readAt struct {
	at   int64
	item int
}

// halfLives are those of the baselines of decayed popularity.
var halfLives = []time.Duration{time.Hour, 6 * time.Hour, day, 7 * day}

func newPast(d *Data, window time.Duration) *past {
	return &past{
		Past: history.NewPast(d.items, window), data: d,
		readLately: make([]int, len(d.items)), interest: make([]history.Readers, len(d.items)), readBy: map[string][]string{},
	}
}

// isFirst reports whether the act is the first of its reader on the item's group.
func (p *past) isFirst(e *event) bool { return p.IsFirst(e.reader, e.item) }

func (p *past) of(e *event) pair { return pair{e.reader, p.data.items[e.item].Group()} }

// add records an act.
func (p *past) add(e *event) {
	if !p.isFirst(e) {
		return
	}
	p.Add(e.reader, e.item)
	if e.reads() {
		p.reads = append(p.reads, readAt{e.at, e.item})
		p.readLately[e.item]++
		p.interest[e.item].Add(e.at, halfLives)
		if p.readBy[e.reader] == nil {
			p.readers = append(p.readers, e.reader)
		}
		p.readBy[e.reader] = append(p.readBy[e.reader], p.data.items[e.item].ID)
	}
}

// moment returns the items that a reader could be shown, as [history.Past.Candidates] does.
func (p *past) moment(reader string, at int64) *moment {
	for len(p.reads) > 0 && p.reads[0].at < at-int64(lately.Seconds()) {
		p.readLately[p.reads[0].item]--
		p.reads = p.reads[1:]
	}
	return &moment{at: at, reader: reader, past: p, candidates: p.Candidates(reader, at, nil)}
}

// readsOfAnother returns the last reads of another reader, the newest first: always the same one for a
// reader and a moment.
func (p *past) readsOfAnother(m *moment) []string {
	if len(p.readers) == 0 {
		return nil
	}
	hash := fnv.New64a()
	hash.Write([]byte(m.reader))
	random := rand.New(rand.NewPCG(hash.Sum64(), uint64(m.at)))
	other := p.readers[random.IntN(len(p.readers))]
	if other == m.reader {
		return nil
	}
	reads := slices.Clone(p.readBy[other][max(0, len(p.readBy[other])-coread.ReadsAsked):])
	slices.Reverse(reads)
	return reads
}

// withReads returns a context by which the engine takes these reads for those of the reader.
func withReads(ctx context.Context, reads []string) context.Context {
	ctx, ahead := coread.Carry(ctx, "")
	ahead.Answer(reads)
	return ctx
}
