package prove

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// row is a line of the table: its name, and its value in a column.
type row struct {
	name  string
	value func(Column) string
}

func count(of func(Column) int64) func(Column) string {
	return func(c Column) string { return fmt.Sprint(of(c)) }
}

func figure(format string, of func(Column) float64) func(Column) string {
	return func(c Column) string { return fmt.Sprintf(format, of(c)) }
}

// owed is count for what only systems can miss that owe entries to readers.
func owed(of func(Column) int64) func(Column) string {
	return func(c Column) string {
		if c.OwesNothing {
			return "n/a"
		}
		return fmt.Sprint(of(c))
	}
}

// rows are the lines of the table.
var rows = []row{
	{"shown twice within seven days", count(func(c Column) int64 { return c.Repeated })},
	{"  and the answer says it may", count(func(c Column) int64 { return c.RepeatedMarked })},
	{"lost: never shown", owed(func(c Column) int64 { return c.Lost })},
	{"  may be in an unanswered call", owed(func(c Column) int64 { return c.LostUnanswered })},
	{"shown to who may not see it", count(func(c Column) int64 { return c.Leaked })},
	{"  and the answer says it may", count(func(c Column) int64 { return c.LeakedMarked })},
	{"pages later than a second", count(func(c Column) int64 { return c.Late })},
	{"empty pages though more", owed(func(c Column) int64 { return c.Empty })},
	{"  and the answer says it lacks something", owed(func(c Column) int64 { return c.EmptyMarked })},
	{"calls refused or given up", count(func(c Column) int64 { return c.Errors })},
	{"calls not made: too many wait", count(func(c Column) int64 { return c.NotMade })},
	{"pages", count(func(c Column) int64 { return c.Pages })},
	{"pages a second", figure("%.1f", func(c Column) float64 { return c.PerSecond })},
	{"entries shown", count(func(c Column) int64 { return c.Entries })},
	{"p50, ms", figure("%.1f", func(c Column) float64 { return c.P50 })},
	{"p95, ms", figure("%.1f", func(c Column) float64 { return c.P95 })},
	{"p99, ms", figure("%.1f", func(c Column) float64 { return c.P99 })},
	{"CPU ms a page, without services", figure("%.2f", func(c Column) float64 { return c.CPU })},
	{"MiB resident, without services", figure("%.0f", func(c Column) float64 { return c.Resident })},
}

// Print writes the table, what the systems are, and the findings.
func (r *Report) Print(w io.Writer) error {
	fmt.Fprintf(w, "\n%-40s", "")
	for _, c := range r.Columns {
		fmt.Fprintf(w, " %18s", c.Adapter)
	}
	fmt.Fprintln(w)
	for _, row := range rows {
		fmt.Fprintf(w, "%-40s", row.name)
		for _, c := range r.Columns {
			value := "n/a"
			if c.Skipped == "" {
				value = row.value(c)
			}
			fmt.Fprintf(w, " %18s", value)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w)
	for _, c := range r.Columns {
		if r.Options.Every > 0 {
			c.overTime(w)
		}
		c.describe(w)
	}
	_, err := fmt.Fprintf(w, "\n%s; again: %s\n", r.Machine, r.Repeat)
	return err
}

// describe writes what a column is, and its findings.
func (c Column) describe(w io.Writer) {
	if c.Skipped != "" {
		fmt.Fprintf(w, "%s did not run: %s\n", c.Adapter, c.Skipped)
		return
	}
	fmt.Fprintf(w, "%s: %s\n", c.Adapter, c.About)
	if c.Disclaims != "" {
		fmt.Fprintf(w, "  It does not claim to promise: %s\n", c.Disclaims)
	}
	if len(c.Lacks) > 0 {
		fmt.Fprintf(w, "  It has no %s: calls that need them were not made\n", lackings(c.Lacks))
	}
	for _, text := range slices.Sorted(maps.Keys(c.ErrorTexts)) {
		fmt.Fprintf(w, "  %d × %s\n", c.ErrorTexts[text], text)
	}
	for _, f := range c.Findings {
		fmt.Fprintf(w, "  %s%s: %s\n", f.Kind, map[bool]string{true: " (marked)"}[f.Marked], f.Text)
		for _, call := range f.Calls {
			fmt.Fprintf(w, "      %s\n", shorten(call))
		}
	}
}

// overTime writes the samples as a table.
func (c Column) overTime(w io.Writer) {
	if len(c.Samples) == 0 {
		return
	}
	fmt.Fprintf(w, "%-12s %8s %8s %8s %8s %12s %11s\n", c.Adapter, "p99, ms", "RSS, MiB", "gorout.", "descr.", "without TTL", "stored, MiB")
	for _, s := range c.Samples {
		goroutines, keys := "-", "-" // not known
		if s.Goroutines > 0 {
			goroutines = fmt.Sprint(s.Goroutines)
		}
		if s.KeysWithoutTTL != nil {
			keys = fmt.Sprint(*s.KeysWithoutTTL)
		}
		fmt.Fprintf(w, "%10.0f s %8.1f %8.0f %8s %8d %12s %11.1f\n", s.Seconds, s.P99, s.Resident, goroutines, s.Descriptors, keys, s.mebibytes())
	}
	last := c.Samples[len(c.Samples)-1].Tables
	for _, name := range slices.Sorted(maps.Keys(last)) {
		if last[name] >= 1<<20 {
			fmt.Fprintf(w, "  %s: %.1f MiB at the end\n", name, float64(last[name])/(1<<20))
		}
	}
}

// lackings lists notions in a sentence.
func lackings(all []Notion) string {
	texts := make([]string, len(all))
	for i, n := range all {
		texts[i] = string(n)
	}
	return strings.Join(texts, ", no ")
}

// shorten cuts a long line for the terminal; JSON has all of it.
func shorten(text string) string {
	const most = 300
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + " …"
}
