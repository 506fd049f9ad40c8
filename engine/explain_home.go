package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
)

// ExplainedAffinity is the part of a score of home that the reader's likes make.
type ExplainedAffinity struct {
	Likes  int     `json:"likes"`  // of the author's posts in 30 days
	Factor float64 `json:"factor"` // see [feed.Home]
}

// homeProposal names what one source of home proposes.
type homeProposal struct {
	source feed.Source
	id     string
}

// homeScore holds the components of a proposal's score.
type homeScore struct {
	feed.HomeScore
	reactions float64
	likes     int
}

// explain says of a candidate of home what its score is made of. That of discovery is
// for-you's.
func (h *homeRounds) explain(c *Explained) {
	s, ok := h.scores[homeProposal{homeSource(c.Source), c.ID}]
	if !ok {
		return
	}
	c.Base, c.Decay = s.Base, s.Decay
	c.Popularity = &ExplainedPopularity{Value: s.reactions, Factor: s.Popularity}
	c.Affinity = &ExplainedAffinity{Likes: s.likes, Factor: s.Affinity}
}

// rankHome ranks the candidates of each source, when all are known, and lists them:
// scores of different sources are not compared.
func (x *explaining) rankHome() {
	all := x.out.Candidates
	slices.SortStableFunc(all, func(a, b Explained) int {
		return cmp.Or(cmp.Compare(homeOrder(&a), homeOrder(&b)), compareExplained(&a, &b))
	})
	x.out.Candidates = all[:0]
	for i, rank := 0, 0; i < len(all); i++ {
		if rank++; i > 0 && all[i].Source != all[i-1].Source {
			rank = 1
		}
		all[i].Rank = rank
		x.list(all[i]) // it stands where it was, or further ahead
	}
}

// homeOrder is where the candidates of a source are listed.
func homeOrder(c *Explained) int { return slices.Index(homeSources[:], homeSource(c.Source)) }

// listOrder is the order of the candidates of an explanation.
func (x *explaining) listOrder(a, b Explained) int {
	if x.home() {
		return cmp.Or(cmp.Compare(homeOrder(&a), homeOrder(&b)), cmp.Compare(a.Rank, b.Rank))
	}
	return cmp.Compare(a.Rank, b.Rank)
}

func (x *explaining) home() bool { return x.r.Feed == feed.HomeFeed }

// ranks says in words where a candidate ranks.
func (x *explaining) ranks(c *Explained) string {
	if !x.home() {
		return fmt.Sprintf("It ranks %d of %d", c.Rank, x.out.Counts.Recalled)
	}
	return fmt.Sprintf("It ranks %d in %s", c.Rank, c.Source)
}

// right says in words whose position a candidate of home is at; "" where the feed has no
// pattern.
func (v *Variety) right() string {
	switch v.Right {
	case "":
		return ""
	case v.Source:
		return fmt.Sprintf(" The position is %s's by the pattern.", v.Right)
	}
	return fmt.Sprintf(" The position is %s's by the pattern, which had nothing left for it, so %s fills it.", v.Right, v.Source)
}

// elsewhereHome says why an item that nothing else explains is no candidate of home.
func (x *explaining) elsewhereHome(out *ExplainedItem, found bool) {
	out.Outcome = OutcomeOutside
	out.Reason = "No source of home has proposed it: it is not among what was asked for of whom the agent follows, it does not trend, and it is not promoted to the agent."
	if found {
		out.Source = feed.SourceDiscovery.String()
		out.Reason += fmt.Sprintf(" Discovery would score it %.4g, which is behind what was recalled.", out.Score)
	}
}

// homeFactors asks the recall sources what the scores of discovery are made of.
func (x *explaining) homeFactors(ctx context.Context) error {
	var which []int
	var ids []string
	for i := range x.out.Candidates {
		if c := &x.out.Candidates[i]; homeSource(c.Source) == feed.SourceDiscovery {
			which, ids = append(which, i), append(ids, c.ID)
		}
	}
	factors, err := x.recalled(ctx, ids)
	if err != nil {
		return err
	}
	for n, i := range which {
		x.out.Candidates[i].set(factors[n], &x.query.Ranking)
	}
	return nil
}

// findHome asks the recall sources what the score of an item is made of, where discovery
// proposes it or nothing does.
func (x *explaining) findHome(ctx context.Context, c *Explained) (found bool, err error) {
	if c.Source != "" && homeSource(c.Source) != feed.SourceDiscovery {
		return true, nil
	}
	factors, err := x.recalled(ctx, []string{c.ID})
	if err != nil {
		return false, err
	}
	if f := factors[0]; f.Known {
		c.set(f, &x.query.Ranking)
		c.Score = f.Score
		return true, nil
	}
	return false, nil
}

// recalled asks all recall sources what the scores of items are made of, as for-you has
// them.
func (x *explaining) recalled(ctx context.Context, ids []string) ([]recall.Factors, error) {
	out := make([]recall.Factors, len(ids))
	for _, s := range x.e.stores.Sources {
		factors, err := x.ask(ctx, s, ids)
		if err != nil {
			return nil, err
		}
		for i := range factors {
			if !out[i].Known {
				out[i] = factors[i]
			}
		}
	}
	return out, nil
}
