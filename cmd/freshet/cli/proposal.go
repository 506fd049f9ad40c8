package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/freshet/freshet/cmd/freshet/evaluation"
	"github.com/freshet/freshet/cmd/freshet/fit"
)

// proposalLimits explains the limits of a proposal.
const proposalLimits = `Limits: people can only click what a ranking has shown them, so the ranking that was live at the time has an
advantage. Items and profiles are today's; uploaded likes and comments, variety and exploration do not count.
Only an experiment proves that a change is better.
`

// WriteProposal writes what a fit rests on, how it did on later clicks, and what it would change.
func WriteProposal(w io.Writer, p evaluation.Proposed) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s on %s, %s to %s; %d of them placed, among %.1f candidates on average\n\n", counted(p.Clicks, "click"), counted(p.Readers, "reader"),
		counted(p.Items, "item"), p.From.Format(time.DateOnly), p.Until.Format(time.DateOnly), p.Scored, p.Candidates)
	t := newTable("wwwwwt", "JUDGED BY", "CLICKS", "READERS", "NDCG@20 IN FORCE", "FITTED", "FITTED TO ALL BEFORE")
	for _, f := range p.Folds {
		t.add(f.From.Format(time.DateOnly)+" to "+f.Until.Format(time.DateOnly), f.Clicks, f.Readers, fmt.Sprintf("%.3f", f.NDCG), fmt.Sprintf("%.3f", f.Fitted), orNothing(f.Changes))
	}
	b.WriteString(t.text(0))
	fmt.Fprintf(&b, "\non clicks that the fit has not seen: %+.4f nDCG@20 (95 %%: %+.4f to %+.4f), from %.3f to %.3f, over %s\n\n",
		p.Gain, p.Gain-p.Margin, p.Gain+p.Margin, p.NDCG, p.NDCG+p.Gain, counted(p.Judges, "reader"))
	verdict(&b, &p)
	if p.Exhausted {
		fmt.Fprintf(&b, "All %d rankings were tried; more --evaluations might find a better one.\n", p.Evaluations)
	}
	unusedClicks(&b, &p)
	b.WriteString("\n" + proposalLimits)
	return write(w, &b)
}

func verdict(b *strings.Builder, p *evaluation.Proposed) {
	switch {
	case p.Verdict == fit.Change:
		t := newTable("www", "PARAMETER", "FROM", "TO")
		for _, c := range p.Parameters {
			t.add(c.Parameter, c.From, c.To)
		}
		b.WriteString(t.text(0))
		if p.Experiment != "" {
			fmt.Fprintf(b, "\nVersion %d has it as the experiment %q; \"freshet ranking report\" compares it.\n", p.Version, p.Experiment)
		} else {
			fmt.Fprintf(b, "\nTry it on a share of the readers:\n  freshet ranking set '%s' --as fitted --share 10%%\n", printable(p.Changes))
		}
	case p.Changes == "":
		b.WriteString("No change: no ranking was found that is better on all clicks.\n")
	default:
		b.WriteString("No change: the interval of the gain is not above zero.\n")
	}
}

func orNothing(changes string) string {
	if changes == "" {
		return "nothing"
	}
	return changes
}

func unusedClicks(b *strings.Builder, p *evaluation.Proposed) {
	for _, of := range []struct {
		n   int
		why string
	}{
		{p.LeftOut.Unknown, "on unknown items"},
		{p.LeftOut.Early, "before the date of their item"},
		{p.LeftOut.Future, "in the future"},
	} {
		if of.n > 0 {
			fmt.Fprintf(b, "left out: %s %s\n", counted(of.n, "click"), of.why)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(p.Skipped)) {
		fmt.Fprintf(b, "skipped: %s of type %q\n", counted(p.Skipped[kind], "event"), kind)
	}
	unreadLines(b, p.Errors, p.Rejected)
}
