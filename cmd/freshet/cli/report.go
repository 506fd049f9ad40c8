package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/freshet/freshet/client"
)

// WriteReport writes a comparison of the variants: a table of the figures, and for each variant the
// figures of exploration and of home's sources, and its difference to control.
func WriteReport(w io.Writer, r client.Report) error {
	var b strings.Builder
	days := "days"
	if r.Days == 1 {
		days = "day"
	}
	fmt.Fprintf(&b, "%s to %s (UTC), %d %s\n\n", formatDay(r.From), formatDay(r.To), r.Days, days)
	t := newTable("wnnnnnnnnnnn", "VARIANT", "SHARE", "SHOWN", "CLICKS", "CTR", "95 % INTERVAL", "MEDIAN AGE", "AUTHORS", "AGENTS", "LIKES", "DISLIKES", "HIDES")
	for _, v := range r.Variants {
		share, age := percent(v.Share), "-"
		if !v.Live {
			share = "ended"
		}
		if v.MedianAge != nil {
			age = Age(int64(*v.MedianAge))
		}
		ctr, interval := rate(v.Shown)
		t.add(v.Name, share, v.Impressions, v.Clicks, ctr, interval, age, v.Authors, v.Agents, v.Likes, v.Dislikes, v.Hides)
	}
	b.WriteString(t.text(0))
	writeParts(&b, r.Variants)
	writeDifferences(&b, r.Variants)
	if r.Size != nil {
		b.WriteString("\nan experiment on half of the readers: " + size(r.Size) + "\n")
	}
	writePromoted(&b, r.Promotions)
	return write(w, &b)
}

// WriteDays writes the days of the runs of a report.
func WriteDays(w io.Writer, r client.Report) error {
	var b strings.Builder
	for _, v := range r.Variants {
		if v.Difference == nil || len(v.Difference.Days) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n%s since version %d; the difference is that of all days so far\n", printable(v.Name), v.Version)
		t := newTable("wnnnnnn", "DAY", "SHOWN", "CLICKS", "CONTROL SHOWN", "CONTROL CLICKS", "DIFFERENCE", "95 % INTERVAL")
		for _, d := range v.Difference.Days {
			t.add(formatDay(d.Day), d.Impressions.Variant, d.Clicks.Variant, d.Impressions.Control, d.Clicks.Control,
				fmt.Sprintf("%+.2f", 100*d.CTR), fmt.Sprintf("%+.2f to %+.2f", 100*d.Interval.Low, 100*d.Interval.High))
		}
		b.WriteString(t.text(0))
	}
	return write(w, &b)
}

// rate returns the click-through rate and its interval, each a dash if nothing was shown.
func rate(s client.Shown) (ctr, interval string) {
	if s.Impressions == 0 {
		return "-", "-"
	}
	return percent(s.CTR), percent(s.CTRInterval.Low) + " to " + percent(s.CTRInterval.High)
}

func writePromoted(b *strings.Builder, promotions []client.ReportPromotion) {
	if len(promotions) == 0 {
		return
	}
	t := newTable("wnnnnn", "PROMOTION", "SHOWN", "CLICKS", "CTR", "95 % INTERVAL", "LIKES")
	for _, p := range promotions {
		ctr, interval := rate(p.Shown)
		t.add(p.ID, p.Impressions, p.Clicks, ctr, interval, p.Likes)
	}
	b.WriteString("\n" + t.text(0))
}

// writeParts writes a line for each part of a variant: exploration, and each source of home.
func writeParts(b *strings.Builder, variants []client.ReportRow) {
	before := "\n"
	line := func(variant, by string, s client.Shown) {
		fmt.Fprintf(b, "%s%s, by %s: %d shown, %d clicked, CTR %s (95 %%: %s to %s)\n", before,
			printable(variant), printable(by), s.Impressions, s.Clicks, percent(s.CTR), percent(s.CTRInterval.Low), percent(s.CTRInterval.High))
		before = ""
	}
	for _, v := range variants {
		x := v.Explored
		if x != nil {
			line(v.Name, "exploration", *x)
		}
		for _, s := range v.Sources {
			line(v.Name, s.Source+" of home", s.Shown)
		}
	}
}

// writeDifferences compares each variant with control.
func writeDifferences(b *strings.Builder, variants []client.ReportRow) {
	before := "\n"
	for _, v := range variants {
		d := v.Difference
		if d == nil {
			continue
		}
		fmt.Fprintf(b, "%s%s: %s\n", before, printable(v.Name), Difference(d))
		before = ""
		if len(d.Days) > 0 {
			fmt.Fprintf(b, "  since version %d, days: %d, readers: %d, control's: %d\n", v.Version, len(d.Days), d.Readers.Variant, d.Readers.Control)
		}
		if d.SampleRatio != nil && !d.SampleRatio.OK {
			fmt.Fprintf(b, "  ERROR: %s of these readers are in it, by its share %s would be (p = %.2g): some are lost or counted twice, and no figure of it can be believed\n",
				percent(d.SampleRatio.Observed), percent(d.SampleRatio.Expected), d.SampleRatio.P)
		}
		if d.Size != nil && v.Live {
			b.WriteString("  " + size(d.Size) + "\n")
		}
	}
	for _, v := range variants {
		for _, run := range v.Earlier {
			ctr, interval := rate(run.Shown)
			fmt.Fprintf(b, "%s%s, from version %d on: %d shown, %d clicked, CTR %s (95 %%: %s)\n", before, printable(v.Name), run.Version, run.Impressions, run.Clicks, ctr, interval)
			before = ""
		}
	}
}

// Difference says how a variant differs from control.
func Difference(d *client.ReportDifference) string {
	if d.P == nil {
		return "too few readers or clicks for a comparison with control; wait, or give it a larger share"
	}
	s := fmt.Sprintf("%+.2f points of CTR compared with control (95 %%: %+.2f to %+.2f), %s, p = %.3f",
		100*d.CTR, 100*d.Interval.Low, 100*d.Interval.High, d.Verdict, *d.P)
	if *d.P < 0.001 {
		s = strings.Replace(s, "p = 0.000", "p < 0.001", 1)
	}
	return s
}

// size says how long a test takes.
func size(s *client.ReportSize) string {
	part := strings.TrimSuffix(fmt.Sprintf("%.1f", 100*s.Relative), ".0")
	if s.Days == nil {
		return fmt.Sprintf("a difference of %s %% of the rate cannot be found with these readers in 90 days: give it a larger share", part)
	}
	return fmt.Sprintf("a difference of %s %% of the rate needs about %d impressions an arm, %.1f days in all", part, s.Impressions, *s.Days)
}
