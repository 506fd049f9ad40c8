package engine

import (
	"cmp"
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine/arrange"
	"github.com/freshet/freshet/engine/degraded"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/recall"
	"github.com/freshet/freshet/signals/coread"
)

// Explain runs the stages of a refresh without changing anything: no session, no pending set, no
// impression, no count of answers. It queries the recall source directly, so it neither uses nor
// evicts recalls cached for readers; content that it reads may enter a cache.
//
// Errors wrap [feed.ErrBadID], [feed.ErrBadLimit], [feed.ErrInvalid], or a store's ErrUnavailable.
func (e *Engine) Explain(ctx context.Context, r ExplainRequest) (api.Explanation, error) {
	if err := r.Validate(); err != nil {
		return api.Explanation{}, err
	}
	if r.Ranking != nil {
		if err := e.cfg.check(*r.Ranking); err != nil {
			return api.Explanation{}, err
		}
	}
	r.Feed = r.Feed.Canonical()
	if e.cfg.Tracer != nil {
		var span trace.Span
		ctx, span = e.cfg.Tracer.Start(ctx, "explain", trace.WithAttributes(attribute.String("freshet.agent", r.Agent)))
		defer span.End()
	}
	x := &explaining{stages: e.stages, r: r, begun: e.cfg.Clock(), best: map[string]string{}, mentions: map[string]bool{}, near: map[string]coread.Nearness{}, ofDay: map[string]int{}, counts: map[api.Outcome]int{}}
	x.stages.recall, x.stages.enter, x.stages.counted = x.stages.direct, x.enter, false
	for _, step := range []func(context.Context) error{x.open, x.recall, x.page, x.factors, x.item} {
		if err := step(ctx); err != nil {
			return api.Explanation{}, err
		}
	}
	x.count()
	x.out.Times.Total = milliseconds(e.cfg.Clock().Sub(x.begun))
	return x.out, nil
}

// Ranking returns the agent's current ranking parameters and their variant.
func (e *Engine) Ranking(agent string) (variant string, r feed.Ranking) {
	run, r := e.cfg.Rankings.For(agent)
	variant, _ = feed.VariantOf(run)
	return variant, r
}

// explaining holds the state of one explanation.
type explaining struct {
	stages    stages
	r         ExplainRequest
	begun     time.Time
	now       time.Time // of the refresh
	query     feed.Query
	curve     *feed.DecayFunc
	out       api.Explanation
	best      map[string]string // group → the id of its best candidate
	found     chosen            // the list that the page is built from
	last      api.Explained     // the last candidate, listed or not
	exhausted bool              // recall had no more
	recalled  int               // candidates of recall; exploration may have drawn others
	unlisted  []api.Explained   // counted as seen and not listed; they may be repeated
	ofDay     map[string]int    // the number of candidates in the filter of each day
	counts    map[api.Outcome]int
	near      map[string]coread.Nearness // of the candidates of recall
	missing   degraded.Parts
	mentions  map[string]bool // posts that a refresh of home leaves out: see [mentions]
}

// listed is how many candidates are listed regardless of their outcome. After those, only
// survivors and the requested item are listed: otherwise an agent who has seen everything would
// get the whole catalog.
const listed = 2000

// Stages that only an explanation measures.
var (
	profileTime = stage{name: "profile"}
	factorsTime = stage{name: "factors"}
)

