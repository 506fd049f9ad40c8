package bench

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
)

// Print writes the report as text.
func (r *Report) Print(w io.Writer) error {
	p := &printer{w: w}
	p.machine(r)
	for _, result := range r.Results {
		p.result(result)
	}
	for _, sim := range r.Simulations {
		p.simulation(sim)
	}
	p.budgets(r)
	for _, what := range r.Impossible {
		p.line("IMPOSSIBLE: %s", what)
	}
	return p.err
}

// printer stores the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if _, err := fmt.Fprintf(p.w, format+"\n", args...); err != nil && p.err == nil {
		p.err = err
	}
}

// table writes rows of cells, starting with the heading.
func (p *printer) table(rows ...[]string) {
	t := tabwriter.NewWriter(p.w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range rows {
		// The first column is left-aligned by padding it to the longest cell.
		width := 0
		for _, other := range rows {
			width = max(width, len([]rune(other[0])))
		}
		first := row[0] + strings.Repeat(" ", width-len([]rune(row[0])))
		fmt.Fprintf(t, "  %s\t%s\t\n", first, strings.Join(row[1:], "\t"))
	}
	if err := t.Flush(); err != nil && p.err == nil {
		p.err = err
	}
}

func (p *printer) machine(r *Report) {
	m, s := r.Machine, r.Settings
	p.line("%s  %s %s, %d cores (%s), load %s, after it %s", m.Time.Format("2006-01-02 15:04"), m.Go, m.Platform, m.Cores,
		orUnknown(m.CPU), orUnknown(m.LoadBefore), orUnknown(m.LoadAfter))
	p.line("freshet %s, Redis %s, Elasticsearch %s; %d turns, %s a side; %.0f s in all",
		orUnknown(m.Freshet), orNone(m.Redis), orNone(m.Elasticsearch), s.Rounds, s.Duration, r.Seconds)
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

func orNone(s string) string {
	if s == "" {
		return "not used"
	}
	return s
}

func (p *printer) result(r Result) {
	if r.Skipped != "" {
		p.line("\nskipped: %s, %s: %s", r.Part, r.Mode, r.Skipped)
		return
	}
	p.line("\n%s, %s: %s", r.Part, r.Mode, r.What)
	if len(r.Cases) > 0 {
		p.table(cases(r.Cases)...)
	}
	for _, ratio := range r.Ratios {
		p.line("  %s: %s times the rate of %s (rounds %s to %s)", ratio.Of, number(ratio.Median), ratio.To, number(ratio.Min), number(ratio.Max))
	}
	for _, f := range r.Figures {
		p.line("  %s: %s", f.Name, strings.TrimSpace(number(f.Value)+" "+f.Unit))
	}
}

// cases returns the rows of a comparison, without columns that are empty in every row.
func cases(list []Case) [][]string {
	processes := map[string]bool{}
	answers, allocs := false, false
	for _, c := range list {
		for name := range c.CPU {
			processes[name] = true
		}
		answers, allocs = answers || c.AnswerBytes > 0, allocs || c.Allocs > 0
	}
	names := slices.Sorted(maps.Keys(processes))
	head := []string{"µs, a call", "per second", "p50", "p95", "p99"}
	if allocs {
		head = append(head, "allocs", "alloc B")
	}
	if answers {
		head = append(head, "answer B")
	}
	for _, name := range names {
		head = append(head, "CPU "+name)
	}
	rows := [][]string{head}
	for _, c := range list {
		row := []string{c.Name, number(c.PerSecond), number(c.Latency.P50), number(c.Latency.P95), number(c.Latency.P99)}
		if allocs {
			row = append(row, number(c.Allocs), number(c.AllocBytes))
		}
		if answers {
			row = append(row, number(c.AnswerBytes))
		}
		for _, name := range names {
			row = append(row, number(c.CPU[name]))
		}
		rows = append(rows, row)
	}
	return rows
}

func (p *printer) simulation(s Simulation) {
	t := s.Traffic
	p.line("\nsimulation, %s: %d agents, %d impressions a day, filters for %d, %d items, Zipf %g, window of %d days at %g; %.1f s",
		s.Backend, t.Agents, t.Impressions, t.Capacity, t.Items, t.Zipf, s.Window, s.Rate, s.Seconds)
	rows := [][]string{{"day", "visits", "impressions", "fill", "expected", "MB", "expected", "hidden", "expected", "of unseen"}}
	for _, d := range s.Days {
		rows = append(rows, []string{
			d.Day, number(float64(d.Visits)), number(float64(d.Impressions)), fmt.Sprintf("%.4f", d.Fill.Measured), fmt.Sprintf("%.4f", d.Fill.Expected),
			number(d.Memory.Measured / 1e6), number(d.Memory.Expected / 1e6),
			number(d.Hidden.Measured), number(d.Hidden.Expected), number(float64(d.Hidden.Of)),
		})
	}
	p.table(rows...)
	c := s.Probes
	share := func(v float64) string { return fmt.Sprintf("%.3f %%", 100*v/float64(c.Of)) }
	p.line("  false hits of the whole window: %s of %d, expected %s, give or take %s (%d standard deviations and a tenth)",
		share(c.Measured), c.Of, share(c.Expected), share(c.Bound), sigmas)
	p.line("  shown twice: %d", s.Repeats)
}

func (p *printer) budgets(r *Report) {
	if len(r.Budgets) == 0 {
		return
	}
	if r.Settings.Short {
		p.line("\nA short run only finds impossible results; it is too short to tell whether a budget is met.")
		return
	}
	p.line("\nbudgets")
	rows := [][]string{{"what", "budget", "measured", ""}}
	for _, b := range r.Budgets {
		met := "missed"
		if b.Met {
			met = "met"
		}
		rows = append(rows, []string{b.What, strings.TrimSpace(b.Limit), strings.TrimSpace(number(b.Measured) + " " + b.Unit), met})
	}
	p.table(rows...)
}

// number formats three significant digits, and whole numbers from a thousand.
func number(v float64) string {
	switch abs := math.Abs(v); {
	case abs >= 1000 || v == math.Trunc(v):
		return fmt.Sprintf("%.0f", v)
	case abs >= 10:
		return fmt.Sprintf("%.1f", v)
	case abs >= 1:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.3g", v)
}
