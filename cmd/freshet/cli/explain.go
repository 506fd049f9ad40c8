package cli

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
)

// WriteExplanation writes an explanation as a table of the candidates, up to the last one of the
// page or all of them, and a summary.
func WriteExplanation(w io.Writer, x client.Explanation, all bool, width int) error {
	t := candidates(x, all)
	if x.Feed == feed.HomeFeed {
		t = homePositions(x, all)
	}
	after := ""
	rest := len(x.Candidates) - (len(t.rows) - 1)
	if rest > 0 {
		after = fmt.Sprintf("… and %d more, with --all\n", rest)
	}
	return t.write(w, width, after+explainedFooter(x))
}

// candidates returns a table of for-you's candidates, in their order.
func candidates(x client.Explanation, all bool) *table {
	shown := x.Candidates
	if !all {
		// Candidates that are kept although they rank before the end of the page were placed behind
		// it for variety.
		shown = slices.DeleteFunc(slices.Clone(shown[:lastPaged(shown)]), func(c api.Explained) bool {
			return c.Outcome == "kept" && x.Counts.Paged > 0
		})
	}
	varied := x.Ranking.Diversity.On()
	isScored := slices.ContainsFunc(shown, func(c api.Explained) bool { return c.CoReaders != nil })
	kinds, columns := "nwnnnn", []any{"RANK", "OUTCOME", "AGE", "RELEVANCE", "DECAY", "POPULARITY"}
	if isScored {
		kinds, columns = kinds+"n", append(columns, "CO-READERS")
	}
	kinds, columns = kinds+"n", append(columns, "SCORE")
	if varied {
		kinds, columns = kinds+"nn", append(columns, "PLACE", "VARIETY")
	}
	t := newTable(kinds+"it", append(columns, "ID", "TITLE")...)
	for i := range shown {
		c := &shown[i]
		relevance, popularity := factors(c)
		row := []any{c.Rank, outcome(c), Age(c.Age), relevance, number(c.Decay), popularity}
		switch {
		case isScored && c.CoReaders != nil:
			row = append(row, number(c.CoReaders.Factor))
		case isScored:
			row = append(row, "")
		}
		row = append(row, number(c.Score))
		switch v := c.Variety; {
		case varied && v != nil:
			row = append(row, v.Place, number(v.Factor))
		case varied: // not placed
			row = append(row, "", "")
		}
		t.add(append(row, c.ID, c.Title)...)
	}
	return t
}

// lastPaged returns the number of candidates up to the last one on the page, or of all if there is
// no page.
func lastPaged(candidates []api.Explained) int {
	for n := len(candidates); n > 0; n-- {
		if candidates[n-1].Outcome == "paged" {
			return n
		}
	}
	return len(candidates)
}

// factors returns the relevance and the popularity of a candidate, each a question mark if unknown.
func factors(c *api.Explained) (relevance, popularity string) {
	relevance, popularity = "?", "?"
	if c.Relevance != nil {
		relevance = number(c.Relevance.Total)
	} else if c.Affinity != nil {
		relevance = "" // its source is scored differently
	}
	if c.Popularity != nil {
		popularity = number(c.Popularity.Factor)
	}
	return relevance, popularity
}

// varieties describes what a candidate has in common with other candidates of its page.
func varieties(v *api.Variety) string {
	var b strings.Builder
	fmt.Fprintf(&b, "× %s, place %d, on page %d", number(v.Factor), v.Place, v.Page)
	for _, k := range []struct {
		name string
		*api.Nth
	}{{"author", v.Author}, {"site", v.Site}, {"tag", v.Tag}} {
		if k.Nth != nil {
			fmt.Fprintf(&b, "; %s %s: item %d, × %s", k.name, printable(k.Name), k.Nth.Nth, number(k.Factor))
		}
	}
	return b.String()
}

// outcome describes the outcome of a candidate, with the day of the filter that contains it, or the
// source of its position.
func outcome(c *api.Explained) string {
	is := string(c.Outcome)
	switch {
	case c.ShownBefore:
		return is + ", seen " + c.Day
	case c.Day != "":
		return is + " " + c.Day
	case c.Variety != nil && c.Variety.Source != "":
		return is + " " + printable(c.Variety.Source)
	}
	return is
}

func number[F float32 | float64](x F) string { return strconv.FormatFloat(float64(x), 'g', 4, 64) }

// explainedFooter returns a summary: the ranking, the outcomes, and the time of each stage.
func explainedFooter(x client.Explanation) string {
	var b strings.Builder
	n := x.Counts
	fmt.Fprintf(&b, "recalled=%d, rounds=%d", n.Recalled, n.Rounds)
	for _, c := range []struct {
		name string
		n    int
	}{
		{"seen", n.Seen}, {"pending", n.Pending}, {"muted", n.Muted}, {"gone", n.Gone}, {"group", n.Group}, {"same_story", n.Story}, {"outside", n.Outside}, {"paged", n.Paged}, {"kept", n.Kept},
	} {
		if c.n > 0 {
			fmt.Fprintf(&b, ", %s=%d", c.name, c.n)
		}
	}
	if x.Unlisted > 0 {
		fmt.Fprintf(&b, ", not listed=%d", x.Unlisted)
	}
	if x.OutOfTime {
		b.WriteString(", out of time")
	}
	b.WriteString(lacking(x.Degraded))
	proposed := ""
	if x.Proposed {
		proposed = " (proposed)"
	}
	fmt.Fprintf(&b, "\nranking: %s%s, variant %s, origin %s\n", parameters(x.Ranking), proposed, printable(x.Variant), x.Origin.UTC().Format("2006-01-02T15:04:05Z"))
	b.WriteString(leftOut(x.LeftOut))
	t := x.Times
	fmt.Fprintf(&b, "times: profile %.1f ms, recall %.1f ms, dedup %.1f ms, hydrate %.1f ms, factors %.1f ms, total %.1f ms\n",
		t.Profile, t.Recall, t.Dedup, t.Hydrate, t.Factors, t.Total)
	return b.String()
}

