package engine

import (
	"context"
	"time"

	"github.com/freshet/freshet/engine/arrange"
	"github.com/freshet/freshet/engine/degraded"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/internal/safego"
	"github.com/freshet/freshet/signals/coread"
)

// CoReaders knows which items the same people read. [coread.Buffer] implements it.
type CoReaders interface {
	// Acted counts what an agent reads, each item once even if repeated. The agent and the time of the
	// acts are ignored. It must not block: without room at the moment it returns false and accepts
	// none of them; a retry is harmless.
	Acted(agent string, acts []coread.Act, now time.Time) bool
	// Reads, Near and Related behave as in [coread.Store].
	Reads(ctx context.Context, agent string, into []string) ([]string, error)
	Near(ctx context.Context, reads, candidates []string, now time.Time, into []coread.Nearness) ([]coread.Nearness, error)
	Related(ctx context.Context, item string, now time.Time) ([]coread.Entry, error)
	// Forget deletes the agent's last reads.
	Forget(ctx context.Context, agent string) error
	// Remote reports whether each call is a round trip, so that it is worth to make it while others
	// are made.
	Remote() bool
}

// coRead holds the nearness of the candidates of one choice. If the store fails, the candidates are
// ranked without it, and the answer lacks [degraded.CoReaders].
type coRead struct {
	asked bool
	err   error // of the last reads
	reads []string
	ids   []string          // of the candidates asked about
	fresh []coread.Nearness // of these
	near  []coread.Nearness // of each survivor
	mean  float64           // of the factors of the survivors
	some  bool              // the scores of the survivors change

	factors []float32        // of the survivors' scores
	scored  []feed.Candidate // the survivors with their new scores
	keys    []uint64
}

// release keeps the memory without references.
func (c *coRead) release() {
	clear(c.reads[:cap(c.reads)])
	clear(c.ids[:cap(c.ids)])
	clear(c.scored[:cap(c.scored)])
	*c = coRead{
		reads: c.reads[:0], ids: c.ids[:0], fresh: c.fresh[:0], near: c.near[:0],
		factors: c.factors[:0], scored: c.scored[:0], keys: c.keys[:0],
	}
}

// coReads reports whether co-readers count in a ranking.
func (s *stages) coReads(r *feed.Ranking) bool { return s.stores.CoReaders != nil && r.CoRead.On() }

// readsAhead asks for an agent's last reads beside what is read next, if that saves a round trip and a
// ranking in force uses them: that of the agent is not known yet.
func (s *stages) readsAhead(ctx context.Context, agent string) (context.Context, *coread.Ahead) {
	if s.stores.CoReaders == nil || !s.stores.CoReaders.Remote() || s.cfg.CoReads != nil && !s.cfg.CoReads() {
		return ctx, nil
	}
	return coread.Carry(ctx, agent)
}

// lastReads returns an agent's last reads, which ahead may have.
func (s *stages) lastReads(ctx context.Context, agent string, ahead *coread.Ahead, into []string) ([]string, error) {
	reads, ok := ahead.Reads()
	if ok {
		return append(into, reads...), nil
	}
	reads, err := s.stores.CoReaders.Reads(ctx, agent, into)
	if err != nil {
		return into, err
	}
	return reads, nil
}

// askNear starts to ask how near the candidates of a portion are, and returns a function that waits for
// the answer, [coRead.fresh].
func (r *rounds) askNear(ctx context.Context) (wait func()) {
	c := &r.coRead
	c.fresh = c.fresh[:0]
	if !r.stages.coReads(&r.query.Ranking) {
		return func() {}
	}
	if !c.asked {
		c.asked = true
		c.reads, c.err = r.stages.lastReads(ctx, r.agent, r.ahead, c.reads)
		r.lacksCoReaders(c.err)
	}
	c.ids = c.ids[:0]
	for i := range r.fresh {
		if r.isScored(&r.fresh[i]) {
			c.ids = append(c.ids, r.fresh[i].ID)
		}
	}
	if len(c.reads) == 0 || len(c.ids) == 0 {
		return func() {}
	}
	ask := func() error {
		near, err := r.stages.stores.CoReaders.Near(ctx, c.reads, c.ids, r.query.Origin, c.fresh)
		if err == nil {
			c.fresh = near
		}
		return err
	}
	if !r.stages.stores.CoReaders.Remote() {
		r.lacksCoReaders(ask())
		return func() {}
	}
	done := make(chan error, 1)
	go func() { done <- safego.Run(ask) }()
	return func() { r.lacksCoReaders(<-done) }
}

