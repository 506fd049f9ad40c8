package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/feed"
)

// WriteRanking writes a version of the ranking: who made it so, and a line of
// parameters for each group of agents.
func WriteRanking(w io.Writer, v client.RankingVersion) error {
	var b strings.Builder
	fmt.Fprintf(&b, "version %d", v.Version)
	if when := moment(v.At); when != "" {
		fmt.Fprintf(&b, ", %s UTC", when)
	}
	fmt.Fprintf(&b, ", by %s", printable(v.By))
	if v.Why != "" {
		fmt.Fprintf(&b, ": %s", printable(v.Why))
	}
	b.WriteString("\n\n")
	left := 1.0
	for _, x := range v.Experiments {
		left -= x.Share
	}
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "AGENTS\tSHARE\tPARAMETERS\n%s\t%s\t%s\n", feed.Control, Share(left), parameters(v.Ranking))
	for _, x := range v.Experiments {
		fmt.Fprintf(t, "%s\t%s\t%s\n", printable(x.Name), Share(x.Share), parameters(x.Ranking))
	}
	_ = t.Flush()
	return write(w, &b)
}

// parameters lists the parameters that differ from the defaults of this program, in
// the form that [feed.Ranking.With] reads. A line of all would hide them.
func parameters(r feed.Ranking) string {
	if changed := r.Changes(feed.DefaultRanking()); changed != "" {
		return "default, but " + changed
	}
	return "default"
}

// WriteHistory writes the newest versions, at most limit, each with what it
// changed of the one before it. The list may be longer by one for that.
func WriteHistory(w io.Writer, list []client.RankingVersion, limit int) error {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "VERSION\tUTC\tBY\tCHANGE\tWHY")
	for i, v := range list[:min(limit, len(list))] {
		// The oldest one has nothing to be compared with.
		change := parameters(v.Ranking)
		if i+1 < len(list) {
			change = RankingChange(list[i+1], v)
		}
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\n", v.Version, moment(v.At), printable(v.By), change, printable(v.Why))
	}
	_ = t.Flush()
	return write(w, &b)
}

// RankingChange tells in one line what is different in a version from the one
// before it.
func RankingChange(from, to client.RankingVersion) string {
	var said []string
	if change := to.Ranking.Changes(from.Ranking); change != "" {
		said = append(said, change)
	}
	find := func(list []client.Experiment, name string) int {
		return slices.IndexFunc(list, func(x client.Experiment) bool { return x.Name == name })
	}
	for _, x := range to.Experiments {
		i := find(from.Experiments, x.Name)
		if i < 0 {
			said = append(said, fmt.Sprintf("new %s for %s: %s", printable(x.Name), Share(x.Share), cmp.Or(x.Ranking.Changes(to.Ranking), "as the live one")))
			continue
		}
		was := from.Experiments[i]
		if x.Share != was.Share {
			said = append(said, fmt.Sprintf("%s for %s instead of %s", printable(x.Name), Share(x.Share), Share(was.Share)))
		}
		if change := x.Ranking.Changes(was.Ranking); change != "" {
			said = append(said, printable(x.Name)+": "+change)
		}
	}
	for _, x := range from.Experiments {
		if find(to.Experiments, x.Name) < 0 {
			said = append(said, printable(x.Name)+" ended")
		}
	}
	return cmp.Or(strings.Join(said, "; "), "no change")
}

// Notes lists the side effects of a change, a line each.
func Notes(v client.RankingVersion) string { return notes(v.Notes) }

// Share writes a part of all agents as a percentage, exact to a bucket.
func Share(part float64) string {
	text := strconv.FormatFloat(max(0, 100*part), 'f', 2, 64)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".") + "%"
}

// ParseShare reads 10% or 0.1.
func ParseShare(text string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	share, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		share /= 100
	}
	if err != nil || !(share >= 0 && share <= 1) {
		return 0, fmt.Errorf("a share is a part of all agents, such as 10%% or 0.1, not %q", text)
	}
	return share, nil
}

func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateTime)
}