// enter is [Config.enter] for an explanation, which reports times in the answer, not in the
// metrics.
func (x *explaining) enter(ctx context.Context, s stage) (context.Context, running) {
	to := map[string]*float64{
		profileTime.name: &x.out.Times.Profile, recallStage.name: &x.out.Times.Recall, dedupStage.name: &x.out.Times.Dedup,
		hydrateStage.name: &x.out.Times.Hydrate, factorsTime.name: &x.out.Times.Factors,
	}[s.name]
	return x.stages.cfg.enter(ctx, stage{s.name, prometheus.ObserverFunc(func(seconds float64) {
		*to += milliseconds(time.Duration(seconds * float64(time.Second)))
	})})
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// open reads the inputs of a refresh, unless the request overrides them.
func (x *explaining) open(ctx context.Context) error {
	ctx, timed := x.enter(ctx, profileTime)
	defer timed.end()
	profile, err := x.stages.profile(ctx, x.r.Agent)
	if err != nil {
		return err
	}
	x.now = x.r.At
	if x.now.IsZero() {
		x.now = x.begun
	}
	var run string
	x.query, run, err = x.stages.query(x.r.Agent, x.r.Feed, profile)
	if err != nil {
		return err
	}
	x.query.Origin = x.stages.cfg.origin(x.now)
	if x.r.Ranking != nil {
		x.query.Ranking = *x.r.Ranking
	}
	ranking := x.query.Ranking
	x.query.Ranking = x.stages.cfg.asOf(x.query.Origin, ranking, &profile.Learned)
	x.curve = x.query.Ranking.Decay.Func()
	variant, _ := feed.VariantOf(run)
	x.out = api.Explanation{
		Agent: x.r.Agent, Feed: cmp.Or(x.r.Feed, feed.ForYou), Limit: x.r.Limit, Variant: variant, Ranking: ranking, Proposed: x.r.Ranking != nil,
		LeftOut: api.LeftOut(x.query.Ranking, ranking),
		Origin:  x.query.Origin, Candidates: make([]api.Explained, 0, x.query.N), Times: x.out.Times,
	}
	return nil
}

// recall runs the rounds as [stages.choose] does and records all candidates.
func (x *explaining) recall(ctx context.Context) (err error) {
	x.stages.at, x.stages.scores = func() time.Time { return x.now }, map[homeProposal]homeScore{}
	r := x.stages.rounds(wanted{agent: x.r.Agent, feed: x.r.Feed, query: x.query, want: x.r.Limit, page: x.r.Limit, budget: x.stages.cfg.RoundsFor})
	r.builder.Explain()
	defer r.release()
	for r.next(ctx) {
		x.noteNear(&r)
		x.take(&r)
	}
	if x.found, err = r.chosen(); err != nil {
		return err
	}
	x.coReaders(&r)
	if x.home() {
		x.rankHome()
	}
	x.exhausted, x.out.OutOfTime = r.last, r.late && len(x.found.ranked) < x.r.Limit
	if err := x.takeBeyond(ctx, r.placeable, r.builder.Places(), len(r.survivors)); err != nil {
		return err
	}
	x.place(r.placeable, r.builder.Places())
	x.placeRepeats()
	x.missing |= x.found.missing
	return nil
}

// take records the candidates of a portion with their verdicts.
func (x *explaining) take(r *rounds) {
	x.out.Counts.Rounds = r.number
	checked := 0
	for _, c := range r.recalled {
		n := x.explained(&c)
		if checked < len(r.fresh) && r.fresh[checked].ID == c.ID && r.fresh[checked].Source == c.Source {
			n.Outcome, n.Day = x.outcome(r.verdicts[checked])
			n.ShownBefore = r.again[c.ID]
			checked++
			if h, ok := r.supply.(*homeSupply); ok && n.Outcome == "" && h.mentions.leftOut(&c) {
				n.Outcome = api.OutcomeOutside
				x.mentions[n.ID] = true
			}
			x.best[c.Group] = c.ID
		} else {
			n.Outcome, n.Better = api.OutcomeGroup, x.best[c.Group]
		}
		if s, ok := x.stages.scores[homeProposal{arrange.HomeSource(c.Source), c.ID}]; ok { // scored by home, not by recall
			n.Base, n.Decay = s.Base, s.Decay
			n.Popularity = &api.Popularity{Value: s.reactions, Factor: s.Popularity}
			n.Affinity = &api.Affinity{N: s.n, Factor: s.Affinity}
		}
		if x.home() { // listed when all are known
			x.out.Candidates = append(x.out.Candidates, n)
		} else {
			x.list(n)
		}
	}
}

// explained counts a candidate and describes it.
func (x *explaining) explained(c *feed.Candidate) api.Explained {
	x.out.Counts.Recalled++
	age := x.query.Origin.Unix() - c.UpdateTime
	return api.Explained{
		Rank: x.out.Counts.Recalled, ID: c.ID, Group: c.Group, Source: c.Source, UpdateTime: c.UpdateTime,
		Age: age, Score: c.Score, Decay: x.curve.At(float64(age)),
	}
}

// list lists a candidate, or only counts it.
func (x *explaining) list(n api.Explained) {
	x.last = n
	if n.Outcome != "" && len(x.out.Candidates)+x.out.Unlisted >= listed && n.ID != x.r.Item {
		x.out.Unlisted++
		x.counts[n.Outcome]++
		x.ofDay[n.Day]++
		if n.Outcome == api.OutcomeSeen && x.stages.cfg.ShowAgain && x.ofDay[n.Day] <= x.stages.cfg.N {
			x.unlisted = append(x.unlisted, n)
		}
		return
	}
	x.out.Candidates = append(x.out.Candidates, n)
}

// place sets the positions of the survivors. All of them are listed.
func (x *explaining) place(survivors []feed.Candidate, places []arrange.Place) {
	type proposal struct{ source, id string } // of home, two sources may propose one item
	listed := make(map[proposal]*api.Explained, len(survivors))
	for i := range x.out.Candidates {
		c := &x.out.Candidates[i]
		if c.Outcome == "" {
			listed[proposal{c.Source, c.ID}] = c
		}
	}
	for i, p := range places {
		from := &survivors[i]
		c := listed[proposal{from.Source, from.ID}]
		switch {
		case c == nil: // beyond recall, and not drawn
			continue
		case p.At == 0 && p.Same >= 0 && survivors[p.Same].Group == from.Group:
			c.Outcome, c.Better = api.OutcomeGroup, survivors[p.Same].ID
			continue
		case p.At == 0 && p.Same >= 0:
			c.Outcome, c.Better = api.OutcomeStory, survivors[p.Same].ID
			continue
		case p.At == 0:
			c.Outcome = api.OutcomeOutside
			continue
		case p.Same >= 0:
			c.Better = survivors[p.Same].ID
		}
		c.Variety = &api.Variety{Place: p.At, Page: p.Page, Factor: 1, Source: p.Source.String(), Right: p.Wanted.String()}
		for k, value := range []string{from.Author, from.Site, from.Tag} {
			c.Variety.Factor *= p.Factor[k]
			if p.Nth[k] > 0 {
				*[]**api.Nth{&c.Variety.Author, &c.Variety.Site, &c.Variety.Tag}[k] = &api.Nth{Name: value, Nth: p.Nth[k], Factor: p.Factor[k]}
			}
		}
	}
}

// outcome returns the outcome for a verdict, and the day of a filter hit; "" for a survivor.
func (x *explaining) outcome(v dedup.Verdict) (f api.Outcome, day string) {
	switch ago, seen := v.DaysAgo(); {
	case seen:
		return api.OutcomeSeen, (feed.DayOf(x.now) - feed.Day(ago)).String()
	case v == dedup.Pending:
		return api.OutcomePending, ""
	}
	return "", ""
}

// factors queries recall for the components of the scores that it computed.
func (x *explaining) factors(ctx context.Context) error {
	var which []int
	var ids []string
	for i := range x.out.Candidates {
		c := &x.out.Candidates[i]
		if arrange.HomeSource(c.Source) == feed.SourceDiscovery {
			which, ids = append(which, i), append(ids, c.ID)
		}
	}
	factors, err := x.ask(ctx, ids)
	if err != nil {
		return err
	}
	for n, i := range which {
		setFactors(&x.out.Candidates[i], factors[n], &x.query.Ranking)
	}
	return nil
}

func (x *explaining) ask(ctx context.Context, ids []string) ([]recall.Factors, error) {
	ctx, timed := x.enter(ctx, factorsTime)
	defer timed.end()
	factors, err := x.stages.factors(ctx, x.query, ids)
	if x.stages.cfg.isPast(x.query.Origin) { // the readers until then are not known
		for i := range factors {
			factors[i].Count2h, factors[i].Count2d, factors[i].CountMore = 0, 0, feed.PerHalfLife{}
		}
	}
	return factors, err
}

func setFactors(c *api.Explained, f recall.Factors, r *feed.Ranking) {
	if !f.Known {
		return
	}
	c.Relevance = &api.Relevance{Total: f.Relevance, Base: f.Base, Tags: f.Tags, Keywords: f.Keywords, Learned: f.Learned}
	c.Popularity = &api.Popularity{
		Value: f.Popularity, Factor: f.PopularityFactor,
		Readers2h: explainedReaders(f.Count2h, r.Popularity2h), Readers2d: explainedReaders(f.Count2d, r.Popularity2d),
	}
	for i, to := range []**api.Readers{&c.Popularity.Readers1h, &c.Popularity.Readers6h, &c.Popularity.Readers1d, &c.Popularity.Readers7d} {
		if r.PopularityMore[i] > 0 {
			*to = explainedReaders(f.CountMore[i], r.PopularityMore[i])
		}
	}
}

// explainedReaders returns nil if there are none.
func explainedReaders(count, weight float64) *api.Readers {
	if count == 0 {
		return nil
	}
	return &api.Readers{Count: count, Adds: weight * feed.LogCount(count)}
}

// count sets the number of candidates per outcome, and the missing parts.
func (x *explaining) count() {
	for i := range x.out.Candidates {
		x.counts[x.out.Candidates[i].Outcome]++
	}
	n, to := x.counts, &x.out.Counts
	to.Paged, to.Kept, to.Seen, to.Pending = n[api.OutcomePaged], n[api.OutcomeKept], n[api.OutcomeSeen], n[api.OutcomePending]
	to.Muted, to.Gone, to.Story, to.Outside = n[api.OutcomeMuted], n[api.OutcomeGone], n[api.OutcomeStory], n[api.OutcomeOutside]
	to.Group = n[api.OutcomeGroup] + n[api.OutcomeOwn]
	x.out.Degraded = x.missing.Names()
}
