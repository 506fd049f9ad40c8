package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
)

// Each round asks for roundGrowth times as many candidates as the one before: to
// a source, each request is expensive, and a reader who has seen thousands is to be led past
// them in a few rounds. They are checked a portion at a time, so that a session,
// which holds what is left of the last portion, stays small.
const (
	roundGrowth  = 4
	largestRound = 10_000 // candidates, as recall.n at most
	portion      = 2000   // candidates; the first round's, where those are more
)

// rounds goes through recall and dedup with one origin, one portion at least, until want
// candidates can be placed, recall has no more, or the time is up.
type rounds struct {
	*scratch
	wanted
	stages *stages
	supply supply
	begun  time.Time
	atOnce int              // candidates of a portion
	rest   []feed.Candidate // recalled, and not checked yet

	number   int              // of the round, from 1
	recalled []feed.Candidate // this portion, all of it
	verdicts []dedup.Verdict  // one for each fresh one of it
	last     bool             // recall has no more
	late     bool             // recall has more, but the time is up
	again    again            // what may fill a session where recall has nothing unseen left
	found    chosen           // so far, its list of the first arranged survivors
	arranged int
	err      error
}

// scratch holds temporary data of the rounds of one choice. It is pooled.
type scratch struct {
	proposed  map[string]struct{} // groups of this and earlier rounds
	fresh     []feed.Candidate    // of this portion, in order, those of groups not met before
	refs      []feed.Ref          // their refs
	keys      []string            // what those are remembered by
	survivors []feed.Candidate    // of all portions, what nothing holds back
	builder   pageBuilder
}

var scratches = sync.Pool{New: func() any {
	return &scratch{proposed: make(map[string]struct{}, 1024)}
}}

// keptProposed is how many groups a scratch that is kept may have met.
const keptProposed = 4096

// release gives the scratch back without what it held of recall's answers, in
// earlier rounds too. One that a reader with many rounds has made large is not
// kept: clearing its set costs every refresh after it.
func (s *scratch) release() {
	s.builder.release()
	if len(s.proposed) > keptProposed {
		return
	}
	clear(s.proposed)
	clear(s.fresh[:cap(s.fresh)])
	clear(s.refs[:cap(s.refs)])
	clear(s.keys[:cap(s.keys)])
	clear(s.survivors[:cap(s.survivors)])
	s.survivors = s.survivors[:0]
	scratches.Put(s)
}

// wanted is the goal of the rounds.
type wanted struct {
	agent  string
	feed   feed.Name
	query  feed.Query
	want   int           // candidates that can be placed
	page   int           // size of the pages they are placed on
	budget time.Duration // no portion is begun after it
}

func (s *stages) rounds(w wanted) rounds {
	return rounds{
		scratch: scratches.Get().(*scratch), wanted: w, stages: s,
		supply: s.supply(&w), again: s.again(), begun: s.e.cfg.Clock(),
	}
}

// next checks the next portion, recalled where none is left; false: it is the end, or failed.
func (r *rounds) next(ctx context.Context) bool {
	if r.err != nil || r.last || r.late || r.enough() {
		return false
	}
	if len(r.rest) == 0 {
		err := r.recall(ctx)
		if down(ctx, err) && len(r.survivors) > 0 { // what earlier rounds have brought is a page
			r.found.lacks |= lacksRecall
			r.late = true
			return false
		}
		if r.err = err; err != nil {
			return false
		}
	}
	n := min(len(r.rest), r.atOnce)
	r.recalled, r.rest = r.rest[:n], r.rest[n:]
	r.take(r.recalled)
	if r.err = r.check(ctx); r.err != nil {
		return false
	}
	if r.stages.counted {
		countVerdicts(r.verdicts)
	}
	r.last = len(r.rest) == 0 && r.supply.exhausted()
	r.late = !r.last && r.stages.e.cfg.Clock().Sub(r.begun) >= r.budget
	return true
}

