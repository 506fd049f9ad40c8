package prove

import (
	"context"
	"errors"
	"slices"
	"time"
)

// publish publishes a post.
func (r *run) publish(ctx context.Context, s step, p Post) error {
	if slices.Contains(r.lacks, Audiences) {
		p.Followers = false
	}
	m := r.model
	e := &entry{Post: p, published: span{r.now(), never}, deleted: span{never, never}}
	m.mu.Lock()
	m.entries[p.Key] = e
	m.order = append(m.order, p.Key)
	m.mu.Unlock()
	var ahead time.Duration
	tries := r.persist(ctx, s, func(ctx context.Context, server int) error {
		ahead = max(ahead, time.Duration(r.ahead[server].Load()))
		return r.sys.Publish(ctx, server, p)
	})
	last := tries[len(tries)-1]
	r.journal.write(s, "publish "+p.Key+audience(p)+" by "+p.Author, tries, p.Author, p.Key)
	if last.err != nil {
		return last.err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	e.published.end, e.dated = last.span.end, last.span.end+ahead
	return nil
}

func audience(p Post) string {
	if p.Followers {
		return " for followers"
	}
	return ""
}

// delete deletes one of the author's posts, if there is one.
func (r *run) delete(ctx context.Context, s step) error {
	m := r.model
	m.mu.Lock()
	var mine []*entry
	for _, key := range m.order {
		e := m.entries[key]
		if e.Author == s.a && e.published.end != never && e.deleted.begin == never {
			mine = append(mine, e)
		}
	}
	if len(mine) == 0 {
		m.mu.Unlock()
		return nil
	}
	e := mine[int(s.pick*float64(len(mine)))]
	e.deleted.begin = r.now()
	m.mu.Unlock()
	tries := r.persist(ctx, s, func(ctx context.Context, server int) error { return r.sys.Delete(ctx, server, s.a, e.Key) })
	last := tries[len(tries)-1]
	r.journal.write(s, "delete "+e.Key+" by "+s.a, tries, s.a, e.Key)
	if last.err == nil {
		m.mu.Lock()
		e.deleted.end = last.span.end
		m.mu.Unlock()
	}
	return last.err
}

// relate changes a follow or a block, unless it is as wanted already, or another change between
// the two agents is under way.
func (r *run) relate(ctx context.Context, s step) error {
	needs := Follows
	if s.kind == block || s.kind == unblock {
		needs = Blocks
	}
	if slices.Contains(r.lacks, needs) {
		return nil
	}
	two := pair{min(s.a, s.b), max(s.a, s.b)}
	if _, busy := r.pairs.LoadOrStore(two, true); busy {
		return nil
	}
	defer r.pairs.Delete(two)
	changed := r.changing(s)
	if changed == nil {
		return nil
	}
	on := s.kind == follow || s.kind == block
	call := r.sys.Follow
	if needs == Blocks {
		call = r.sys.Block
	}
	tries := r.persist(ctx, s, func(ctx context.Context, server int) error { return call(ctx, server, s.a, s.b, on) })
	last := tries[len(tries)-1]
	r.journal.write(s, s.a+" "+string(s.kind)+"s "+s.b, tries, s.a, s.b)
	if last.err == nil || errors.Is(last.err, ErrRefused) {
		r.model.mu.Lock()
		defer r.model.mu.Unlock()
		for _, c := range changed {
			c.end(last.span.end, last.err != nil)
		}
		return last.err
	}
	r.pairs.Store(pair{two[0], two[1] + " "}, true) // its outcome stays unknown: see changing
	return last.err
}

// changing notes the begin of a change in the model, and returns the relations that it changes: nil
// if there is nothing to change. A block ends the follows in both directions.
func (r *run) changing(s step) (changed []*relation) {
	if _, unknown := r.pairs.Load(pair{min(s.a, s.b), max(s.a, s.b) + " "}); unknown {
		return nil
	}
	m := r.model
	m.mu.Lock()
	defer m.mu.Unlock()
	now := r.now()
	is := func(x *relation) bool { on, _ := x.at(now); return on }
	here, there := of(m.blocks, s.a, s.b), of(m.blocks, s.b, s.a)
	mine, theirs := of(m.follows, s.a, s.b), of(m.follows, s.b, s.a)
	switch s.kind {
	case follow, unfollow:
		if is(here) || is(there) || is(mine) == (s.kind == follow) {
			return nil
		}
		changed = []*relation{mine}
	case block, unblock:
		if is(here) == (s.kind == block) {
			return nil
		}
		changed = []*relation{here}
		if s.kind == block {
			changed = append(changed, slices.DeleteFunc([]*relation{mine, theirs}, func(x *relation) bool { return !is(x) })...)
		}
	}
	for i, x := range changed {
		x.begin(now, i == 0 && (s.kind == follow || s.kind == block))
	}
	return changed
}
