package cli

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/cmd/freshet/evaluation"
	"github.com/freshet/freshet/engine/offline"
)

// ReplayLimits explains the limits of a replay.
const ReplayLimits = `Limits of a replay: it ranks with today's catalog, profiles and likes, not those of the click, and
without what the clicks themselves have changed: live popularity and learned interests;
it does not leave out items that the agent had seen by then; and people can only click what a ranking
has shown them, so the ranking that was live at the time has an advantage.
`

// WriteReplay writes a table of the scores, a conclusion, and the events that were not scored.
func WriteReplay(w io.Writer, r evaluation.Replay) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s, ranked as of each click, the first %d\n%s\n", counted(r.Clicks, "click"), counted(r.Agents, "agent"), r.Depth, notes(r.Notes)+leftOut(r.LeftOut))
	t := newTable("wwwwwwww", "", fmt.Sprintf("HIT RATE@%d", r.K), fmt.Sprintf("NDCG@%d", r.K), "MRR", "NDCG-A", "HIGHER", "LOWER", "RANKING")
	three := func(v float64) string { return fmt.Sprintf("%.3f", v) }
	for i, x := range r.Contestants {
		gains, higher, lower := gain(x.Standing), fmt.Sprint(x.Higher), fmt.Sprint(x.Lower)
		if i == 0 { // the one that the others are compared with
			gains, higher, lower = "", "", ""
		}
		t.add(x.Name, three(x.Scores.HitRate), three(x.Scores.NDCG), three(x.Scores.MRR), gains, higher, lower, parameters(x.Ranking))
	}
	if r.Clicks > 0 {
		b.WriteString(t.text(0))
	}
	fmt.Fprintf(&b, "\n%s\n", scored(r))
	unscored(&b, r)
	b.WriteString("\n" + ReplayLimits)
	return write(w, &b)
}

func unscored(b *strings.Builder, r evaluation.Replay) {
	why := map[offline.ClickState]string{
		offline.Gone:    "on items that are no longer in the catalog",
		offline.Later:   "on items whose date in the catalog is after the click",
		offline.Refused: "on items that the agent has since muted",
	}
	for _, state := range slices.Sorted(maps.Keys(r.NotScored)) {
		fmt.Fprintf(b, "not scored: %s %s\n", counted(r.NotScored[state], "click"), cmp.Or(why[state], string(state)))
	}
	for _, kind := range slices.Sorted(maps.Keys(r.Skipped)) {
		fmt.Fprintf(b, "skipped: %s of type %q\n", counted(r.Skipped[kind], "event"), kind)
	}
	unreadLines(b, r.Errors, r.Rejected)
}

// unreadLines writes the first lines that could not be read, and the number of the others.
func unreadLines(b *strings.Builder, first []client.Rejection, rejected int) {
	for _, e := range first {
		fmt.Fprintf(b, "line %d: %s\n", e.Line, e.Reason)
	}
	hidden := rejected - len(first)
	if hidden > 0 {
		fmt.Fprintf(b, "and %s that could not be read\n", counted(hidden, "more line"))
	}
}

func scored(r evaluation.Replay) string {
	if r.Clicks == 0 {
		return "There are no clicks to score."
	}
	best := slices.MaxFunc(r.Contestants, func(a, b evaluation.Contestant) int { return cmp.Compare(a.Scores.NDCG, b.Scores.NDCG) })
	switch len(r.Contestants) {
	case 1:
		return fmt.Sprintf("%s of the clicked items are among the first %d.", part(best.Scores.HitRate), r.K)
	case 2:
		b := r.Contestants[1]
		switch {
		case b.Margin == nil:
			return "Too few agents have clicks to tell whether the difference is more than chance."
		case math.Abs(b.Gain) <= *b.Margin:
			return "The difference between A and B may be chance: the 95% interval of the NDCG's difference contains 0."
		case b.Gain > 0:
			return "B ranks the clicked items higher, and that is more than chance (95%)."
		}
		return "B ranks the clicked items lower, and that is more than chance (95%)."
	}
	if best.Scores.NDCG == r.Contestants[0].Scores.NDCG {
		return "None of them has a better NDCG than A."
	}
	return fmt.Sprintf("%s has the best NDCG. The best of many owes part of it to chance: compare it with A on other clicks before you make it live.", best.Name)
}

// gain formats the gain in NDCG over A, with its margin if that is known.
func gain(x offline.Standing) string {
	if x.Margin == nil {
		return fmt.Sprintf("%+.3f", x.Gain)
	}
	return fmt.Sprintf("%+.3f ±%.3f", x.Gain, *x.Margin)
}
