package prove

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"
	"time"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"bars": bars, "lines": lines, "join": strings.Join, "value": cell,
	"kinds": func(k string) string {
		return map[string]string{"repeated": "shown twice", "lost": "lost", "leaked": "shown to the wrong reader", "empty": "an empty page though there was more"}[k]
	},
}).Parse(pageText))

// cell is the value of a row in a column.
func cell(r row, c Column) string {
	if c.Skipped != "" {
		return "n/a"
	}
	return r.value(c)
}

// Name is the row's title, for the page.
func (r row) Name() string { return r.name }

// HTML writes the report as a page that needs nothing else: no script, no other file.
func (r *Report) HTML(w io.Writer) error {
	return page.Execute(w, struct {
		*Report
		Ran  []Column
		Rows []row
		Day  string
	}{r, r.ran(), rows, r.Time.Format(time.DateOnly)})
}

// ran returns the columns of the systems that ran.
func (r *Report) ran() (ran []Column) {
	for _, c := range r.Columns {
		if c.Skipped == "" {
			ran = append(ran, c)
		}
	}
	return ran
}

// figureOf is a figure of a column in a chart; NaN if the column has none.
type figureOf struct {
	label string
	value func(Column) float64
}

// ifOwed is a count of what only systems can miss that owe entries to readers.
func ifOwed(of func(Column) int64) func(Column) float64 {
	return func(c Column) float64 {
		if c.OwesNothing {
			return math.NaN()
		}
		return float64(of(c))
	}
}

// The figures of the promises, and of the answers that say that they may break them.
var (
	repeated     = figureOf{"shown twice", func(c Column) float64 { return float64(c.Repeated) }}
	lost         = figureOf{"lost", ifOwed(func(c Column) int64 { return c.Lost })}
	leaked       = figureOf{"to the wrong reader", func(c Column) float64 { return float64(c.Leaked) }}
	empty        = figureOf{"empty though more", ifOwed(func(c Column) int64 { return c.Empty })}
	repeatedSays = figureOf{"shown twice but says so", func(c Column) float64 { return float64(c.RepeatedMarked) }}
	leakedSays   = figureOf{"wrong reader but says so", func(c Column) float64 { return float64(c.LeakedMarked) }}
	emptySays    = figureOf{"empty but says so", ifOwed(func(c Column) int64 { return c.EmptyMarked })}
)

// charts by name: groups of bars, one for each column.
var charts = map[string][]figureOf{
	"promises": {repeated, repeatedSays, lost, leaked, empty},
	"faults":   {repeated, repeatedSays, lost, leaked, leakedSays, empty, emptySays},
	"times": {
		{"p50, ms", func(c Column) float64 { return c.P50 }},
		{"p95, ms", func(c Column) float64 { return c.P95 }},
		{"p99, ms", func(c Column) float64 { return c.P99 }},
	},
}

// Measures of the charts, in pixels.
const (
	chartWidth = 760
	labelWidth = 170
	nameWidth  = 85
	barHeight  = 16
	plotHeight = 180
)

// bars draws one bar for each figure and column. The values are beside the bars, so that zero can be
// read, too.
func bars(name string, columns []Column) template.HTML {
	var b strings.Builder
	height := drawBars(&b, name, columns)
	return template.HTML(fmt.Sprintf(`<svg viewBox="0 0 %d %d" role="img" aria-label="%s">%s</svg>`, chartWidth, height, name, b.String())) //nolint:gosec // all texts are escaped
}

// drawBars writes them, each with the name of its column and the figures of a label to their own scale, and returns
// their height.
func drawBars(b *strings.Builder, name string, columns []Column) (height int) {
	y := 0
	for _, f := range charts[name] {
		most := 1.0
		for _, c := range columns {
			v := f.value(c)
			if v > most { // not if there is none
				most = v
			}
		}
		fmt.Fprintf(b, `<text x="0" y="%d" class="label">%s</text>`, y+barHeight-4, template.HTMLEscapeString(f.label))
		for i, c := range columns {
			v, width := f.value(c), 0.0
			if !math.IsNaN(v) {
				width = v / most * (chartWidth - labelWidth - nameWidth - 90)
			}
			at, text := labelWidth+nameWidth, y+barHeight-4
			fmt.Fprintf(b, `<text x="%d" y="%d">%s</text><rect x="%d" y="%d" width="%.1f" height="%d" class="c%d"/><text x="%.1f" y="%d">%s</text>`,
				labelWidth, text, template.HTMLEscapeString(c.Adapter), at, y, width, barHeight-3, i%5, float64(at)+width+6, text, digits(v))
			y += barHeight
		}
		y += 10
	}
	return y
}

// digits writes a value with as many digits as a reader needs; n/a for none.
func digits(v float64) string {
	if math.IsNaN(v) {
		return "n/a"
	}
	if v == float64(int64(v)) || v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.1f", v)
}

// series are figures of samples, by their titles, and whether they are known.
var series = map[string]func(Sample) (value float64, known bool){
	"p99 of pages, ms": func(s Sample) (float64, bool) { return s.P99, true },
	"resident, MiB":    func(s Sample) (float64, bool) { return s.Resident, true },
	"goroutines":       func(s Sample) (float64, bool) { return float64(s.Goroutines), s.Goroutines > 0 },
	"descriptors":      func(s Sample) (float64, bool) { return float64(s.Descriptors), true },
	"keys of Redis without TTL": func(s Sample) (float64, bool) {
		if s.KeysWithoutTTL == nil {
			return 0, false
		}
		return float64(*s.KeysWithoutTTL), true
	},
	"stored, MiB": func(s Sample) (float64, bool) { return s.mebibytes(), true },
}

// mebibytes returns the size of all tables, or files.
func (s Stored) mebibytes() float64 {
	var all int64
	for _, bytes := range s.Tables {
		all += bytes
	}
	return float64(all) / (1 << 20)
}

// lines draws a figure of the samples over the time of the load, a line for each column.
func lines(name string, columns []Column) template.HTML {
	value := series[name]
	var until, most float64 = 1, 1
	for _, c := range columns {
		for _, s := range c.Samples {
			v, _ := value(s)
			until, most = max(until, s.Seconds), max(most, v)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<text x="0" y="12" class="label">%s, up to %s</text><line x1="0" y1="%d" x2="%d" y2="%[3]d" class="axis"/>`, template.HTMLEscapeString(name), digits(most), plotHeight, chartWidth)
	for i, c := range columns {
		var points []string
		for _, s := range c.Samples {
			v, known := value(s)
			if known {
				points = append(points, fmt.Sprintf("%.1f,%.1f", s.Seconds/until*chartWidth, plotHeight-v/most*(plotHeight-24)))
			}
		}
		fmt.Fprintf(&b, `<polyline points="%s" class="l%d"/>`, strings.Join(points, " "), i%5)
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" class="end">%.0f s</text>`, chartWidth, plotHeight+14, until)
	return template.HTML(fmt.Sprintf(`<svg viewBox="0 0 %d %d" role="img" aria-label="%s">%s</svg>`, chartWidth, plotHeight+20, name, b.String())) //nolint:gosec // all texts are escaped above
}
