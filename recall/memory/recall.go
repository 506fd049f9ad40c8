package memory

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"sync"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/terms"
	"github.com/freshet/freshet/recall"
)

var walkers = sync.Pool{New: func() any { return new(walker) }}

// Recall implements [recall.Source]. Its only errors are those of ctx and
// [recall.ErrBadCursor]. The origin is truncated to whole seconds, the resolution of items'
// times.
func (s *Source) Recall(ctx context.Context, q feed.Query) (recall.Result, error) {
	if err := ctx.Err(); err != nil {
		return recall.Result{}, fmt.Errorf("recall from memory: %w", err)
	}
	var after *cursor
	if q.After != "" {
		c, err := parseCursor(q.After)
		if err != nil {
			return recall.Result{}, err
		}
		after = &c
	}
	if q.N <= 0 {
		return recall.Result{}, nil
	}
	w := walkers.Get().(*walker)
	defer w.release()
	views := w.plan.take(s, &q)
	w.plan.after = after
	w.top.reset(views, q.N+1) // one more, to detect whether there is another round
	for i := range views {
		if err := w.walk(ctx, i, &views[i]); err != nil {
			return recall.Result{}, fmt.Errorf("recall from memory: %w", err)
		}
	}
	w.top.finish()
	return w.result(q.N, q.Buffer), nil
}

// result copies the best candidates out of the walker, into the buffer if they fit.
func (w *walker) result(n int, buffer []feed.Candidate) recall.Result {
	best := w.top.kept
	more := len(best) > n
	if more {
		best = best[:n]
	}
	if buffer == nil || cap(buffer) < len(best) {
		buffer = make([]feed.Candidate, len(best))
	}
	out := recall.Result{Candidates: buffer[:len(best)]}
	for i, e := range best {
		v := &w.top.views[e.view]
		out.Candidates[i] = feed.Candidate{
			ID: v.ids.at(e.item), Group: v.group(e.item), Source: "memory", UpdateTime: e.time, Score: e.score,
			Traits: v.traits(e.item),
		}
	}
	if more {
		last := out.Candidates[n-1]
		out.Next = cursor{score: last.Score, time: last.UpdateTime, id: last.ID}.String()
	}
	return out
}

// release returns the walker to the pool. It clears references to the index and the query,
// which the pool would otherwise keep alive.
func (w *walker) release() {
	w.view, w.counted, w.top.views, w.plan.query = nil, nil, nil, nil
	w.plan.after, w.plan.mutedAuthors, w.plan.mutedItems, w.plan.mutedTags = nil, nil, nil, nil
	w.plan.mutedWords, w.plan.filter = nil, nil
	w.only = list{}
	w.plan.langs, w.plan.lastLang = terms.Langs{}, ""
	clear(w.lists[:cap(w.lists)])
	clear(w.plan.gainers[:cap(w.plan.gainers)])
	clear(w.plan.lowerers[:cap(w.plan.lowerers)])
	clear(w.top.groups)
	walkers.Put(w)
}

// cursor is the position of a round's last candidate in the order of all candidates; the next
// round starts after it.
type cursor struct {
	score float32
	time  int64
	id    string
}

// cursorVersion is the first byte of a cursor, so that cursors of another source or of an older
// format are rejected.
const cursorVersion = 'm'

const cursorHead = 1 + 4 + 8 // version, score, time; the id follows

func (c cursor) String() string {
	b := make([]byte, 0, cursorHead+len(c.id))
	b = append(b, cursorVersion)
	b = binary.BigEndian.AppendUint32(b, math.Float32bits(c.score))
	b = binary.BigEndian.AppendUint64(b, uint64(c.time))
	b = append(b, c.id...)
	return base64.RawURLEncoding.EncodeToString(b)
}

func parseCursor(s string) (cursor, error) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(b) <= cursorHead || b[0] != cursorVersion {
		return cursor{}, fmt.Errorf("%w: %.40q was not issued by the memory source; start again without a cursor", recall.ErrBadCursor, s)
	}
	c := cursor{
		score: math.Float32frombits(binary.BigEndian.Uint32(b[1:])),
		time:  int64(binary.BigEndian.Uint64(b[5:])),
		id:    string(b[cursorHead:]),
	}
	if !(c.score >= 0) {
		return cursor{}, fmt.Errorf("%w: its score is invalid; start again without a cursor", recall.ErrBadCursor)
	}
	return c, nil
}
