package offline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/internal/safego"
)

// Bounds of one comparison.
const (
	DefaultK  = 20
	MaxK      = 100
	MaxAgents = 200
	// DefaultDepth is how many items are ranked if ranks beyond k matter.
	DefaultDepth = 500
)

// atOnce is how many agents are ranked concurrently: few, because readers are served at the same
// time.
const atOnce = 4

// Source ranks for agents, reads the items in the lists, and samples agents to rank for. It shows
// nothing to readers.
type Source interface {
	// Rank ranks the n best for an agent as of at, once by each of the rankings, filtered only by
	// the agent's mutes and languages. No list holds a group twice. An agent without a profile
	// has the zero one.
	Rank(ctx context.Context, agent string, at time.Time, n int, rankings ...feed.Ranking) (feed.Profile, [][]feed.Candidate, error)
	// LeftOut names the parts of these rankings that Rank leaves out as of at; nil if none.
	LeftOut(at time.Time, rankings ...feed.Ranking) []string
	// Profile returns an agent's profile, or an error that wraps [feed.ErrNotFound].
	Profile(ctx context.Context, agent string) (feed.Profile, error)
	// Factors returns the score components of items, one for each id.
	Factors(ctx context.Context, q feed.Query, ids []string) ([]Factors, error)
	// Docs reads items, one Doc for each id, without JSON where there is none.
	Docs(ctx context.Context, ids []string) ([]feed.Doc, error)
	// Agents samples n agents that have a profile, or all if there are fewer: each once, sorted
	// by id, with equal probability. The same seed samples the same agents while no profile is
	// written; another seed samples others. Recently written profiles may be missing.
	Agents(ctx context.Context, n int, seed int64) ([]string, error)
}

// Pair specifies a comparison of two rankings.
type Pair struct {
	A, B   feed.Ranking
	Agents []string  // 1 to MaxAgents, none twice
	At     time.Time // the time both rank at, in whole seconds
	K      int       // how many items of each list are compared, 1 to MaxK
	Lists  bool      // also return the lists; only for one agent
}

func (p *Pair) validate() error {
	if p.K < 1 || p.K > MaxK {
		return fmt.Errorf("%w: k must be 1 to %d, not %d", feed.ErrInvalid, MaxK, p.K)
	}
	if len(p.Agents) < 1 || len(p.Agents) > MaxAgents {
		return fmt.Errorf("%w: a comparison takes 1 to %d agents, not %d", feed.ErrInvalid, MaxAgents, len(p.Agents))
	}
	if p.Lists && len(p.Agents) != 1 {
		return fmt.Errorf("%w: lists are returned for one agent only, not for %d", feed.ErrInvalid, len(p.Agents))
	}
	met := make(map[string]struct{}, len(p.Agents))
	for _, agent := range p.Agents {
		if err := feed.CheckAgentID(agent); err != nil {
			return fmt.Errorf("agent %q: %w", agent, err)
		}
		_, twice := met[agent]
		if twice {
			return fmt.Errorf("%w: agent %s is named twice", feed.ErrInvalid, agent)
		}
		met[agent] = struct{}{}
	}
	return errors.Join(named("a", p.A.Validate()), named("b", p.B.Validate()))
}

func named(which string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", which, err)
}

// Figures measures how far the first k of two rankings differ. A nil figure is undefined for
// these lists.
type Figures struct {
	Overlap    float64  `json:"overlap"`
	RBO        float64  `json:"rbo"` // with p = Persistence
	KendallTau *float64 `json:"kendall_tau"`
	NewShare   float64  `json:"new_share"`    // of B, not in A
	MedianAgeA *float64 `json:"median_age_a"` // seconds
	MedianAgeB *float64 `json:"median_age_b"`
	CoverageA  *float64 `json:"tag_coverage_a"`
	CoverageB  *float64 `json:"tag_coverage_b"`
}

// AgentFigures holds the figures of one agent.
type AgentFigures struct {
	Agent  string `json:"agent_id"`
	ItemsA int    `json:"items_a"` // number of items to compare, k at most
	ItemsB int    `json:"items_b"`
	Figures
}

// Comparison holds how far two rankings differ for a number of agents.
type Comparison struct {
	At       time.Time      `json:"at"`
	K        int            `json:"k"`
	A        feed.Ranking   `json:"a"`
	B        feed.Ranking   `json:"b"`
	Notes    []string       `json:"notes,omitempty"`    // further effects of the changes to A and B
	LeftOut  []string       `json:"left_out,omitempty"` // the parts of A and B that are not known for At, for some agents at least
	Figures  Summary        `json:"figures"`
	PerAgent []AgentFigures `json:"per_agent"` // in the order of the request
	Lists    *Lists         `json:"lists,omitempty"`
}

