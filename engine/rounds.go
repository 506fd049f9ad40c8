package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine/arrange"
	"github.com/freshet/freshet/engine/degraded"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/signals/coread"
)

// Each round requests roundGrowth times as many candidates as the one before: each request is
// expensive for a source, and a reader who has seen thousands of items must get past them in a
// few rounds. Candidates are checked in portions, so that a session, which holds the rest of the
// last portion, stays small.
const (
	roundGrowth  = 4
	largestRound = 10_000 // candidates; the maximum of recall.n
	portion      = 2000   // candidates; more if the first round returns more
)

// rounds runs recall and dedup with one origin, for at least one portion, until want candidates
// can be placed, recall has no more, or the time is up.
type rounds struct {
	*scratch
	wanted
	stages *stages
	supply supply
	begun  time.Time
	atOnce int              // candidates of a portion
	rest   []feed.Candidate // recalled but not checked yet

	number   int              // of the round, from 1
	recalled []feed.Candidate // all of this portion
	verdicts []dedup.Verdict  // one for each of fresh
	last     bool             // recall has no more
	late     bool             // recall has more, but the time is up
	young    []feed.Candidate // what exploration may draw besides; shared, so read-only
	again    map[string]bool  // of a named feed: the ids of survivors that other feeds have shown
	repeats  repeats          // items that may fill a session if recall has nothing unseen left
	found    chosen           // the result so far; its list covers the first arranged survivors
	arranged int
	// placeable are the candidates that were arranged: the survivors, and then those beyond.
	placeable []feed.Candidate
	err       error
}

// scratch holds temporary data of the rounds of one choice. It is pooled.
type scratch struct {
	buffer    []feed.Candidate    // for the candidates of a round
	proposed  map[string]struct{} // groups of this and earlier rounds
	fresh     []feed.Candidate    // candidates of this portion, in order, in groups not proposed before
	refs      []feed.Ref          // refs of fresh
	keys      []string            // the keys of refs
	survivors []feed.Candidate    // unseen candidates of all portions
	picked    []feed.Candidate    // of young, checked with the first portion
	beyond    []feed.Candidate    // the unseen ones of picked
	indices   []int32             // of young, for picking
	coRead    coRead
	builder   arrange.Builder
}

var scratches = sync.Pool{New: func() any {
	return &scratch{proposed: make(map[string]struct{}, 1024)}
}}

// keptProposed is the maximum number of groups in a scratch that returns to the pool.
const keptProposed = 4096

// release returns the scratch to the pool without references to recall's answers, of earlier
// rounds too. It drops one that grew large for a reader with many rounds: clearing its set would
// slow every later refresh.
func (s *scratch) release() {
	s.builder.Release()
	s.coRead.release()
	if len(s.proposed) > keptProposed {
		return
	}
	clear(s.proposed)
	clear(s.buffer[:cap(s.buffer)])
	clear(s.fresh[:cap(s.fresh)])
	clear(s.refs[:cap(s.refs)])
	clear(s.keys[:cap(s.keys)])
	clear(s.survivors[:cap(s.survivors)])
	clear(s.picked[:cap(s.picked)])
	clear(s.beyond[:cap(s.beyond)])
	s.survivors, s.picked, s.beyond = s.survivors[:0], s.picked[:0], s.beyond[:0]
	scratches.Put(s)
}

// wanted is the goal of the rounds.
type wanted struct {
	agent  string
	feed   feed.Name
	query  feed.Query
	want   int           // candidates that can be placed
	page   int           // size of the pages they are placed on
	budget time.Duration // no portion starts after it
	since  arrivedSince
	ahead  *coread.Ahead // may have the agent's last reads
}

func (s *stages) rounds(w wanted) rounds {
	return rounds{
		scratch: scratches.Get().(*scratch), wanted: w, stages: s,
		supply: s.supply(&w), repeats: s.newRepeats(w.feed), begun: s.cfg.Clock(),
	}
}

// next checks the next portion, and recalls if none is left. It returns false at the end or on
// failure.
func (r *rounds) next(ctx context.Context) bool {
	ended := r.last || r.late
	if r.err != nil || ended || r.enough() {
		return false
	}
	if len(r.rest) == 0 {
		err := r.recall(ctx)
		if down(ctx, err) && len(r.survivors) > 0 { // the candidates of earlier rounds make a page
			r.found.missing |= degraded.Recall
			r.late = true
			return false
		}
		r.err = err
		if err != nil {
			return false
		}
	}
	n := min(len(r.rest), r.atOnce)
	r.recalled, r.rest = r.rest[:n], r.rest[n:]
	r.take(r.recalled)
	r.pickYoung()
	r.err = r.check(ctx)
	if r.err != nil {
		return false
	}
	if r.stages.counted {
		countVerdicts(r.verdicts)
	}
	r.last = len(r.rest) == 0 && r.supply.exhausted()
	r.late = !r.last && r.stages.cfg.Clock().Sub(r.begun) >= r.budget
	return true
}

