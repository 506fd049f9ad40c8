package memory

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/journal"
	"github.com/freshet/freshet/feed"
)

// Check implements [dedup.Checker]. It takes only the lock of the agent's pending set. Unless a delivery is an
// impression, groups that the client did not report must not be recorded, and only marks are stale.
func (s *Store) Check(ctx context.Context, agent string, groups []string, now time.Time) (dedup.Checked, error) {
	if err := ctx.Err(); err != nil {
		return dedup.Checked{}, err
	}
	if s.wentBack(now) {
		if err := s.follow(now); err != nil {
			return dedup.Checked{}, err
		}
	}
	out := dedup.Checked{Verdicts: make([]dedup.Verdict, len(groups))}
	// Check pending first: an impression enters a filter before it leaves the pending set, so in this
	// order it cannot be missed in between.
	s.pending.check(agent, groups, now.UnixMilli(), s.cfg.Served, &out)

	s.checkFilters(agent, groups, feed.DayOf(now), s.past(now), out.Verdicts)
	return out, nil
}

// past reports whether a check is about an earlier moment, as opposed to one after the clock was
// set back or one that took long.
func (s *Store) past(now time.Time) bool { return s.clock().Sub(now) > time.Minute }

// scratch holds temporary data for checking the filters.
type scratch struct {
	member []byte
	probes []probe
	ask    []int32 // indices of groups not found yet
	hits   []int32
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// checkFilters sets the verdicts of groups that are still Unseen, from the newest filter to the
// oldest.
func (s *Store) checkFilters(agent string, groups []string, today feed.Day, past bool, verdicts []dedup.Verdict) {
	sc := scratches.Get().(*scratch)
	defer scratches.Put(sc)
	sc.member = append(append(sc.member[:0], agent...), ':')
	prefix := len(sc.member)
	sc.probes, sc.ask = slices.Grow(sc.probes[:0], len(groups)), slices.Grow(sc.ask[:0], len(groups))
	for i, g := range groups {
		sc.member = append(sc.member[:prefix], g...)
		sc.probes = append(sc.probes, hashMember(sc.member))
		if verdicts[i] == dedup.Unseen {
			sc.ask = append(sc.ask, int32(i))
		}
	}
	for _, f := range *s.window.Load() {
		if s.outsideWindow(f.day, today) {
			break
		}
		if f.day > today && past {
			continue
		}
		// A filter of a later day counts as today's: the clock was set back.
		verdict := dedup.SeenDaysAgo(max(0, int(today-f.day)))
		for _, l := range f.all() {
			sc.hits = l.sift(sc.probes, append(sc.hits[:0], sc.ask...))
			for _, i := range sc.hits {
				verdicts[i] = verdict
			}
			if len(sc.hits) > 0 {
				sc.ask = slices.DeleteFunc(sc.ask, func(i int32) bool { return verdicts[i] != dedup.Unseen })
			}
		}
	}
}

// Pending implements [dedup.Claimer].
func (s *Store) Pending(ctx context.Context, agent string, groups []string, now time.Time) ([]bool, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.enter(now); err != nil {
		return nil, err
	}
	defer s.gate.RUnlock()
	sh := s.pending.lock(agent)
	defer sh.mu.Unlock()
	held, set := make([]bool, len(groups)), sh.agents[agent]
	for i, g := range groups {
		served, ok := set[g]
		held[i] = ok && s.pending.counts(served.at, now.UnixMilli())
	}
	return held, nil
}

// Claim implements [dedup.Claimer].
func (s *Store) Claim(ctx context.Context, agent string, groups []string, now time.Time) error {
	return s.take(ctx, agent, groups, now, now, false)
}

// AddShown implements [dedup.Claimer].
func (s *Store) AddShown(ctx context.Context, agent string, groups []string, at time.Time) error {
	return s.take(ctx, agent, groups, s.clock(), at, true)
}

// take makes groups pending that were served at the given time. Entries that still count and are in
// the current journal are not written to it again, unless they would end earlier after a restart.
func (s *Store) take(ctx context.Context, agent string, groups []string, now, at time.Time, held bool) error {
	if err := ctx.Err(); err != nil || len(groups) == 0 {
		return err
	}
	if err := s.enter(now); err != nil {
		return err
	}
	defer s.gate.RUnlock()
	sh := s.pending.lock(agent)
	defer sh.mu.Unlock()
	s.pending.sweep(sh, now.UnixMilli())
	ms, set, fresh := at.UnixMilli(), sh.agents[agent], make([]string, 0, len(groups))
	for _, g := range groups {
		served, ok := set[g]
		written := ok && served.day == s.today && s.pending.counts(served.at, ms)
		if !written || !s.cfg.Served && served.at < ms {
			fresh = append(fresh, g)
		}
	}
	// Journal before changing the set, so that a failure changes nothing.
	if err := s.append(journal.Entry{Kind: s.kind, At: ms, Agent: agent, Groups: fresh}); err != nil {
		return err
	}
	set = sh.of(agent)
	for _, g := range groups {
		set[g] = since{at: max(set[g].at, ms), day: s.today, held: held}
	}
	return nil
}

// Release implements [dedup.Claimer]. It ignores cancellation of ctx: groups that were not
// delivered must not count as seen.
func (s *Store) Release(_ context.Context, agent string, groups []string) error {
	return s.release(agent, groups, false)
}

// Forget implements [dedup.Store]. If a delivery is an impression, the journal is not changed: at
// the next start, a release would remove impressions that are in the filter.
func (s *Store) Forget(_ context.Context, agent string) error {
	return s.release(agent, nil, true)
}

// PendingOf lists the agent's pending set.
func (s *Store) PendingOf(_ context.Context, agent string) ([]string, error) {
	s.gate.RLock()
	defer s.gate.RUnlock()
	if s.closed {
		return nil, fmt.Errorf("%w: the dedup store is closed", dedup.ErrUnavailable)
	}
	sh := s.pending.lock(agent)
	defer sh.mu.Unlock()
	return slices.Sorted(maps.Keys(sh.agents[agent])), nil
}

// release removes groups from the agent's pending set, or all of them.
func (s *Store) release(agent string, groups []string, all bool) error {
	s.gate.RLock()
	defer s.gate.RUnlock()
	if s.closed {
		return fmt.Errorf("%w: the dedup store is closed", dedup.ErrUnavailable)
	}
	sh := s.pending.lock(agent)
	defer sh.mu.Unlock()
	set := sh.agents[agent]
	if all {
		groups = slices.Collect(maps.Keys(set))
	}
	noted, silent := make([]string, 0, len(groups)), []string(nil) // silent are not in the journal
	for _, g := range groups {
		switch served, ok := set[g]; {
		case !ok, served.held && !all:
		case s.cfg.Served && (all || served.day != s.today):
			// A claim of an earlier day is in an earlier journal: in the current one, the release would
			// cancel the next claim.
			silent = append(silent, g)
		default:
			noted = append(noted, g)
		}
	}
	if err := s.append(journal.Entry{Kind: journal.Released, At: s.clock().UnixMilli(), Agent: agent, Groups: noted}); err != nil {
		return err
	}
	sh.drop(agent, noted)
	sh.drop(agent, silent)
	return nil
}

// Record implements [dedup.Writer]. Impressions with a claim in the current journal are not written
// to it again.
func (s *Store) Record(ctx context.Context, batch []dedup.Impression, now time.Time) ([]dedup.Impression, error) {
	if err := ctx.Err(); err != nil {
		return batch, err
	}
	if len(batch) == 0 {
		return nil, nil
	}
	if err := s.enter(now); err != nil {
		return batch, err
	}
	defer s.gate.RUnlock()
	var entries []journal.Entry
	covered, open := batch, []dedup.Impression(nil)
	if s.dir != "" {
		covered, open, entries = s.split(batch, now.UnixMilli())
	}
	err := s.append(entries...)
	s.add(covered)
	if err != nil {
		return open, err
	}
	s.add(open)
	s.observe()
	return nil, nil
}

// split separates the impressions that are in the journal from those that are not, and makes one
// journal entry for each run of the latter with the same agent.
func (s *Store) split(batch []dedup.Impression, ms int64) (covered, open []dedup.Impression, entries []journal.Entry) {
	covered = make([]dedup.Impression, 0, len(batch))
	for len(batch) > 0 {
		run := runOf(batch)
		batch = batch[len(run):]
		e := journal.Entry{Kind: journal.Seen, At: ms, Agent: run[0].Agent}
		sh := s.pending.lock(e.Agent)
		held := sh.agents[e.Agent]
		for _, imp := range run {
			served, ok := held[imp.Group]
			inJournal := ok && s.cfg.Served && served.day == s.today
			if inJournal && s.pending.counts(served.at, ms) {
				covered = append(covered, imp)
			} else {
				open = append(open, imp)
				e.Groups = append(e.Groups, imp.Group)
			}
		}
		sh.mu.Unlock()
		if len(e.Groups) > 0 {
			entries = append(entries, e)
		}
	}
	return covered, open, entries
}

// runOf returns the longest prefix of the batch with one agent.
func runOf(batch []dedup.Impression) []dedup.Impression {
	n := 1
	for n < len(batch) && batch[n].Agent == batch[0].Agent {
		n++
	}
	return batch[:n]
}

// add adds impressions to today's filter. The gate must be held.
func (s *Store) add(batch []dedup.Impression) {
	f := s.current
	var buf []byte
	for _, imp := range batch {
		buf = f.addImpression(buf, imp.Agent, imp.Group)
	}
}

// ClearPending implements [dedup.Writer].
func (s *Store) ClearPending(_ context.Context, batch []dedup.Impression) error {
	var groups []string
	for len(batch) > 0 {
		run := runOf(batch)
		batch = batch[len(run):]
		groups = groups[:0]
		for _, imp := range run {
			groups = append(groups, imp.Group)
		}
		sh := s.pending.lock(run[0].Agent)
		sh.drop(run[0].Agent, groups)
		sh.mu.Unlock()
	}
	return nil
}
