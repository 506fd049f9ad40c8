package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/feed"
)

func percent(part float64) string { return fmt.Sprintf("%.2f %%", 100*part) }

func formatDay(day string) string {
	t, err := time.Parse("20060102", day)
	if err != nil {
		return printable(day)
	}
	return t.Format(time.DateOnly)
}

// WriteRanking writes the author of a version, and its parameters for each group of agents.
func WriteRanking(w io.Writer, v client.RankingVersion) error {
	when, why := moment(v.At), ""
	if when != "" {
		when = ", " + when + " UTC"
	}
	if v.Why != "" {
		why = ": " + printable(v.Why)
	}
	left := 1.0
	for _, x := range v.Experiments {
		left -= x.Share
	}
	t := newTable("www", "AGENTS", "SHARE", "PARAMETERS")
	t.add(feed.Control, Share(left), parameters(v.Ranking))
	for _, x := range v.Experiments {
		text := parameters(x.Ranking)
		if x.Limits.On() {
			text += "; limits " + x.Limits.String()
		}
		t.add(x.Name, Share(x.Share), text)
	}
	_, err := fmt.Fprintf(w, "version %d%s, by %s%s\n\n%s", v.Version, when, printable(v.By), why, t.text(0))
	return err
}

// parameters lists the parameters that differ from the defaults of this program, in the form that
// [feed.Ranking.With] parses. A list of all parameters would hide the differences.
func parameters(r feed.Ranking) string {
	changed := r.Changes(feed.DefaultRanking())
	if changed != "" {
		return "default, but " + changed
	}
	return "default"
}

// WriteHistory writes the newest versions, at most limit, each with its changes to the version
// before it. For these, list may contain one more version.
func WriteHistory(w io.Writer, list []client.RankingVersion, limit int) error {
	t := newTable("wwwww", "VERSION", "UTC", "BY", "CHANGE", "WHY")
	for i, v := range list[:min(limit, len(list))] {
		// The oldest one has no predecessor to compare it with.
		change := parameters(v.Ranking)
		if i+1 < len(list) {
			change = RankingChange(list[i+1], v)
		}
		t.add(v.Version, moment(v.At), v.By, change, v.Why)
	}
	return t.write(w, 0, "")
}

// RankingChange describes in one line the changes from one version to the next.
func RankingChange(from, to client.RankingVersion) string {
	var said []string
	change := to.Ranking.Changes(from.Ranking)
	if change != "" {
		said = append(said, change)
	}
	find := func(list []client.Experiment, name string) int {
		return slices.IndexFunc(list, func(x client.Experiment) bool { return x.Name == name })
	}
	for _, x := range to.Experiments {
		i := find(from.Experiments, x.Name)
		if i < 0 {
			said = append(said, fmt.Sprintf("new %s for %s: %s", printable(x.Name), Share(x.Share), cmp.Or(x.Ranking.Changes(to.Ranking), "same as the live ranking")))
			continue
		}
		was := from.Experiments[i]
		if x.Share != was.Share {
			said = append(said, fmt.Sprintf("%s for %s instead of %s", printable(x.Name), Share(x.Share), Share(was.Share)))
		}
		change := x.Ranking.Changes(was.Ranking)
		if change != "" {
			said = append(said, printable(x.Name)+": "+change)
		}
		if x.Limits != was.Limits {
			said = append(said, printable(x.Name)+": limits "+cmp.Or(x.Limits.String(), "none"))
		}
	}
	for _, x := range from.Experiments {
		if find(to.Experiments, x.Name) < 0 {
			said = append(said, printable(x.Name)+" ended")
		}
	}
	return cmp.Or(strings.Join(said, "; "), "no change")
}

// Notes lists the side effects of a change, one line each.
func Notes(v client.RankingVersion) string { return notes(v.Notes) }

// Share formats a part of all agents as a percentage, exact to a bucket.
func Share(part float64) string {
	text := strconv.FormatFloat(max(0, 100*part), 'f', 2, 64)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".") + "%"
}

// ParseShare parses a share such as 10% or 0.1.
func ParseShare(text string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	share, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		share /= 100
	}
	if err != nil || !(share >= 0 && share <= 1) {
		return 0, fmt.Errorf("a share must be a fraction of all agents, such as 10%% or 0.1, not %q", text)
	}
	return share, nil
}

func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateTime)
}
