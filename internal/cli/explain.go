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

// WriteExplanation writes an explanation as a table of the candidates down to
// the last of the page, or of all, and lines about it.
func WriteExplanation(w io.Writer, x client.Explanation, all bool, width int) error {
	if x.Feed == feed.HomeFeed {
		return writeTable(w, x, homePositions(x, all), width, func(column int) bool { return column < 1 || column > 3 })
	}
	shown := x.Candidates
	if !all {
		// What is kept before the end of the page has been placed behind it.
		shown = slices.DeleteFunc(slices.Clone(shown[:lastPaged(shown)]), func(c api.Explained) bool {
			return c.Outcome == "kept" && x.Counts.Paged > 0
		})
	}
	header := []string{"RANK", "OUTCOME", "AGE", "RELEVANCE", "DECAY", "POPULARITY", "SCORE", "ID", "TITLE"}
	varied := x.Ranking.Diversity.On()
	if varied {
		header = slices.Insert(header, variedColumn, "PLACE", "VARIETY")
	}
	rows := [][]string{header}
	for i := range shown {
		row := explainedRow(&shown[i])
		if varied {
			by := []string{"", ""} // not placed
			if v := shown[i].Variety; v != nil {
				by = []string{strconv.Itoa(v.Place), number(v.Factor)}
			}
			row = slices.Insert(row, variedColumn, by...)
		}
		rows = append(rows, row)
	}
	return writeTable(w, x, rows, width, func(column int) bool { return column != 1 })
}

// writeTable writes the rows, with numbers on the right, and lines about the explanation.
func writeTable(w io.Writer, x client.Explanation, rows [][]string, width int, right func(column int) bool) error {
	var b strings.Builder
	shown := len(rows) - 1
	if shown > 0 {
		explainedTable(&b, rows, width, right)
	}
	if rest := len(x.Candidates) - shown; rest > 0 {
		fmt.Fprintf(&b, "… and %d more, with --all\n", rest)
	}
	b.WriteString(explainedFooter(x))
	return write(w, &b)
}

// lastPaged is how many candidates there are down to the last of the page; all
// of them where there is no page.
func lastPaged(candidates []api.Explained) int {
	for n := len(candidates); n > 0; n-- {
		if candidates[n-1].Outcome == "paged" {
			return n
		}
	}
	return len(candidates)
}

func explainedRow(c *api.Explained) []string {
	relevance, popularity := "?", "?"
	if c.Relevance != nil {
		relevance = number(c.Relevance.Total)
	} else if c.Affinity != nil {
		relevance = "" // its source has another score
	}
	if c.Popularity != nil {
		popularity = number(c.Popularity.Factor)
	}
	return []string{
		strconv.Itoa(c.Rank), outcome(c), Age(c.Age), relevance, number(c.Decay), popularity, number(c.Score), printable(c.ID), printable(c.Title),
	}
}

// variedColumn is where the columns are put that say where a candidate is placed.
const variedColumn = 7

// varieties says what a candidate has in common with others of its page.
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

// outcome describes the outcome of a candidate, with the day of the filter that has it, or
// the source of its position.
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

// leastID is how many columns an id is given in however narrow a terminal.
const leastID = 12

// explainedTable aligns the columns, numbers on the right. What the others
// leave is for the id, at most half of it, and for the title.
func explainedTable(b *strings.Builder, rows [][]string, width int, right func(column int) bool) {
	widths, last := columnWidths(rows), len(rows[0])-1
	if width > 0 {
		left := width
		for _, w := range widths[:last-1] {
			left -= w + len(gap)
		}
		widths[last-1] = min(widths[last-1], max(left/2, leastID))
		widths[last] = min(widths[last], max(left-widths[last-1]-len(gap), 0))
	}
	writeRows(b, rows, widths, func(column int) bool { return column < last-1 && right(column) })
}

// explainedFooter names the ranking, the outcomes, and the time of each stage.
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
	t := x.Times
	fmt.Fprintf(&b, "times: profile %.1f ms, recall %.1f ms, dedup %.1f ms, hydrate %.1f ms, factors %.1f ms, total %.1f ms\n",
		t.Profile, t.Recall, t.Dedup, t.Hydrate, t.Factors, t.Total)
	return b.String()
}

// WriteExplainedItem says of one item why it is where it is.
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
		fmt.Fprintf(&b, "score %s = relevance %s × decay %s × popularity %s\n",
			number(it.Score), number(it.Relevance.Total), number(it.Decay), number(it.Popularity.Factor))
		fmt.Fprintf(&b, "  relevance   base %s%s%s%s\n", number(it.Relevance.Base), gains("tag", it.Relevance.Tags), gains("keyword", it.Relevance.Keywords), learned(it.Relevance.Learned))
		fmt.Fprintf(&b, "  decay       %s old%s\n", Age(it.Age), curves(x.Ranking.Decay, it.Curves))
		fmt.Fprintf(&b, "  popularity  %s = likes + 2 × comments%s%s\n", strconv.FormatFloat(it.Popularity.Value, 'f', -1, 64),
			readers("2h", it.Popularity.Readers2h), readers("2d", it.Popularity.Readers2d))
	}
	if v := it.Variety; scored && v != nil && x.Ranking.Diversity.On() {
		fmt.Fprintf(&b, "  variety     %s\n", varieties(v))
	}
	if scored {
		b.WriteString("\n")
	}
	b.WriteString(explainedFooter(x))
	return write(w, &b)
}

// curves says what each curve adds to a decay; nothing of one Gaussian.
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

// readers are those who clicked or liked an item, and what they add to its factor.
func readers(halfLife string, r *api.Readers) string {
	if r == nil {
		return ""
	}
	return fmt.Sprintf(" + %s readers (%s, +%s)", number(r.Count), halfLife, number(r.Adds))
}

// learned says what was learned, such as
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
