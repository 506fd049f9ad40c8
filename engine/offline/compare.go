package offline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/guard"
)

// Bounds of what is asked at once.
const (
	DefaultK  = 20
	MaxK      = 100
	MaxAgents = 200
	// DefaultDepth is how far is ranked where it matters at which rank beyond k
	// something stands.
	DefaultDepth = 500
)

// atOnce is how many agents are ranked at the same time. Readers are served
// meanwhile, so it is few.
const atOnce = 4

// Source ranks for agents, reads what stands in the lists, and draws agents to
// rank for. It shows nothing to anybody.
type Source interface {
	// Rank ranks the n best for an agent as of at, once by each of the rankings,
	// before anything but the agent's mutes and languages is filtered. No list
	// holds a group twice. An agent without a profile has the zero one.
	Rank(ctx context.Context, agent string, at time.Time, n int, rankings ...feed.Ranking) (feed.Profile, [][]feed.Candidate, error)
	// Factors says what the scores of items are made of, one for each id.
	Factors(ctx context.Context, q feed.Query, ids []string) ([]Factors, error)
	// Docs reads items, one Doc for each id, without JSON where there is none.
	Docs(ctx context.Context, ids []string) ([]feed.Doc, error)
	// Agents draws n of those who have a profile, or all where there are fewer:
	// each once, sorted by id, and every one as likely as any other. The same seed
	// draws the same agents while no profile is written; another seed draws others.
	// A profile that was put lately may not be drawn yet.
	Agents(ctx context.Context, n int, seed int64) ([]string, error)
}

// Pair asks how far two rankings differ.
type Pair struct {
	A, B   feed.Ranking
	Agents []string  // 1 to MaxAgents, none twice
	At     time.Time // the moment both rank at; whole seconds count
	K      int       // how many of each list are compared, 1 to MaxK
	Lists  bool      // answer the lists, too; for one agent
}

func (p *Pair) validate() error {
	if p.K < 1 || p.K > MaxK {
		return fmt.Errorf("%w: k must be 1 to %d, not %d", feed.ErrInvalid, MaxK, p.K)
	}
	if len(p.Agents) < 1 || len(p.Agents) > MaxAgents {
		return fmt.Errorf("%w: 1 to %d agents are compared at once, not %d", feed.ErrInvalid, MaxAgents, len(p.Agents))
	}
	if p.Lists && len(p.Agents) != 1 {
		return fmt.Errorf("%w: lists are answered for one agent, not %d; name one", feed.ErrInvalid, len(p.Agents))
	}
	met := make(map[string]struct{}, len(p.Agents))
	for _, agent := range p.Agents {
		if err := feed.CheckAgentID(agent); err != nil {
			return fmt.Errorf("agent %q: %w", agent, err)
		}
		if _, twice := met[agent]; twice {
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

// Figures says how far the first k of two rankings differ. A nil figure does
// not exist for these lists.
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

// AgentFigures is one agent's.
type AgentFigures struct {
	Agent  string `json:"agent_id"`
	ItemsA int    `json:"items_a"` // how many there are to compare, k at most
	ItemsB int    `json:"items_b"`
	Figures
}

// Comparison is how far two rankings differ for a number of agents.
type Comparison struct {
	At       time.Time      `json:"at"`
	K        int            `json:"k"`
	A        feed.Ranking   `json:"a"`
	B        feed.Ranking   `json:"b"`
	Notes    []string       `json:"notes,omitempty"` // what the changes to A and B did beside what they say
	Figures  Summary        `json:"figures"`
	PerAgent []AgentFigures `json:"per_agent"` // in the order they were asked for
	Lists    *Lists         `json:"lists,omitempty"`
}

// Compare ranks by A and by B for each agent. The answer follows from the
// request and the catalog alone.
func Compare(ctx context.Context, from Source, p Pair) (Comparison, error) {
	if err := p.validate(); err != nil {
		return Comparison{}, err
	}
	p.At = p.At.UTC().Truncate(time.Second)
	out := Comparison{At: p.At, K: p.K, A: p.A, B: p.B, PerAgent: make([]AgentFigures, len(p.Agents))}
	err := guard.Each(ctx, len(p.Agents), atOnce, func(ctx context.Context, i int) error {
		duel, err := rankBoth(ctx, from, &p, p.Agents[i])
		if err != nil {
			return fmt.Errorf("agent %s: %w", p.Agents[i], err)
		}
		out.PerAgent[i] = duel.figures(p.Agents[i])
		if p.Lists {
			out.Lists, err = duel.lists(ctx, from, &p)
		}
		return err
	})
	if err != nil {
		return Comparison{}, err
	}
	out.Figures = Summarize(out.PerAgent)
	return out, nil
}

type duel struct {
	at       time.Time
	agent    string
	interest feed.Profile
	deep     [2][]feed.Candidate // as far as they were ranked
	top      [2][]feed.Candidate // the first k
	items    map[string]feed.Item
}

func rankBoth(ctx context.Context, from Source, p *Pair, agent string) (*duel, error) {
	n := p.K
	if p.Lists {
		n = DefaultDepth // to know where in the other list an item stands
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
			if _, twice := d.items[c.ID]; !twice {
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
	// A reader is shown one item of a group, and it is the same story whichever.
	group := func(c feed.Candidate) string { return c.Group }
	a, b := each(d.top[0], group), each(d.top[1], group)
	out := AgentFigures{Agent: agent, ItemsA: len(a), ItemsB: len(b), Figures: Figures{
		Overlap: Overlap(a, b), RBO: RBO(a, b, Persistence), NewShare: NewShare(a, b),
	}}
	out.KendallTau = known(KendallTau(a, b))
	age := func(c feed.Candidate) float64 { return float64(d.at.Unix() - c.UpdateTime) }
	out.MedianAgeA, out.MedianAgeB = known(Median(each(d.top[0], age))), known(Median(each(d.top[1], age)))
	tags := func(c feed.Candidate) []string { return d.items[c.ID].Tags }
	out.CoverageA = known(TagCoverage(d.interest.Interests, each(d.top[0], tags)))
	out.CoverageB = known(TagCoverage(d.interest.Interests, each(d.top[1], tags)))
	return out
}

func known(value float64, ok bool) *float64 {
	if !ok {
		return nil
	}
	return &value
}

func each[T any](list []feed.Candidate, of func(feed.Candidate) T) []T {
	out := make([]T, len(list))
	for i, c := range list {
		out[i] = of(c)
	}
	return out
}
