package offline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/internal/safego"
)

// Bounds of one replay.
const (
	MaxClicks   = 200
	MaxRankings = 40
)

// Click is an item that an agent opened.
type Click struct {
	Agent string      `json:"agent_id"`
	ID    string      `json:"id"`
	At    feed.Moment `json:"at"`
}

// ClickState classifies clicks by whether they can score a ranking.
type ClickState string

// States of a click. Only Ranked and Unranked clicks score a ranking; in the other states no
// ranking could have placed the item, so the click scores none.
const (
	Ranked   ClickState = "ranked"   // by at least one of the rankings
	Unranked ClickState = "unranked" // by none, within the depth
	Gone     ClickState = "gone"     // no longer in the catalog
	Later    ClickState = "later"    // dated after the click in the catalog
	Refused  ClickState = "refused"  // refused by the agent's present profile
)

// Scores reports whether the click scores the rankings.
func (s ClickState) Scores() bool { return s == Ranked || s == Unranked }

// Outcome holds the ranks of one clicked item.
type Outcome struct {
	State ClickState `json:"state"`
	Ranks []int      `json:"ranks"` // by each ranking, from 1; 0 means not ranked
}

// Replayed holds the ranks that rankings would have given to clicked items.
type Replayed struct {
	Rankings []feed.Ranking `json:"rankings"`
	Notes    []string       `json:"notes,omitempty"` // further effects of the changes to the rankings
	// LeftOut names the parts of the rankings that do not count, for some clicks at least, because
	// the clicks themselves have changed them.
	LeftOut  []string  `json:"left_out,omitempty"`
	Depth    int       `json:"depth"`    // how many items were ranked
	Outcomes []Outcome `json:"outcomes"` // one for each click, in order
}

// Replay finds where each ranking, ranking the n best, would have placed each clicked item at the
// time of its click.
//
// It uses the present catalog and profiles: deletions and changes since are unknown, and
// popularity counts the likes that items have today. The clicks themselves must not help their
// items: live popularity and co-readers do not count, and what was learned about a reader only if nothing was
// learned at the click or after it.
func Replay(ctx context.Context, from Source, clicks []Click, n int, rankings []feed.Ranking) (Replayed, error) {
	out := Replayed{Rankings: rankings, Depth: n}
	if err := checkReplay(clicks, rankings); err != nil {
		return out, err
	}
	ids := convert.Each(clicks, func(c Click) string { return c.ID })
	docs, err := from.Docs(ctx, ids)
	if err != nil {
		return out, err
	}
	out.Outcomes = make([]Outcome, len(clicks))
	before, learned := newBefore(rankings), make([]bool, len(clicks))
	err = safego.Each(ctx, len(clicks), atOnce, func(ctx context.Context, i int) (err error) {
		out.Outcomes[i], learned[i], err = before.replay(ctx, from, clicks[i], docs[i], n)
		return err
	})
	if slices.Contains(learned, true) {
		out.LeftOut = append(out.LeftOut, api.LeftOutLearned)
	}
	for i, r := range rankings {
		out.LeftOut = append(out.LeftOut, api.LeftOut(before.withoutLive[i], r)...)
	}
	slices.Sort(out.LeftOut)
	out.LeftOut = slices.Compact(out.LeftOut)
	return out, err
}

// before holds rankings without what clicks have changed.
type before struct {
	withoutLive []feed.Ranking
	without     []feed.Ranking // also without what was learned
}

func newBefore(rankings []feed.Ranking) *before {
	b := &before{slices.Clone(rankings), slices.Clone(rankings)}
	for i, r := range rankings {
		b.withoutLive[i] = r.WithoutLive()
		b.without[i] = b.withoutLive[i].WithoutLearned()
	}
	return b
}

// rankings returns the rankings for a click. learned reports that they leave out what was learned
// about the reader.
func (b *before) rankings(ctx context.Context, from Source, click *Click) (list []feed.Ranking, learned bool, err error) {
	if slices.Equal(b.withoutLive, b.without) {
		return b.without, false, nil
	}
	p, err := from.Profile(ctx, click.Agent)
	if err != nil && !errors.Is(err, feed.ErrNotFound) {
		return nil, false, fmt.Errorf("agent %s: %w", click.Agent, err)
	}
	if p.Learned.At < click.At.Unix() {
		return b.withoutLive, false, nil
	}
	return b.without, true, nil
}

