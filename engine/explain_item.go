package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/freshet/freshet/engine/arrange"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
)

// item explains the position or absence of the requested item.
func (x *explaining) item(ctx context.Context) error {
	if x.r.Item == "" {
		return nil
	}
	docs, _, err := x.stages.stores.Catalog.Hydrate(ctx, x.r.Agent, []string{x.r.Item})
	if err != nil {
		return err
	}
	var it feed.Item
	known := !docs[0].Missing()
	if known {
		if it, err = docs[0].Item(); err != nil {
			return err
		}
	}
	out := &api.ExplainedItem{Explained: api.Explained{ID: x.r.Item, Group: x.r.Item}}
	x.out.Item = out
	at := slices.IndexFunc(x.out.Candidates, func(c api.Explained) bool { return c.ID == x.r.Item && c.Better != c.ID })
	switch {
	case at >= 0:
		out.Explained = x.out.Candidates[at]
		out.Curves = x.curves(out.Age)
		out.Title = it.Title
		out.Reason = x.candidateReason(&out.Explained, &it)
		return nil
	case !known:
		out.Outcome, out.Reason = api.OutcomeUnknown, unknownReason(x.r.Item)
		return nil
	}
	out.Group, out.Title, out.UpdateTime = it.Group(), it.Title, it.UpdateTime
	out.Age = x.query.Origin.Unix() - it.UpdateTime
	out.Decay, out.Curves = x.curve.At(float64(out.Age)), x.curves(out.Age)
	if docs[0].NotRecommended && !(x.home() && docs[0].Listed) {
		out.Outcome, out.Reason = api.OutcomeGone, "Its author does not want to be recommended (recommend in the author's card)."
		return nil
	}
	factors, err := x.ask(ctx, []string{out.ID}) // recall may have it although it is no candidate
	if err != nil {
		return err
	}
	found := factors[0].Known
	if found {
		setFactors(&out.Explained, factors[0], &x.query.Ranking)
		out.Source, out.Score = x.stages.direct.Name(), factors[0].Score
	}
	return x.elsewhere(ctx, out, &it, found)
}

// unknownReason says why nothing can be read under an id. A post that the agent may not see is read like one that does
// not exist.
func unknownReason(id string) string {
	if feed.IsPost(id) {
		return "There is no post with this id that feeds may show the agent: it does not exist, it is a reply, moderators hide it or have " +
			"suspended its author, or its audience or a block leaves the agent out."
	}
	return "There is no item with this id."
}

// curves returns the contribution of each curve to the decay at an age; nil with one Gaussian.
func (x *explaining) curves(age int64) []float64 {
	if x.query.Ranking.Decay.Curves.Len() == 0 {
		return nil
	}
	return x.curve.Parts(float64(age))
}

// candidateReason puts a candidate's outcome into words.
func (x *explaining) candidateReason(c *api.Explained, it *feed.Item) string {
	paged := 0 // candidates of the page up to this one
	ahead := 0 // candidates of the session up to this one
	for _, other := range x.out.Candidates {
		if c.Variety == nil || other.Variety == nil || other.Variety.Place > c.Variety.Place {
			continue
		}
		switch other.Outcome {
		case api.OutcomePaged:
			paged++
		case api.OutcomeKept:
			ahead++
		}
	}
	ranks := x.ranks(c)
	switch c.Outcome {
	case api.OutcomePaged:
		return fmt.Sprintf("%s and is at position %d of the page%s.%s%s%s", ranks, paged, varietyReason(c.Variety), storyReason(c), patternReason(c.Variety), repeatReason(c))
	case api.OutcomeKept:
		return fmt.Sprintf("%s. The page of %d is full before it; it is at position %d of the session after the page%s.%s%s%s",
			ranks, x.r.Limit, ahead, varietyReason(c.Variety), storyReason(c), patternReason(c.Variety), repeatReason(c))
	case api.OutcomeOutside:
		if x.mentions[c.ID] {
			return ranks + ", but it only mentions the agent, who follows none of its authors: a refresh of home has few of these, and a later one has this."
		}
		return fmt.Sprintf("%s, but the session, which has at most %d positions (recall.n), is full before it.", ranks, x.stages.cfg.N)
	case api.OutcomeSeen:
		return fmt.Sprintf("%s, but it is in the filter of %s: the agent was given it, or an item of its group, that day. "+
			"It may also be a false positive, at the rate of dedup.false_positive_rate.", ranks, c.Day)
	case api.OutcomePending:
		return ranks + ", but the agent was given it, or an item of its group, recently: it is in the agent's pending set."
	case api.OutcomeMuted:
		return fmt.Sprintf("%s, but the agent's profile refuses it: %s.", ranks, refusal(&x.query.Profile, it))
	case api.OutcomeStory:
		return fmt.Sprintf("%s, but %s on the same page has nearly the same title and ranks higher; "+
			"it was set aside, and the session is full without it (recall.n). It may appear in a later one.", ranks, c.Better)
	case api.OutcomeGone:
		why := "it was deleted, moved to another group or given a later date"
		if feed.IsPost(c.ID) {
			why = "it was deleted, moderators hide it or have suspended its author, its author does not want to be recommended, or its audience or a block now leaves the agent out"
		}
		if arrange.HomeSource(c.Source) == feed.SourceFollowing {
			why += ", or the agent no longer follows its author"
		}
		if x.r.Feed.Named() {
			why += ", or the feed does not select it any more"
		}
		return ranks + ", but it has changed since it was recalled: " + why + "."
	}
	return fmt.Sprintf("%s, but only one item of a group is shown, and %s of the same group ranks higher.", ranks, c.Better)
}

