package memory

import (
	"context"
	"fmt"
	"sync"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/terms"
	"github.com/freshet/freshet/recall"
)

var walkers = sync.Pool{New: func() any { return new(walker) }}

// Recall implements [recall.Source]. Its only errors are those of ctx and
// [recall.ErrBadCursor]. The origin counts in whole seconds, as items' times do.
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
	w.top.reset(views, q.N+1) // one more, to know whether there is another round
	for i := range views {
		if err := w.walk(ctx, i, &views[i]); err != nil {
			return recall.Result{}, fmt.Errorf("recall from memory: %w", err)
		}
	}
	w.top.finish()
	return w.result(q.N), nil
}

// result copies the best out of the walker.
func (w *walker) result(n int) recall.Result {
	best := w.top.kept
	more := len(best) > n
	if more {
		best = best[:n]
	}
	out := recall.Result{Candidates: make([]feed.Candidate, len(best))}
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

// release gives the walker back without what it held of the index and the
// query, which would otherwise outlive them.
func (w *walker) release() {
	w.view, w.counted, w.top.views, w.plan.query = nil, nil, nil, nil
	w.plan.after, w.plan.mutedAuthors, w.plan.mutedItems, w.plan.mutedTags = nil, nil, nil, nil
	w.plan.langs, w.plan.lastLang = terms.Langs{}, ""
	clear(w.lists[:cap(w.lists)])
	clear(w.plan.gainers[:cap(w.plan.gainers)])
	clear(w.plan.lowerers[:cap(w.plan.lowerers)])
	clear(w.top.groups)
	walkers.Put(w)
}