// Compare ranks by A and by B for each agent. The result depends only on the request and the
// catalog.
func Compare(ctx context.Context, from Source, p Pair) (Comparison, error) {
	if err := p.validate(); err != nil {
		return Comparison{}, err
	}
	p.At = p.At.UTC().Truncate(time.Second)
	out := Comparison{At: p.At, K: p.K, A: p.A, B: p.B, LeftOut: from.LeftOut(p.At, p.A, p.B), PerAgent: make([]AgentFigures, len(p.Agents))}
	if out.LeftOut != nil { // also of the factors of listed items
		p.A, p.B = p.A.WithoutLive(), p.B.WithoutLive()
	}
	later := make([]bool, len(p.Agents)) // something was learned later
	err := safego.Each(ctx, len(p.Agents), atOnce, func(ctx context.Context, i int) error {
		duel, err := rankBoth(ctx, from, &p, p.Agents[i])
		if err != nil {
			return fmt.Errorf("agent %s: %w", p.Agents[i], err)
		}
		later[i] = duel.interest.Learned.Since(p.At)
		out.PerAgent[i] = duel.figures(p.Agents[i])
		if p.Lists {
			of := p
			if later[i] {
				of.A, of.B = p.A.WithoutLearned(), p.B.WithoutLearned()
			}
			out.Lists, err = duel.lists(ctx, from, &of)
		}
		return err
	})
	if err != nil {
		return Comparison{}, err
	}
	if slices.Contains(later, true) && (p.A.Learned.On() || p.B.Learned.On()) {
		out.LeftOut = append(out.LeftOut, api.LeftOutLearned)
	}
	out.Figures = Summarize(out.PerAgent)
	return out, nil
}

type duel struct {
	at       time.Time
	agent    string
	interest feed.Profile
	deep     [2][]feed.Candidate // all that were ranked
	top      [2][]feed.Candidate // the first k
	items    map[string]feed.Item
}

func rankBoth(ctx context.Context, from Source, p *Pair, agent string) (*duel, error) {
	n := p.K
	if p.Lists {
		n = DefaultDepth // to find the rank of an item in the other list
	}
	profile, lists, err := from.Rank(ctx, agent, p.At, n, p.A, p.B)
	if err != nil {
		return nil, err
	}
	d := &duel{at: p.At, agent: agent, interest: profile, items: map[string]feed.Item{}}
	var ids []string
	for i, list := range lists {
		d.deep[i], d.top[i] = list, list[:min(len(list), p.K)]
		for _, c := range d.top[i] {
			_, twice := d.items[c.ID]
			if !twice {
				d.items[c.ID] = feed.Item{}
				ids = append(ids, c.ID)
			}
		}
	}
	docs, err := from.Docs(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, doc := range docs {
		if doc.Missing() {
			continue // deleted since it was ranked: it counts, without tags
		}
		if d.items[doc.ID], err = doc.Item(); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func (d *duel) figures(agent string) AgentFigures {
	// Groups are compared: a reader is shown one item of a group, and all tell the same story.
	group := func(c feed.Candidate) string { return c.Group }
	a, b := convert.Each(d.top[0], group), convert.Each(d.top[1], group)
	out := AgentFigures{Agent: agent, ItemsA: len(a), ItemsB: len(b), Figures: Figures{
		Overlap: Overlap(a, b), RBO: RBO(a, b, Persistence), NewShare: NewShare(a, b),
	}}
	out.KendallTau = known(KendallTau(a, b))
	age := func(c feed.Candidate) float64 { return float64(d.at.Unix() - c.UpdateTime) }
	out.MedianAgeA, out.MedianAgeB = known(Median(convert.Each(d.top[0], age))), known(Median(convert.Each(d.top[1], age)))
	tags := func(c feed.Candidate) []string { return d.items[c.ID].Tags }
	out.CoverageA = known(TagCoverage(d.interest.Interests, convert.Each(d.top[0], tags)))
	out.CoverageB = known(TagCoverage(d.interest.Interests, convert.Each(d.top[1], tags)))
	return out
}

func known(value float64, ok bool) *float64 {
	if !ok {
		return nil
	}
	return &value
}