// repeatReason states that a candidate was shown before.
func repeatReason(c *api.Explained) string {
	if !c.ShownBefore {
		return ""
	}
	if c.Day == "" {
		return " Another feed has given it to the agent within the window; a named feed may show it again."
	}
	return fmt.Sprintf(" The agent was given it, or an item of its group, on %s; it is shown again because nothing unseen is left (dedup.when_exhausted).", c.Day)
}

// storyReason states that the page has another item with a candidate's story.
func storyReason(c *api.Explained) string {
	if c.Better == "" {
		return ""
	}
	return fmt.Sprintf(" It was set aside at first, because %s on the page has nearly the same title.", c.Better)
}

// varietyReason describes the variety factors that lowered a candidate on its page.
func varietyReason(v *api.Variety) string {
	var why []string
	for k, nth := range []*api.Nth{v.Author, v.Site, v.Tag} {
		if nth != nil && nth.Factor < 1 {
			why = append(why, fmt.Sprintf("item %d there of the %s %s (× %.3g)", nth.Nth, arrange.Kinds[k], nth.Name, nth.Factor))
		}
	}
	if len(why) == 0 {
		return ""
	}
	return ", as " + strings.Join(why, " and ")
}

// elsewhere explains why an item is not a candidate.
func (x *explaining) elsewhere(ctx context.Context, out *api.ExplainedItem, it *feed.Item, found bool) error {
	better, grouped := x.best[it.Group()]
	switch {
	case it.By(x.r.Agent):
		out.Outcome = api.OutcomeOwn
		out.Reason = "It is the agent's own item: own items appear in the agent's timeline, not in the agent's feeds."
	case it.UpdateTime > x.query.Origin.Unix():
		out.Outcome = api.OutcomeFuture
		out.Reason = fmt.Sprintf("It is dated %s, which is after %s: it appears from its date on.", stamp(it.UpdateTime), stamp(x.query.Origin.Unix()))
	case x.query.Profile.Refuses(it):
		out.Outcome = api.OutcomeMuted
		out.Reason = fmt.Sprintf("The agent's profile refuses it: %s.", refusal(&x.query.Profile, it))
	case grouped:
		out.Outcome, out.Better = api.OutcomeGroup, better
		out.Reason = fmt.Sprintf("Only one item of a group is shown, and %s of the same group %s ranks higher.", out.Better, it.Group())
	default:
		return x.unproposed(ctx, out, found)
	}
	return nil
}

// outside explains by how much recall missed an item, and whether a filter or the pending set has
// it too.
func (x *explaining) outside(ctx context.Context, out *api.ExplainedItem) error {
	out.Outcome = api.OutcomeOutside
	n := x.recalled
	if x.exhausted || n == 0 || compareExplained(&out.Explained, &x.last) < 0 {
		out.Reason = fmt.Sprintf("With its score of %.4g it belongs among the candidates: it was added or changed during this request. Retry.", out.Score)
		return nil
	}
	ends := "while the page is not full"
	if x.out.OutOfTime {
		ends = "for " + feed.DurationText(x.stages.cfg.RoundsFor) + ", a tenth of server.request_timeout"
	}
	out.Reason = fmt.Sprintf("Its score of %.4g is behind the %.4g of the last of the %d candidates, which were recalled in %s; "+
		"recall continues only %s.", out.Score, x.last.Score, n, plural(x.out.Counts.Rounds, "round"), ends)
	inside, timed := x.enter(ctx, dedupStage)
	defer timed.end()
	checked, err := x.stages.stores.Seen.Check(inside, x.r.Agent, []string{out.Group}, x.now)
	if x.stages.failOpen.allows(ctx, err) {
		return nil
	}
	if err != nil {
		return err
	}
	var outcome api.Outcome
	switch outcome, out.Day = x.outcome(checked.Verdicts[0]); outcome {
	case api.OutcomeSeen:
		out.Reason += " It is also in the filter of " + out.Day + "."
	case api.OutcomePending:
		out.Reason += " It is also in the agent's pending set."
	}
	return nil
}

// compareExplained orders as [recall.Source] does.
func compareExplained(a, b *api.Explained) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.UpdateTime, a.UpdateTime), cmp.Compare(a.ID, b.ID))
}

// refusal describes the part of a profile that refuses the item.
func refusal(p *feed.Profile, it *feed.Item) string {
	if p.Refusals().Ref(feed.Ref{ID: it.ID, Group: it.Group()}) {
		return "the agent has hidden " + it.Group()
	}
	for _, author := range p.MutedAuthors {
		if it.By(author) {
			return "its author " + author + " is muted"
		}
	}
	tag, muted := p.Refusals().Tag(it.Tags)
	if muted {
		return "its tag " + tag + " is muted"
	}
	word, muted := p.Refusals().Word(it.Title, it.Summary, it.Tags)
	if muted {
		return fmt.Sprintf("it has the muted word %q", word)
	}
	return "its language " + it.Lang + " is not among " + strings.Join(p.Langs, ", ")
}

func stamp(unix int64) string { return time.Unix(unix, 0).UTC().Format(time.RFC3339) }

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
