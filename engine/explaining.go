package engine

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
)

// Explain goes through the stages of a refresh without changing anything: no
// session, no pending set, no impression, no count of answers. It asks the
// recall sources directly, so that what is kept of recalls for readers is
// neither used nor pushed out; content it reads may enter a cache.
//
// Errors wrap [feed.ErrBadID], [ErrBadLimit], [ErrBadTime],
// [feed.ErrBadRanking], or a store's ErrUnavailable.
func (e *Engine) Explain(ctx context.Context, r ExplainRequest) (Explanation, error) {
	if err := r.validate(); err != nil {
		return Explanation{}, err
	}
	if e.cfg.Tracer != nil {
		var span trace.Span
		ctx, span = e.cfg.Tracer.Start(ctx, "explain", trace.WithAttributes(attribute.String("freshet.agent", r.Agent)))
		defer span.End()
	}
	x := &explaining{e: e, r: r, begun: e.cfg.Clock(), best: map[string]string{}}
	for _, step := range []func(context.Context) error{x.open, x.recall, x.page, x.factors, x.item} {
		if err := step(ctx); err != nil {
			return Explanation{}, err
		}
	}
	x.count()
	x.out.Times.Total = milliseconds(e.cfg.Clock().Sub(x.begun))
	return x.out, nil
}

// Ranking tells by which parameters the agent is ranked at the moment, and of
// which variant they are.
func (e *Engine) Ranking(agent string) (variant string, r feed.Ranking) {
	return e.cfg.Rankings.For(agent)
}

// explaining is one explanation on its way.
type explaining struct {
	e         *Engine
	r         ExplainRequest
	begun     time.Time
	now       time.Time // of the refresh
	query     feed.Query
	curve     feed.Curve
	out       Explanation
	best      map[string]string // group → the id of its best candidate
	survivors []int             // candidates that no filter holds back
	last      Explained         // the last candidate, listed or not
	exhausted bool              // recall had no more
	lacks     parts
}

// listed is how many candidates are listed whatever came of them. Of those that
// come behind them only what survived is, and the item that was asked for: who
// has seen everything would be answered the whole catalog.
const listed = 2000

// What only an explanation measures.
var (
	profileTime = stage{name: "profile"}
	factorsTime = stage{name: "factors"}
)