func (r *rounds) recall(ctx context.Context) error {
	ctx, end := r.stages.enter(ctx, recallStage)
	defer end()
	got, err := r.supply.ask(ctx, r)
	r.rest = ofOthers(got, r.agent)
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

// ofOthers are the candidates that are not the agent's own: those stand in their timeline
// and in no feed of theirs. The list may be shared, so it stays as it is.
func ofOthers(candidates []feed.Candidate, agent string) []feed.Candidate {
	own := func(c feed.Candidate) bool { return c.By(agent) }
	if !slices.ContainsFunc(candidates, own) {
		return candidates
	}
	return slices.DeleteFunc(slices.Clone(candidates), own)
}

// take makes a portion's candidates the fresh ones, dropping groups that an
// earlier round or a better candidate has proposed already. What is promoted takes no
// group from other sources: the blend places it once, see [sourceQueues].
func (s *scratch) take(candidates []feed.Candidate) {
	s.fresh, s.refs = s.fresh[:0], s.refs[:0]
	for _, c := range candidates {
		group := c.Group
		if c.Source == promotedName {
			group = feed.GivenMark + group // in the alphabet of no group
		}
		if _, again := s.proposed[group]; again {
			continue
		}
		s.proposed[group] = struct{}{}
		s.fresh = append(s.fresh, c)
		s.refs = append(s.refs, feed.Ref{ID: c.ID, Group: c.Group})
	}
	s.keys = feed.AppendKeys(s.keys[:0], s.refs)
}

// check asks what the agent has been shown of the portion. While the dedup store
// is down and the engine fails open, only this process's memory is asked.
func (r *rounds) check(ctx context.Context) error {
	s := r.stages
	inside, end := s.enter(ctx, dedupStage)
	checked, err := s.e.stores.Seen.Check(inside, r.agent, r.keys, s.at())
	end()
	blind := s.e.failOpen.allows(ctx, err)
	switch {
	case blind:
		r.found.lacks |= lacksDedup
		checked = dedup.Checked{Verdicts: make([]dedup.Verdict, len(r.keys))}
	case err != nil:
		return err
	}
	s.e.failOpen.served.mark(r.agent, r.keys, checked.Verdicts, s.e.cfg.RecordServed || blind, s.e.cfg.Clock())
	if r.number == 1 {
		r.found.checkedAt, r.found.stale = checked.At, checked.Stale
	}
	r.verdicts = byRef(r.refs, checked.Verdicts, latest)
	for i := range r.fresh {
		c := &r.fresh[i]
		if r.verdicts[i] == dedup.Unseen {
			r.survivors = append(r.survivors, *c)
			continue
		}
		source := feed.SourceScore
		if r.feed == feed.HomeFeed {
			source = homeSource(c.Source)
		}
		if source != feed.SourcePromoted { // that comes once in a window
			r.again.add(c, source, r.verdicts[i])
		}
	}
	return nil
}

// enough reports whether as many as are wanted can be placed, without what was set aside.
func (r *rounds) enough() bool {
	if len(r.survivors) < r.want || !r.supply.enough(r.survivors) {
		return false
	}
	r.arrange()
	return r.builder.proper >= r.want
}

// arrange makes the list that pages are built from, of all candidates that
// survived. Rules about what comes beside what belong here, such as the blending
// of sources or quotas: a refresh, a silent one and an explanation all go by it.
func (r *rounds) arrange() {
	if r.found.ranked == nil || r.arranged != len(r.survivors) {
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
	if r.last && r.found.lacks == 0 {
		r.found.again, r.found.earlier = r.again.list()
	}
	return r.found, nil
}

// byRef merges, in place, the values of each ref's keys: that of its group and that of its id.
func byRef[T any](refs []feed.Ref, values []T, merge func(group, id T) T) []T {
	if len(refs) == len(values) { // each has one key
		return values
	}
	out, next := values[:0], 0
	for _, r := range refs {
		v := values[next]
		if next++; r.ID != r.Group {
			v = merge(v, values[next])
			next++
		}
		out = append(out, v)
	}
	return out
}