// WriteExplainedItem explains the position of one item.
func WriteExplainedItem(w io.Writer, x client.Explanation) error {
	it := x.Item
	var b strings.Builder
	b.WriteString(printable(it.ID))
	if it.Title != "" {
		b.WriteString(": " + printable(it.Title))
	}
	fmt.Fprintf(&b, "\n%s: %s\n\n", outcome(&it.Explained), printable(it.Reason))
	scored := it.Popularity != nil && (it.Affinity != nil || it.Relevance != nil)
	if scored && it.Affinity != nil {
		homeScore(&b, it)
	} else if scored {
		fmt.Fprintf(&b, "score %s = relevance %s × decay %s × popularity %s%s\n",
			number(it.Score), number(it.Relevance.Total), number(it.Decay), number(it.Popularity.Factor), coReadersFactor(it.CoReaders))
		fmt.Fprintf(&b, "  relevance   base %s%s%s%s\n", number(it.Relevance.Base), gains("tag", it.Relevance.Tags), gains("keyword", it.Relevance.Keywords), learned(it.Relevance.Learned))
		fmt.Fprintf(&b, "  decay       %s old%s\n", Age(it.Age), curves(x.Ranking.Decay, it.Curves))
		fmt.Fprintf(&b, "  popularity  %s = likes + 2 × comments%s\n", strconv.FormatFloat(it.Popularity.Value, 'f', -1, 64), allReaders(it.Popularity))
		b.WriteString(coReaders(it.CoReaders))
	}
	v := it.Variety
	if scored && v != nil && x.Ranking.Diversity.On() {
		fmt.Fprintf(&b, "  variety     %s\n", varieties(v))
	}
	if scored {
		b.WriteString("\n")
	}
	b.WriteString(explainedFooter(x))
	return write(w, &b)
}

// coReadersFactor returns the factor of co-readers in a score, "" if they change none.
func coReadersFactor(c *api.CoReaders) string {
	if c == nil {
		return ""
	}
	return " × co-readers " + number(c.Factor)
}

// coReaders describes the factor of co-readers; it is "" if they change no score.
func coReaders(c *api.CoReaders) string {
	switch {
	case c == nil:
		return ""
	case c.Own == nil || c.Mean == nil:
		return fmt.Sprintf("  co-readers  × %s; fewer than three people have read this and what the agent has read\n", number(c.Factor))
	}
	return fmt.Sprintf("  co-readers  × %s, between its own factor F = %s and the mean F̄ = %s of the candidates\n", number(c.Factor), number(*c.Own), number(*c.Mean))
}

// curves describes each curve's part of a decay; it is "" for a single Gaussian.
func curves(d feed.Decay, parts []float64) string {
	var b strings.Builder
	for i, c := range d.Curves[:min(d.Curves.Len(), len(parts))] {
		sign := ": "
		if i > 0 {
			sign = " + "
		}
		fmt.Fprintf(&b, "%s%s", sign, c.Shape)
		if c.Shape != feed.Constant {
			fmt.Fprintf(&b, " %s", feed.DurationText(c.Scale))
		}
		fmt.Fprintf(&b, " %s", number(parts[i]))
	}
	return b.String()
}

// allReaders describes the readers who clicked or liked an item, by half-life.
func allReaders(p *api.Popularity) string {
	return readers("1h", p.Readers1h) + readers("2h", p.Readers2h) + readers("6h", p.Readers6h) +
		readers("1d", p.Readers1d) + readers("2d", p.Readers2d) + readers("7d", p.Readers7d)
}

// readers describes the number of readers who clicked or liked an item, and what it adds to the
// popularity factor.
func readers(halfLife string, r *api.Readers) string {
	if r == nil {
		return ""
	}
	return fmt.Sprintf(" + %s readers (%s, +%s)", number(r.Count), halfLife, number(r.Adds))
}

// learned describes the learned gains, such as
//
//	; learned: tag go +0.05 (6 clicks, 1 like), author ann × 0.775 (1 hide)
func learned(list []feed.LearnedGain) string {
	var all []string
	for _, l := range list {
		does := "+" + number(l.Score)
		if l.Factor > 0 {
			does = "× " + number(l.Factor)
		}
		var acts []string
		for _, a := range []struct {
			n    int
			what string
		}{{l.Clicks, "click"}, {l.Likes, "like"}, {l.Dislikes, "dislike"}, {l.Hides, "hide"}} {
			if a.n > 0 {
				acts = append(acts, counted(a.n, a.what))
			}
		}
		all = append(all, fmt.Sprintf("%s %s %s (%s)", l.Kind, printable(l.Value), does, strings.Join(acts, ", ")))
	}
	if len(all) == 0 {
		return ""
	}
	return "; learned: " + strings.Join(all, ", ")
}

func gains(kind string, list []feed.Gain) string {
	var b strings.Builder
	for _, g := range list {
		fmt.Fprintf(&b, " + %s %s %s", kind, printable(g.Name), number(g.Score))
		if g.In != "" {
			fmt.Fprintf(&b, " (%s)", g.In)
		}
	}
	return b.String()
}
