package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/engine/arrange"
	"github.com/freshet/freshet/engine/degraded"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/social"
)

// explainedList is the [pageSource] of an explanation: the list that a refresh would store as the
// session. Refs are not restored to it, since nothing else takes from it.
type explainedList struct {
	*explaining
	rest []feed.Ref
}

func (d *explainedList) pop(_ context.Context, n int) (page, error) {
	refs := d.rest[:min(n, len(d.rest))]
	d.rest = d.rest[len(refs):]
	return page{Page: cache.Page{Refs: refs, HasMore: len(d.rest) > 0}}, nil
}

func (d *explainedList) read(ctx context.Context, p page) (hydrated, error) {
	return d.stages.hydrate(ctx, d.r.Agent, d.r.Feed, p.Refs, d.stages.at().Unix())
}

func (*explainedList) discard(context.Context, hydrated)         {}
func (*explainedList) restore(context.Context, page, []feed.Ref) {}

// page builds the page that a refresh would return.
func (x *explaining) page(ctx context.Context) error {
	d := &explainedList{x, x.found.session()}
	p, err := d.pop(ctx, x.r.Limit)
	if err != nil {
		return err
	}
	if x.missing&degraded.Dedup != 0 {
		p.from = sessionless
	}
	got, err := fillPage(ctx, d, x.r.Limit, &p)
	if err != nil {
		return err
	}
	x.missing |= got.missing
	outcomes := make(map[string]api.Outcome, len(got.refs)+got.short())
	for outcome, refs := range map[api.Outcome][]feed.Ref{api.OutcomePaged: got.refs, api.OutcomeGone: got.gone, api.OutcomeMuted: got.muted} {
		for _, ref := range refs {
			outcomes[ref.ID] = outcome
		}
	}
	return x.contents(ctx, outcomes)
}

// contents reads all candidates, for their titles and to find deleted or muted ones after the
// page, and sets the outcomes of the survivors. A candidate that cannot be read counts as
// unchanged.
func (x *explaining) contents(ctx context.Context, outcomes map[string]api.Outcome) error {
	ctx, timed := x.enter(ctx, hydrateStage)
	defer timed.end()
	ids := convert.Each(x.out.Candidates, func(c api.Explained) string { return c.ID })
	docs, _, err := x.stages.stores.Catalog.Hydrate(ctx, x.r.Agent, ids)
	if err != nil && (len(docs) != len(ids) || !down(ctx, err)) {
		return err
	}
	var down degraded.Parts
	if errors.Is(err, social.ErrUnavailable) {
		down = degraded.Social
	}
	refusals, selected := x.query.Profile.Refusals(), x.stages.selected(x.r.Feed)
	for i, doc := range docs {
		c := &x.out.Candidates[i]
		c.Outcome = cmp.Or(c.Outcome, outcomes[c.ID])
		if doc.Missing() && err != nil {
			x.missing |= unread(doc.ID, err)
		} else if c.Outcome == "" {
			ref := feed.Ref{ID: c.ID, Group: c.Group}
			if x.home() {
				ref.Source = arrange.HomeSource(c.Source)
			}
			outcome := classify(refusals, x.r.Agent, ref, doc, x.now.Unix(), down)
			switch {
			case outcome != api.OutcomePaged:
				c.Outcome = outcome
			case !selected(doc):
				c.Outcome = api.OutcomeGone
			}
		}
		c.Outcome = cmp.Or(c.Outcome, api.OutcomeKept)
		if it, err := doc.Item(); err == nil {
			c.Title = it.Title
		}
	}
	return nil
}

// homeProposal identifies an item that one source of home proposes.
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

// takeBeyond lists the drawn items that recall has not returned, which follow the survivors in all.
// Their scores are those that recall would give them.
func (x *explaining) takeBeyond(ctx context.Context, all []feed.Candidate, places []arrange.Place, survivors int) error {
	x.recalled = x.out.Counts.Recalled
	var drawn []feed.Candidate
	for i := survivors; i < len(places); i++ {
		if places[i].At > 0 {
			drawn = append(drawn, all[i])
		}
	}
	factors, err := x.ask(ctx, convert.Each(drawn, func(c feed.Candidate) string { return c.ID }))
	if err != nil {
		return err
	}
	for i := range drawn {
		drawn[i].Score = factors[i].Score
	}
	slices.SortFunc(drawn, func(a, b feed.Candidate) int { return arrange.CompareScores(&a, &b) })
	for _, c := range drawn {
		x.out.Candidates = append(x.out.Candidates, x.explained(&c))
	}
	return nil
}

// home reports whether the explanation is about home.
func (x *explaining) home() bool { return x.r.Feed == feed.HomeFeed }

// rankHome lists the candidates, ranked per source, since scores of different sources are not
// compared.
func (x *explaining) rankHome() {
	all := x.out.Candidates
	slices.SortStableFunc(all, func(a, b api.Explained) int {
		return cmp.Or(cmp.Compare(homeOrder(&a), homeOrder(&b)), compareExplained(&a, &b))
	})
	x.out.Candidates = all[:0]
	for i, rank := 0, 0; i < len(all); i++ {
		rank++
		if i > 0 && all[i].Source != all[i-1].Source {
			rank = 1
		}
		all[i].Rank = rank
		x.list(all[i]) // written at index i or before
	}
}

// ranks describes the rank of a candidate.
func (x *explaining) ranks(c *api.Explained) string {
	if x.home() {
		return fmt.Sprintf("It ranks %d in %s", c.Rank, c.Source)
	}
	if c.Rank > x.recalled {
		return fmt.Sprintf("It is not among the %d recalled candidates, but exploration has drawn it", x.recalled)
	}
	return fmt.Sprintf("It ranks %d of %d", c.Rank, x.out.Counts.Recalled)
}

// unproposed explains why an item that no other rule explains is not a candidate; found reports
// whether recall has it.
func (x *explaining) unproposed(ctx context.Context, out *api.ExplainedItem, found bool) error {
	switch {
	case x.home():
		out.Outcome = api.OutcomeOutside
		out.Reason = "No source of home has proposed it: it is not among the requested posts of followed authors, is not trending, and is not promoted to the agent."
		if found {
			out.Source = feed.SourceDiscovery.String()
			out.Reason += fmt.Sprintf(" Discovery would score it %.4g, which is behind the recalled items.", out.Score)
		}
	case found && x.r.Feed.Named():
		out.Outcome = api.OutcomeOutside
		out.Reason = "The feed does not select it, or it ranks behind the recalled items."
	case found:
		return x.outside(ctx, out)
	default:
		out.Outcome = api.OutcomeUnfound
		out.Reason = "It is in the catalog, but recall does not find it: the recall index may not have been refreshed since it was added, or rejects its id."
	}
	return nil
}

// homeOrder returns the position of a candidate's source in the list; candidates of for-you share
// one source.
func homeOrder(c *api.Explained) int {
	return slices.Index(arrange.HomeSources[:], arrange.HomeSource(c.Source))
}

// listOrder is the order of the candidates of an explanation.
func listOrder(a, b api.Explained) int {
	return cmp.Or(cmp.Compare(homeOrder(&a), homeOrder(&b)), cmp.Compare(a.Rank, b.Rank))
}

// patternReason names the source that the pattern assigns the position of a home candidate to.
func patternReason(v *api.Variety) string {
	switch v.Right {
	case "":
		return ""
	case v.Source:
		return fmt.Sprintf(" The pattern assigns the position to %s.", v.Right)
	}
	return fmt.Sprintf(" The pattern assigns the position to %s, which had no item left, so %s fills it.", v.Right, v.Source)
}
