package quality

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/freshet/freshet/feed"
)

// columns of the table. The JSON has all intervals.
var columns = []struct {
	title, figure  string
	signed, bounds bool
}{
	{"nDCG@20", "ndcg20", false, true},
	{"MRR", "mrr", false, false},
	{"HR@5", "hr5", false, false},
	{"HR@20", "hr20", false, false},
	{"coverage", "coverage", false, false},
	{"sites/page", "sites_per_page", false, false},
	{"nDCG − most recent", "ndcg20_minus_most_recent", true, true},
	{"nDCG − default", "ndcg20_minus_default", true, true},
}

// Print writes the measurements as a table.
func (r *Report) Print(w io.Writer) error {
	var b strings.Builder
	whose := "all readers"
	if r.Half != All {
		whose = string(r.Half) + " half of the readers"
	}
	fmt.Fprintf(&b, "%s: %d readers, %d first reads from %s to %s\n", whose, r.Readers, r.Events,
		r.From.UTC().Format(time.DateOnly), r.Until.UTC().Format(time.DateOnly))
	fmt.Fprintf(&b, "%.1f candidates at a read, %s old at most; %d reads of older items, which no ranking finds;\n%d reads at the update time of the item are left out\n\n",
		r.Candidates, age(r.Window), r.Outside, r.LeftOut)
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "ranking")
	for _, c := range columns {
		fmt.Fprint(t, "\t", c.title)
	}
	fmt.Fprintln(t)
	for i := range r.Rankings {
		row := &r.Rankings[i]
		fmt.Fprint(t, row.Ranking)
		for _, c := range columns {
			fmt.Fprint(t, "\t", row.cell(c.figure, c.signed, c.bounds))
		}
		fmt.Fprintln(t)
	}
	_ = t.Flush() // cannot fail in memory
	b.WriteString("\nmeans over readers, each over their reads; in brackets 95 % intervals (bootstrap over readers); --json has those of all\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// age formats whole days as days.
func age(d time.Duration) string {
	if d%day == 0 {
		return fmt.Sprintf("%d days", d/day)
	}
	return feed.DurationText(d)
}

// cell formats a figure, with its interval if bounds is set.
func (row *Row) cell(figure string, signed, bounds bool) string {
	e, known := row.Figure(figure)
	number := "%.3f"
	if signed {
		number = "%+.3f"
	}
	switch {
	case !known:
		return "-"
	case signed && e == Estimate{}:
		return "0" // compared with itself, or with an identical ranking
	case !bounds:
		return fmt.Sprintf(number, e.Value)
	}
	return fmt.Sprintf(number+" ["+number+" "+number+"]", e.Value, e.Low, e.High)
}