// enter is [Engine.enter] for an explanation: its time goes into the answer,
// not into the metrics of what readers wait for.
func (x *explaining) enter(ctx context.Context, s stage) (context.Context, func()) {
	to := map[string]*float64{
		profileTime.name: &x.out.Times.Profile, recallStage.name: &x.out.Times.Recall, dedupStage.name: &x.out.Times.Dedup,
		hydrateStage.name: &x.out.Times.Hydrate, factorsTime.name: &x.out.Times.Factors,
	}[s.name]
	end := func() {}
	if x.e.cfg.Tracer != nil {
		var span trace.Span
		ctx, span = x.e.cfg.Tracer.Start(ctx, s.name)
		end = func() { span.End() }
	}
	start := x.e.cfg.Clock()
	return ctx, func() {
		*to += milliseconds(x.e.cfg.Clock().Sub(start))
		end()
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// open reads what a refresh starts from, and puts in its place what was asked
// for instead.
func (x *explaining) open(ctx context.Context) error {
	ctx, end := x.enter(ctx, profileTime)
	defer end()
	profile, err := x.e.profile(ctx, x.r.Agent)
	if err != nil {
		return err
	}
	if x.now = x.r.At; x.now.IsZero() {
		x.now = x.begun
	}
	x.query = x.e.query(x.r.Agent, profile)
	x.query.Origin = x.e.origin(x.now)
	variant, _ := x.e.cfg.Rankings.For(x.r.Agent)
	if x.r.Ranking != nil {
		x.query.Ranking = *x.r.Ranking
	}
	x.curve = x.query.Ranking.Decay.Curve()
	x.out = Explanation{
		Agent: x.r.Agent, Limit: x.r.Limit, Variant: variant, Ranking: x.query.Ranking, Proposed: x.r.Ranking != nil,
		Origin: x.query.Origin, Candidates: make([]Explained, 0, x.query.N), Times: x.out.Times,
	}
	return nil
}

// recall goes through the rounds as [Engine.choose] does and keeps all that
// comes by.
func (x *explaining) recall(ctx context.Context) error {
	sources := make([]recall.Source, len(x.e.stores.Sources))
	for i, s := range x.e.stores.Sources {
		sources[i] = recall.Direct(s)
	}
	lacks, err := x.e.rounds(ctx, look{
		agent: x.r.Agent, query: x.query, clock: func() time.Time { return x.now },
		budget: x.e.cfg.RoundsFor, sources: sources, enter: x.enter,
	}, func(r round) bool {
		x.take(r)
		x.exhausted = r.last
		enough := len(x.survivors) >= x.r.Limit
		x.out.OutOfTime = r.late && !enough
		return enough
	})
	x.lacks |= lacks
	return err
}

// take takes the candidates of a round over, with what the filters said.
func (x *explaining) take(r round) {
	x.out.Counts.Rounds = r.number + 1
	checked := 0
	for _, c := range r.recalled {
		x.out.Counts.Recalled++
		age := x.query.Origin.Unix() - c.UpdateTime
		n := Explained{
			Rank: x.out.Counts.Recalled, ID: c.ID, Group: c.Group, Source: c.Source, UpdateTime: c.UpdateTime,
			Age: age, Score: c.Score, Decay: x.curve.At(float64(age)),
		}
		if checked < len(r.fresh) && r.fresh[checked].ID == c.ID {
			n.Fate, n.Day = x.fate(r.checked.Verdicts[checked])
			checked++
			x.best[c.Group] = c.ID
		} else {
			n.Fate, n.Better = FateGroup, x.best[c.Group]
		}
		x.list(n)
	}
}

// list lists a candidate, or only counts it.
func (x *explaining) list(n Explained) {
	x.last = n
	if n.Fate != "" && n.Rank > listed && n.ID != x.r.Item {
		x.out.Unlisted++
		*x.out.Counts.of(n.Fate)++
		return
	}
	if n.Fate == "" {
		x.survivors = append(x.survivors, len(x.out.Candidates))
	}
	x.out.Candidates = append(x.out.Candidates, n)
}

// fate is what a verdict means; "" for one that has survived.
func (x *explaining) fate(v dedup.Verdict) (f Fate, day string) {
	switch ago, seen := v.DaysAgo(); {
	case seen:
		return FateSeen, (feed.DayOf(x.now) - feed.Day(ago)).String()
	case v == dedup.Pending:
		return FatePending, ""
	}
	return "", ""
}

// page deals the survivors out as [Engine.deliver] does: the first of them
// make the page, and what is gone of it is filled up from the rest.
func (x *explaining) page(ctx context.Context) error {
	if !x.r.Brief {
		all := make([]int, len(x.out.Candidates))
		for i := range all {
			all[i] = i
		}
		if err := x.read(ctx, all); err != nil {
			return err
		}
	}
	rest, tries := x.survivors, 1+topUps
	if x.lacks&lacksDedup != 0 {
		tries = 1 // a page that is in no session is not filled up
	}
	for missing := min(x.r.Limit, len(rest)); tries > 0 && missing > 0 && len(rest) > 0; tries-- {
		part := rest[:min(missing, len(rest))]
		rest = rest[len(part):]
		if x.r.Brief {
			if err := x.read(ctx, part); err != nil {
				return err
			}
		}
		for _, i := range part {
			if c := &x.out.Candidates[i]; c.Fate == "" {
				c.Fate = FatePaged
				missing--
			}
		}
	}
	for _, i := range rest {
		if c := &x.out.Candidates[i]; c.Fate == "" {
			c.Fate = FateKept
		}
	}
	return nil
}

// read reads the content of candidates. Those of them that have survived are
// judged by it as [Engine.hydrate] does. While the catalog is down, what cannot
// be read is taken for what it was.
func (x *explaining) read(ctx context.Context, which []int) error {
	if len(which) == 0 {
		return nil
	}
	ctx, end := x.enter(ctx, hydrateStage)
	defer end()
	ids := make([]string, len(which))
	for n, i := range which {
		ids[n] = x.out.Candidates[i].ID
	}
	docs, err := x.e.stores.Catalog.Docs(ctx, ids)
	if err != nil && (len(docs) != len(ids) || !down(ctx, err)) {
		return err
	}
	read := 0
	for n, i := range which {
		if !docs[n].Missing() {
			read++
		}
		if err == nil || !docs[n].Missing() {
			x.judge(&x.out.Candidates[i], docs[n])
		}
	}
	if err != nil {
		x.lacks |= lacksCatalog
		if read == 0 {
			return err
		}
	}
	return nil
}

func (x *explaining) judge(c *Explained, doc feed.Doc) {
	var it feed.Item
	var err error
	if !doc.Missing() {
		it, err = doc.Item()
	}
	if !x.r.Brief {
		c.Title = it.Title
	}
	switch {
	case c.Fate != "":
	case doc.Missing() || err != nil || it.Group() != c.Group || it.UpdateTime > x.now.Unix():
		c.Fate = FateGone
	case x.query.Profile.Refuses(&it):
		c.Fate = FateMuted
	}
}

// factors asks each source what the scores of its candidates are made of.
func (x *explaining) factors(ctx context.Context) error {
	if x.r.Brief {
		return nil
	}
	for _, s := range x.e.stores.Sources {
		var which []int
		var ids []string
		for i := range x.out.Candidates {
			if c := &x.out.Candidates[i]; c.Source == s.Name() {
				which, ids = append(which, i), append(ids, c.ID)
			}
		}
		factors, err := x.ask(ctx, s, ids)
		if err != nil {
			return err
		}
		for n, i := range which {
			x.out.Candidates[i].set(factors[n])
		}
	}
	return nil
}

func (x *explaining) ask(ctx context.Context, s recall.Source, ids []string) ([]recall.Factors, error) {
	ctx, end := x.enter(ctx, factorsTime)
	defer end()
	explainer, ok := recall.Direct(s).(recall.Explainer)
	if !ok {
		return make([]recall.Factors, len(ids)), nil // its scores are known, not what they are made of
	}
	factors, err := explainer.Explain(ctx, x.query, ids)
	if err != nil {
		return nil, fmt.Errorf("explain from %s: %w", s.Name(), err)
	}
	return factors, nil
}

func (c *Explained) set(f recall.Factors) {
	if !f.Known {
		return
	}
	c.Relevance = &Relevance{Total: f.Relevance, Base: f.Base, Tags: f.Tags, Keywords: f.Keywords}
	c.Popularity = &Popularity{Value: f.Popularity, Factor: f.PopularityFactor}
}

// of is the count of a candidate's fate.
func (n *ExplainCounts) of(fate Fate) *int {
	switch fate {
	case FatePaged:
		return &n.Paged
	case FateKept:
		return &n.Kept
	case FateSeen:
		return &n.Seen
	case FatePending:
		return &n.Pending
	case FateMuted:
		return &n.Muted
	case FateGone:
		return &n.Gone
	}
	return &n.Group
}

// count fills in how many of those that are listed came to what, and what was
// missing.
func (x *explaining) count() {
	for i := range x.out.Candidates {
		*x.out.Counts.of(x.out.Candidates[i].Fate)++
	}
	x.out.Degraded = x.lacks.names()
}
