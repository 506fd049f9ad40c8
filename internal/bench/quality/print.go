package quality

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/freshet/freshet/feed"
)

// columns of the table; those of differences show a sign.
var columns = []struct {
	title, figure string
	signed        bool
}{
	{"nDCG@20", "ndcg20", false}, {"MRR", "mrr", false}, {"HR@5", "hr5", false}, {"HR@20", "hr20", false},
	{"coverage", "coverage", false}, {"sites/page", "sites_per_page", false},
	{"nDCG − most recent", "ndcg20_minus_most_recent", true}, {"nDCG − default", "ndcg20_minus_default", true},
}

// Print writes what was measured as a table.
func (r *Report) Print(w io.Writer) error {
	var b strings.Builder
	whose := "all readers"
	if r.Half != All {
		whose = string(r.Half) + " half of the readers"
	}
	fmt.Fprintf(&b, "%s: %d readers, %d first reads from %s to %s\n", whose, r.Readers, r.Events,
		r.From.UTC().Format(time.DateOnly), r.Until.UTC().Format(time.DateOnly))
	fmt.Fprintf(&b, "%.1f candidates at a read, %s old at most; %d reads of older items, which no ranking finds;\n%d reads at an item's own time are left out\n\n",
		r.Candidates, feed.DurationText(r.Window), r.Outside, r.LeftOut)
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
			fmt.Fprint(t, "\t", row.cell(c.figure, c.signed))
		}
		fmt.Fprintln(t)
	}
	_ = t.Flush() // into memory
	b.WriteString("\nmeans over readers, each over their reads; in brackets 95 % intervals (bootstrap over readers)\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// cell writes a figure with its interval.
func (row *Row) cell(figure string, signed bool) string {
	e, known := row.Figure(figure)
	format := "%.3f [%.3f %.3f]"
	switch {
	case !known:
		return "-"
	case signed && e == Estimate{}:
		return "" // it is compared with itself, or ranks alike
	case signed:
		format = "%+.3f [%+.3f %+.3f]"
	}
	return fmt.Sprintf(format, e.Value, e.Low, e.High)
}