// lacksCoReaders marks the answer as degraded after an error of the store.
func (r *rounds) lacksCoReaders(err error) {
	if err != nil {
		r.found.missing |= degraded.CoReaders
	}
}

// isScored reports whether co-readers change the score of a candidate: of home's sources only
// discovery's are scored by recall.
func (r *rounds) isScored(c *feed.Candidate) bool {
	return r.feed != feed.HomeFeed || arrange.HomeSource(c.Source) == feed.SourceDiscovery
}

// keepNear keeps the nearness of a candidate that survives, the next of those that were asked about if
// co-readers change its score.
func (c *coRead) keepNear(next *int, isScored, survives bool) {
	near := coread.Nearness{}
	if isScored && len(c.fresh) > 0 {
		near = c.fresh[*next]
		*next++
	}
	if survives {
		c.near = append(c.near, near)
	}
}

// applyCoRead returns the survivors with the scores that co-readers give them, best first if sorted is
// set. It returns the survivors themselves if no score changes.
func (r *rounds) applyCoRead(sorted bool) []feed.Candidate {
	c, by := &r.coRead, r.query.Ranking.CoRead
	if len(c.near) != len(r.survivors) || !r.stages.coReads(&r.query.Ranking) {
		return r.survivors
	}
	c.factors, c.mean = coread.Factors(by, c.near, c.factors)
	c.some = len(c.factors) > 0
	switch {
	case !c.some:
		return r.survivors
	case sorted:
		c.scored, c.keys = coread.AppendSorted(c.scored[:0], r.survivors, c.factors, c.keys)
		return c.scored
	}
	for i := range r.survivors {
		if !r.isScored(&r.survivors[i]) {
			c.factors[i] = 0
		}
	}
	c.scored = coread.AppendScaled(c.scored[:0], r.survivors, c.factors)
	return c.scored
}

// coRead returns a list of candidates, best first, as co-readers order them.
func (s *stages) coRead(ctx context.Context, q *feed.Query, reads []string, list []feed.Candidate) []feed.Candidate {
	if len(reads) == 0 || len(list) == 0 || !s.coReads(&q.Ranking) {
		return list
	}
	near, err := s.stores.CoReaders.Near(ctx, reads, convert.Each(list, func(c feed.Candidate) string { return c.ID }), q.Origin, nil)
	if err != nil || len(near) == 0 {
		return list
	}
	factors, _ := coread.Factors(q.Ranking.CoRead, near, nil)
	if len(factors) == 0 {
		return list
	}
	list, _ = coread.AppendSorted(nil, list, factors, nil)
	return list
}

// nearAhead starts to ask how near some items are to what an agent has read, and returns a function
// that waits for it, and returns the factor of each item; 1 if fewer than three people stand behind it.
func (e *Engine) nearAhead(ctx context.Context, agent string, ahead *coread.Ahead, q *feed.Query, ids []string) func() func(i int) float64 {
	none := func(int) float64 { return 1 }
	if !e.stages.coReads(&q.Ranking) {
		return func() func(int) float64 { return none }
	}
	done := make(chan []coread.Nearness, 1)
	go func() {
		var near []coread.Nearness
		_ = safego.Run(func() (err error) {
			reads, err := e.stages.lastReads(ctx, agent, ahead, nil)
			if err != nil || len(reads) == 0 {
				return err
			}
			near, err = e.stores.CoReaders.Near(ctx, reads, ids, q.Origin, nil)
			return err
		})
		done <- near
	}()
	return func() func(int) float64 {
		near := <-done
		if len(near) != len(ids) {
			return none
		}
		return func(i int) float64 {
			if near[i].People < coread.LeastPeople {
				return 1
			}
			return q.Ranking.CoRead.Factor(near[i].X, near[i].Readers)
		}
	}
}
