package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
)

// homeProposal names what one source of home proposes.
type homeProposal struct {
	source feed.Source
	id     string
}

// homeScore holds the components of a proposal's score.
type homeScore struct {
	feed.HomeScore
	reactions float64
	n         float64 // see [feed.Affinity]
}

// explained is the part of a [supply] that explanations use.
type explained interface {
	// beExplained has what is asked for remembered that list needs.
	beExplained()
	// list takes a candidate over, in the order of recall.
	list(x *explaining, c api.Explained)
	// rank ranks the candidates where that needs all of them.
	rank(x *explaining)
	// ranks says in words where a candidate ranks.
	ranks(x *explaining, c *api.Explained) string
	// elsewhere says why an item that nothing else explains is no candidate; found says
	// that recall has it.
	elsewhere(ctx context.Context, x *explaining, out *api.ExplainedItem, found bool) error
}

func (*forYouSupply) beExplained() {}

func (*forYouSupply) list(x *explaining, c api.Explained) { x.list(c) }

func (*forYouSupply) rank(*explaining) {}

func (*forYouSupply) ranks(x *explaining, c *api.Explained) string {
	return fmt.Sprintf("It ranks %d of %d", c.Rank, x.out.Counts.Recalled)
}

func (*forYouSupply) elsewhere(ctx context.Context, x *explaining, out *api.ExplainedItem, found bool) error {
	if found {
		return x.outside(ctx, out)
	}
	out.Outcome = api.OutcomeUnfound
	out.Reason = "It is in the catalog, but recall does not find it: the recall index may not have been refreshed since it came, or refuses its id."
	return nil
}

func (h *homeSupply) beExplained() { h.scores = map[homeProposal]homeScore{} }

// list says what a score is made of that is not recall's. Candidates are listed when all
// are known.
func (h *homeSupply) list(x *explaining, c api.Explained) {
	if s, ok := h.scores[homeProposal{homeSource(c.Source), c.ID}]; ok {
		c.Base, c.Decay = s.Base, s.Decay
		c.Popularity = &api.Popularity{Value: s.reactions, Factor: s.Popularity}
		c.Affinity = &api.Affinity{N: s.n, Factor: s.Affinity}
	}
	x.out.Candidates = append(x.out.Candidates, c)
}

// rank ranks the candidates of each source, and lists them: scores of different sources
// are not compared.
func (*homeSupply) rank(x *explaining) {
	all := x.out.Candidates
	slices.SortStableFunc(all, func(a, b api.Explained) int {
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

func (*homeSupply) ranks(_ *explaining, c *api.Explained) string {
	return fmt.Sprintf("It ranks %d in %s", c.Rank, c.Source)
}

func (*homeSupply) elsewhere(_ context.Context, _ *explaining, out *api.ExplainedItem, found bool) error {
	out.Outcome = api.OutcomeOutside
	out.Reason = "No source of home has proposed it: it is not among what was asked for of whom the agent follows, it does not trend, and it is not promoted to the agent."
	if found {
		out.Source = feed.SourceDiscovery.String()
		out.Reason += fmt.Sprintf(" Discovery would score it %.4g, which is behind what was recalled.", out.Score)
	}
	return nil
}

// homeOrder is where the candidates of a source are listed; those of for-you are all of one.
func homeOrder(c *api.Explained) int { return slices.Index(homeSources[:], homeSource(c.Source)) }

// listOrder is the order of the candidates of an explanation.
func listOrder(a, b api.Explained) int {
	return cmp.Or(cmp.Compare(homeOrder(&a), homeOrder(&b)), cmp.Compare(a.Rank, b.Rank))
}

// rightOf says in words whose position a candidate of home is at; "" where the feed has no
// pattern.
func rightOf(v *api.Variety) string {
	switch v.Right {
	case "":
		return ""
	case v.Source:
		return fmt.Sprintf(" The position is %s's by the pattern.", v.Right)
	}
	return fmt.Sprintf(" The position is %s's by the pattern, which had nothing left for it, so %s fills it.", v.Right, v.Source)
}