func checkReplay(clicks []Click, rankings []feed.Ranking) error {
	if len(clicks) < 1 || len(clicks) > MaxClicks {
		return fmt.Errorf("%w: a replay takes 1 to %d clicks, not %d", feed.ErrInvalid, MaxClicks, len(clicks))
	}
	if len(rankings) < 1 || len(rankings) > MaxRankings {
		return fmt.Errorf("%w: a replay takes 1 to %d rankings, not %d", feed.ErrInvalid, MaxRankings, len(rankings))
	}
	for i, c := range clicks {
		if err := feed.CheckAgentID(c.Agent); err != nil {
			return fmt.Errorf("click %d: %w", i+1, err)
		}
		if err := feed.CheckItemID(c.ID); err != nil {
			return fmt.Errorf("click %d: %w", i+1, err)
		}
		if c.At.Unix() <= 0 {
			return fmt.Errorf("%w: click %d: at is missing or before 1970", feed.ErrInvalid, i+1)
		}
	}
	for i, r := range rankings {
		if err := r.Validate(); err != nil {
			return fmt.Errorf("ranking %d: %w", i+1, err)
		}
	}
	return nil
}

// replay returns the outcome of a click. learned is that of rankings.
func (b *before) replay(ctx context.Context, from Source, click Click, doc feed.Doc, n int) (out Outcome, learned bool, err error) {
	out.Ranks = make([]int, len(b.without))
	if doc.Missing() {
		out.State = Gone
		return out, false, nil
	}
	it, err := doc.Item()
	if err != nil {
		return out, false, err
	}
	if it.UpdateTime > click.At.Unix() {
		out.State = Later
		return out, false, nil
	}
	rankings, learned, err := b.rankings(ctx, from, &click)
	if err != nil {
		return out, false, err
	}
	profile, lists, err := from.Rank(ctx, click.Agent, click.At.Time, n, rankings...)
	if err != nil {
		return out, learned, fmt.Errorf("agent %s: %w", click.Agent, err)
	}
	if profile.Refuses(&it) {
		out.State = Refused
		return out, learned, nil
	}
	out.State = Unranked
	for i, list := range lists {
		for j, c := range list {
			if c.Group == it.Group() {
				out.Ranks[i], out.State = j+1, Ranked
				break
			}
		}
	}
	return out, learned, nil
}

// Scores measure how well a ranking places clicked items; 1 is best.
type Scores struct {
	HitRate float64 `json:"hit_rate"` // at k
	NDCG    float64 `json:"ndcg"`     // at k
	MRR     float64 `json:"mrr"`      // over all ranks
}

// Standing is the result of one of several rankings on clicks.
type Standing struct {
	Scores Scores `json:"scores"`
	// Number of clicks that it places higher and lower than the first ranking.
	Higher int `json:"higher"`
	Lower  int `json:"lower"`
	// Gain is its NDCG minus that of the first ranking, and lies within Gain ± Margin (95 %). A
	// nil Margin means that there are too few agents.
	Gain   float64  `json:"ndcg_gain"`
	Margin *float64 `json:"ndcg_gain_margin"`
}

// Scoreboard scores rankings by the ranks they give to clicked items, each compared with the
// first ranking.
type Scoreboard struct {
	k       int
	agents  map[string]struct{}
	clicks  int
	entries []entry
}

type entry struct {
	sums          Scores
	gains         Paired
	higher, lower int
}

// NewScoreboard returns an empty scoreboard of that many rankings, for scores at k.
func NewScoreboard(rankings, k int) *Scoreboard {
	return &Scoreboard{k: k, agents: map[string]struct{}{}, entries: make([]entry, rankings)}
}

