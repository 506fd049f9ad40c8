package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/freshet/freshet/client"
)

// WriteReport writes a comparison of the variants: a table of the figures,
// a line for each variant about what exploration, and each source of home, has shown of it,
// and one that says what its difference to control is worth.
func WriteReport(w io.Writer, r client.Report) error {
	var b strings.Builder
	days := "days"
	if r.Days == 1 {
		days = "day"
	}
	fmt.Fprintf(&b, "%s to %s (UTC), %d %s\n\n", dashed(r.From), dashed(r.To), r.Days, days)
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "VARIANT\tSHARE\tSHOWN\tCLICKS\tCTR\t95 % INTERVAL\tMEDIAN AGE\tAUTHORS\tAGENTS\tLIKES\tDISLIKES\tHIDES\t")
	for _, v := range r.Variants {
		share, age := percent(v.Share), "-"
		if !v.Live {
			share = "ended"
		}
		if v.MedianAge != nil {
			age = Age(int64(*v.MedianAge))
		}
		ctr, interval := rate(v.Shown)
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t\n",
			printable(v.Name), share, v.Impressions, v.Clicks, ctr, interval, age, v.Authors, v.Agents, v.Likes, v.Dislikes, v.Hides)
	}
	_ = t.Flush()
	writeParts(&b, r.Variants)
	for i, v := range r.Variants {
		if v.Difference == nil {
			continue
		}
		if i == 1 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s: %s\n", printable(v.Name), difference(v.Difference))
	}
	writePromoted(&b, r.Promotions)
	return write(w, &b)
}

// rate is the click-through rate and its interval; a dash where nothing was shown.
func rate(s client.Shown) (ctr, interval string) {
	if s.Impressions == 0 {
		return "-", "-"
	}
	return percent(s.CTR), percent(s.CTRInterval.Low) + " to " + percent(s.CTRInterval.High)
}

// writePromoted writes a table of what promotions have shown.
func writePromoted(b *strings.Builder, promotions []client.ReportPromotion) {
	if len(promotions) == 0 {
		return
	}
	b.WriteByte('\n')
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "PROMOTION\tSHOWN\tCLICKS\tCTR\t95 % INTERVAL\tLIKES\t")
	for _, p := range promotions {
		ctr, interval := rate(p.Shown)
		fmt.Fprintf(t, "%s\t%d\t%d\t%s\t%s\t%d\t\n", printable(p.ID), p.Impressions, p.Clicks, ctr, interval, p.Likes)
	}
	_ = t.Flush()
}

// writeParts writes a line for each variant and what has shown a part of it: exploration,
// or a source of home.
func writeParts(b *strings.Builder, variants []client.ReportRow) {
	before := "\n"
	line := func(variant, by string, s client.Shown) {
		fmt.Fprintf(b, "%s%s, by %s: %d shown, %d clicked, CTR %s (95 %%: %s to %s)\n", before,
			printable(variant), printable(by), s.Impressions, s.Clicks, percent(s.CTR), percent(s.CTRInterval.Low), percent(s.CTRInterval.High))
		before = ""
	}
	for _, v := range variants {
		if x := v.Explored; x != nil {
			line(v.Name, "exploration", *x)
		}
		for _, s := range v.Sources {
			line(v.Name, s.Source+" of home", s.Shown)
		}
	}
}

func difference(d *client.ReportDifference) string {
	if d.P == nil {
		return "shown or clicked too little to be compared with control; wait, or give it a larger share"
	}
	s := fmt.Sprintf("%+.2f points of CTR against control (95 %%: %+.2f to %+.2f), %s, p = %.3f",
		100*d.CTR, 100*d.Interval.Low, 100*d.Interval.High, d.Verdict, *d.P)
	if *d.P < 0.001 {
		s = strings.Replace(s, "p = 0.000", "p < 0.001", 1)
	}
	return s
}

func percent(part float64) string { return fmt.Sprintf("%.2f %%", 100*part) }

// dashed writes a day for people.
func dashed(day string) string {
	t, err := time.Parse("20060102", day)
	if err != nil {
		return printable(day)
	}
	return t.Format(time.DateOnly)
}