func (r *rounds) recall(ctx context.Context) error {
	ctx, timed := r.stages.enter(ctx, recallStage)
	defer timed.end()
	got, err := r.supply.ask(ctx, r)
	r.rest = r.since.only(ofOthers(got, r.agent))
	if err != nil {
		return err
	}
	if r.number == 0 {
		r.atOnce = max(portion, len(r.rest))
	}
	r.query.N = max(r.query.N, min(roundGrowth*r.query.N, largestRound))
	r.number++
	return nil
}

// ofOthers returns the candidates that are not the agent's own: those appear in the agent's
// timeline and in none of their feeds. It does not modify the list, which may be shared.
func ofOthers(candidates []feed.Candidate, agent string) []feed.Candidate {
	own := func(c feed.Candidate) bool { return c.By(agent) }
	if !slices.ContainsFunc(candidates, own) {
		return candidates
	}
	return slices.DeleteFunc(slices.Clone(candidates), own)
}

// take moves the candidates of a portion into fresh, except those whose group an earlier round or
// a better candidate has proposed. Promoted candidates do not block their group for other
// sources: the blend places it once, see [arrange.Builder.Blend].
func (s *scratch) take(candidates []feed.Candidate) {
	s.fresh, s.refs = s.fresh[:0], s.refs[:0]
	for _, c := range candidates {
		group := c.Group
		if c.Source == promotedName {
			group = feed.GivenMark + group // no group starts with it
		}
		_, again := s.proposed[group]
		if again {
			continue
		}
		s.proposed[group] = struct{}{}
		s.fresh = append(s.fresh, c)
		s.refs = append(s.refs, feed.Ref{ID: c.ID, Group: c.Group})
	}
	s.keys = feed.AppendKeys(s.keys[:0], s.refs)
}

// check looks up which items of the portion the agent has been shown. While the dedup store is
// down and the engine fails open, it checks only this process's memory.
func (r *rounds) check(ctx context.Context) error {
	s := r.stages
	inside, timed := s.enter(ctx, dedupStage)
	wait := r.askNear(inside)
	keys := r.scopedKeys()
	checked, err := s.stores.Seen.Check(inside, r.agent, keys, s.at())
	wait()
	timed.end()
	blind := s.failOpen.allows(ctx, err)
	switch {
	case blind:
		r.found.missing |= degraded.Dedup
		checked = dedup.Checked{Verdicts: make([]dedup.Verdict, len(keys))}
	case err != nil:
		return err
	}
	s.failOpen.served.mark(r.agent, keys, checked.Verdicts, s.cfg.RecordServed || blind, s.cfg.Clock())
	if r.number == 1 {
		r.found.checkedAt, r.found.stale = checked.At, checked.Stale
	}
	verdicts := r.ofFeed(checked.Verdicts)
	r.verdicts = verdicts[:len(r.fresh)]
	for i, v := range verdicts[len(r.fresh):] {
		if v == dedup.Unseen {
			r.beyond = append(r.beyond, r.picked[i])
		}
	}
	next := 0
	for i := range r.fresh {
		c := &r.fresh[i]
		r.coRead.keepNear(&next, r.isScored(c), r.verdicts[i] == dedup.Unseen)
		if r.verdicts[i] == dedup.Unseen {
			if r.supply.admits(c) {
				r.survivors = append(r.survivors, *c)
			}
			continue
		}
		source := feed.SourceScore
		if r.feed == feed.HomeFeed {
			source = arrange.HomeSource(c.Source)
		}
		if source != feed.SourcePromoted { // promoted items come once in a window
			r.repeats.add(c, source, r.verdicts[i])
		}
	}
	return nil
}

// enough reports whether want candidates can be placed without those set aside.
func (r *rounds) enough() bool {
	if len(r.survivors) < r.want || !r.supply.enough(r.survivors) {
		return false
	}
	r.arrange()
	return r.builder.Regular() >= r.want
}

// arrange builds the list that pages are taken from, of all survivors. Rules about the order and
// mix of items belong here, such as blending sources or quotas: it serves refreshes, silent
// refreshes and explanations.
func (r *rounds) arrange() {
	if r.found.ranked == nil || r.arranged != len(r.survivors) {
		r.placeable = r.survivors
		r.found.ranked = r.supply.arrange(r)
		r.arranged = len(r.survivors)
	}
}

// chosen returns the result of the rounds.
func (r *rounds) chosen() (chosen, error) {
	if r.err != nil {
		return chosen{}, r.err
	}
	r.arrange()
	if r.last && r.found.missing&^degraded.CoReaders == 0 {
		r.found.repeats, r.found.earlier = r.repeats.list()
	}
	return r.found, nil
}

// byRef merges, in place, the values of each ref's keys: those of its group and of its id.
func byRef[T any](refs []feed.Ref, values []T, merge func(group, id T) T) []T {
	if len(refs) == len(values) { // each has one key
		return values
	}
	out, next := values[:0], 0
	for _, r := range refs {
		v := values[next]
		next++
		if r.ID != r.Group {
			v = merge(v, values[next])
			next++
		}
		out = append(out, v)
	}
	return out
}