// Add counts one click of an agent, with the rank of its item by each ranking.
func (s *Scoreboard) Add(agent string, ranks []int) {
	s.clicks++
	s.agents[agent] = struct{}{}
	for i, rank := range ranks {
		e := &s.entries[i]
		e.sums.HitRate += Hit(rank, s.k)
		e.sums.NDCG += NDCG(rank, s.k)
		e.sums.MRR += ReciprocalRank(rank)
		e.gains.Add(agent, NDCG(rank, s.k)-NDCG(ranks[0], s.k))
		switch cmp.Compare(ReciprocalRank(rank), ReciprocalRank(ranks[0])) {
		case 1:
			e.higher++
		case -1:
			e.lower++
		}
	}
}

// Counted returns the number of clicks added, and of their agents.
func (s *Scoreboard) Counted() (clicks, agents int) { return s.clicks, len(s.agents) }

// Standings returns the standings so far, in the order of the rankings.
func (s *Scoreboard) Standings() []Standing {
	out := make([]Standing, len(s.entries))
	for i := range s.entries {
		e := &s.entries[i]
		out[i] = Standing{Higher: e.higher, Lower: e.lower, Gain: e.gains.Mean()}
		n := float64(s.clicks)
		if n > 0 {
			out[i].Scores = Scores{HitRate: e.sums.HitRate / n, NDCG: e.sums.NDCG / n, MRR: e.sums.MRR / n}
		}
		if margin, ok := e.gains.Margin(); ok {
			out[i].Margin = &margin
		}
	}
	return out
}

// leastAgents is the minimum number of agents for a confidence interval.
const leastAgents = 5

// Paired sums differences, one for each click, to distinguish a real difference from chance.
// Clicks of one agent are correlated, so agents count as the independent observations, not
// clicks. The zero Paired is empty.
type Paired struct {
	agents map[string]paired
	clicks int
	sum    float64
}

type paired struct {
	clicks int
	sum    float64
}

// Add counts one difference.
func (p *Paired) Add(agent string, difference float64) {
	if p.agents == nil {
		p.agents = map[string]paired{}
	}
	of := p.agents[agent]
	p.agents[agent] = paired{of.clicks + 1, of.sum + difference}
	p.clicks++
	p.sum += difference
}

// Mean returns the mean difference; 0 without any.
func (p *Paired) Mean() float64 {
	if p.clicks == 0 {
		return 0
	}
	return p.sum / float64(p.clicks)
}

// Margin returns half the width of the 95 % confidence interval around the mean. With G agents,
// n(g) clicks of each and their sums S(g), it is
//
//	t(G−1) · √( G/(G−1) · Σ (S(g) − n(g)·mean)² ) / Σ n(g)
//
// ok is false with fewer than five agents. Source of the variance: K.-Y. Liang,
// S. L. Zeger: Longitudinal data analysis using generalized linear models.
// Biometrika 73(1), 1986.
func (p *Paired) Margin() (margin float64, ok bool) {
	groups := float64(len(p.agents))
	if groups < leastAgents {
		return 0, false
	}
	mean, squares := p.Mean(), 0.0
	for _, agent := range slices.Sorted(maps.Keys(p.agents)) { // so that the sum is the same every time
		of := p.agents[agent]
		off := of.sum - float64(of.clicks)*mean
		squares += off * off
	}
	return t95(groups-1) * math.Sqrt(groups/(groups-1)*squares) / float64(p.clicks), true
}

// t95 returns the 97.5 % quantile of Student's t with ν degrees of freedom, to three digits from
// 4 on, by the expansion 26.7.5 of M. Abramowitz, I. A. Stegun: Handbook of mathematical
// functions, 1964.
func t95(nu float64) float64 {
	const (
		x  = 1.959963984540054 // of the normal distribution
		x2 = x * x
		g1 = x * (x2 + 1) / 4
		g2 = x * ((5*x2+16)*x2 + 3) / 96
		g3 = x * (((3*x2+19)*x2+17)*x2 - 15) / 384
		g4 = x * ((((79*x2+776)*x2+1482)*x2-1920)*x2 - 945) / 92160
	)
	return x + (g1+(g2+(g3+g4/nu)/nu)/nu)/nu
}
