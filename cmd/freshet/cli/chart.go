package cli

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/freshet/freshet/cmd/freshet/evaluation"
	"github.com/freshet/freshet/engine/offline"
)

// Positions in the chart, in pixels.
const (
	chartWidth  = 860
	chartLeft   = 72
	chartRight  = 24
	chartTop    = 64 // plus noteHeight for each note and for the legend
	noteHeight  = 20
	panelHeight = 170
	panelGap    = 62
	tickWidth   = 52 // least distance of two labels on the horizontal axis
)

// Colours that people with colour blindness can tell apart (Okabe and Ito, 2008), on light and dark
// backgrounds.
var chartColours = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"}

const chartStyle = `
    svg { background: #fff; font: 13px system-ui, sans-serif; }
    text { fill: #1f2328; } .quiet { fill: #59636e; } .grid { stroke: #d1d9e0; } .axis { stroke: #59636e; }
    .mark { stroke: #59636e; stroke-dasharray: 4 4; }
    @media (prefers-color-scheme: dark) {
      svg { background: #0d1117; } text { fill: #f0f6fc; } .quiet { fill: #9198a1; } .grid { stroke: #30363d; } .axis, .mark { stroke: #9198a1; }
    }
  `

// panel is the plot of one figure over the values of the first parameter, with a line for each
// value of the second. Its vertical axis begins at 0.
type panel struct {
	name   string
	format func(float64) string
	ticks  []float64 // nil means round numbers
	of     func(offline.Summary) offline.Spread
	unit   float64 // the figure is divided by it
}

// WriteSweepChart draws the overlap, the share of new items, and the median age as a self-contained
// SVG.
func WriteSweepChart(w io.Writer, s evaluation.Sweep) error {
	d := drawing{w: bufio.NewWriter(w), sweep: s, axis: s.Axes[0]}
	percents := func(v float64) string { return fmt.Sprintf("%.0f%%", 100*v) }
	quarters := []float64{0, 0.25, 0.5, 0.75, 1}
	panels := []panel{
		{fmt.Sprintf("overlap@%d", s.K), percents, quarters, func(f offline.Summary) offline.Spread { return f.Overlap }, 1},
		{"share of items that are new", percents, quarters, func(f offline.Summary) offline.Spread { return f.NewShare }, 1},
		{"median age, hours", shortest, nil, func(f offline.Summary) offline.Spread { return f.MedianAgeB }, 3600},
	}
	title := fmt.Sprintf("What another %s would change", d.axis.Name)
	notes := []string{
		"compared with A: " + parameters(s.A),
		setting(offline.Comparison{At: s.At, K: s.K, Figures: s.Points[0].Figures}) + "; means over the agents",
	}
	names := d.names()
	top := chartTop + noteHeight*len(notes)
	if len(names) > 1 {
		top += noteHeight
	}
	height := top + len(panels)*(panelHeight+panelGap)
	d.put(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img">`, chartWidth, height)
	d.put("  <title>%s</title>\n  <style>%s</style>", html.EscapeString(title), chartStyle)
	d.text(chartLeft, 26, "", `font-size="17" font-weight="600"`, title)
	for i, note := range notes {
		d.text(chartLeft, float64(46+noteHeight*i), "quiet", "", note)
	}
	if len(names) > 1 {
		d.legend(float64(46+noteHeight*len(notes)), names)
	}
	for i, p := range panels {
		d.panel(p, names, float64(top+i*(panelHeight+panelGap)))
	}
	d.text((chartLeft+chartWidth-chartRight)/2, float64(height-panelGap+40), "", `text-anchor="middle"`, d.axis.Name)
	d.put("</svg>")
	return d.w.Flush()
}

type drawing struct {
	w     *bufio.Writer
	sweep evaluation.Sweep
	axis  evaluation.Parameter // the first axis; its values increase
}

// names returns the names of the lines; a single line has an empty name.
func (d *drawing) names() []string {
	if len(d.sweep.Axes) == 1 || len(d.sweep.Axes[1].Values) == 1 {
		return []string{""}
	}
	second := d.sweep.Axes[1]
	names := make([]string, len(second.Values))
	for i := range names {
		names[i] = second.Change(i)
	}
	return names
}

func (d *drawing) put(format string, args ...any) { _, _ = fmt.Fprintf(d.w, format+"\n", args...) }

func (d *drawing) text(x, y float64, class, attributes, text string) {
	if class != "" {
		attributes = strings.TrimSpace(`class="` + class + `" ` + attributes)
	}
	d.put(`  <text x="%s" y="%s" %s>%s</text>`, px(x), px(y), attributes, html.EscapeString(text))
}

func (d *drawing) legend(y float64, names []string) {
	x := float64(chartLeft)
	for i, name := range names {
		d.put(`  <line x1="%s" y1="%s" x2="%s" y2="%[2]s" stroke="%[4]s" stroke-width="2.5"/>`, px(x), px(y-4), px(x+22), colour(i))
		d.text(x+28, y, "", "", name)
		x += 28 + 8*float64(len(name)) + 24
	}
}

func (d *drawing) panel(p panel, names []string, top float64) {
	ticks := p.ticks
	if ticks == nil {
		high := 0.0
		for _, point := range d.sweep.Points {
			high = max(high, p.of(point.Figures).Mean/p.unit)
		}
		ticks = roundTicks(high)
	}
	y := func(v float64) float64 { return top + panelHeight*(1-v/ticks[len(ticks)-1]) }
	d.text(chartLeft, top-10, "", `font-weight="600"`, p.name)
	for _, v := range ticks {
		class := "grid"
		if v == 0 {
			class = "axis"
		}
		d.put(`  <line class="%s" x1="%d" y1="%s" x2="%d" y2="%[3]s"/>`, class, chartLeft, px(y(v)), chartWidth-chartRight)
		d.text(chartLeft-8, y(v)+4, "quiet", `text-anchor="end"`, p.format(v))
	}
	d.across(top)
	line := 0
	for points := range slices.Chunk(d.sweep.Points, len(d.axis.Values)) { // the first parameter varies fastest
		d.line(points, p, names[line], colour(line), y)
		line++
	}
}

// across draws the horizontal axis, and a mark at the value of A.
func (d *drawing) across(top float64) {
	bottom, free := top+panelHeight, math.Inf(-1)
	values := d.axis.Values
	for _, v := range values {
		x := d.place(v)
		d.put(`  <line class="axis" x1="%s" y1="%s" x2="%[1]s" y2="%[3]s"/>`, px(x), px(bottom), px(bottom+5))
		if x < free {
			continue // the labels would overlap
		}
		free = x + tickWidth
		d.text(x, bottom+19, "quiet", `text-anchor="middle"`, d.axis.Text(v))
	}
	live := d.axis.Of(d.sweep.A)
	if live >= values[0] && live <= values[len(values)-1] {
		x := d.place(live)
		d.put(`  <line class="mark" x1="%s" y1="%s" x2="%[1]s" y2="%[3]s"/>`, px(x), px(top), px(bottom))
		d.text(x, top-4, "quiet", `text-anchor="middle"`, "A")
	}
}

// line draws the points that have a value.
func (d *drawing) line(points []evaluation.Point, p panel, name, colour string, y func(float64) float64) {
	var places []string
	for i, point := range points {
		spread := p.of(point.Figures)
		if spread.N > 0 {
			places = append(places, px(d.place(d.axis.Values[i]))+","+px(y(spread.Mean/p.unit)))
		}
	}
	d.put(`  <g stroke="%s" fill="%[1]s"><title>%s</title>`, colour, html.EscapeString(name))
	d.put(`    <polyline points="%s" fill="none" stroke-width="2.5" stroke-linejoin="round"/>`, strings.Join(places, " "))
	for _, place := range places {
		x, y, _ := strings.Cut(place, ",")
		d.put(`    <circle cx="%s" cy="%s" r="3.5" stroke="none"/>`, x, y)
	}
	d.put("  </g>")
}

// place returns the x position of a value. For a duration axis with Ratios, equal ratios are equal
// distances.
func (d *drawing) place(v float64) float64 {
	low, high := d.axis.Values[0], d.axis.Values[len(d.axis.Values)-1]
	if d.axis.IsDuration() && d.axis.Ratios {
		v, low, high = math.Log(v), math.Log(low), math.Log(high)
	}
	return chartLeft + (chartWidth-chartLeft-chartRight)*(v-low)/(high-low)
}

// roundTicks returns four to six round numbers from 0 to at least high.
func roundTicks(high float64) []float64 {
	if high <= 0 {
		high = 1
	}
	power := math.Pow(10, math.Floor(math.Log10(high/4)))
	step := power
	for _, m := range []float64{1, 2, 2.5, 5, 10} {
		step = m * power
		if high/step <= 5 {
			break
		}
	}
	var ticks []float64
	for i := 0; ; i++ {
		ticks = append(ticks, float64(i)*step)
		if float64(i)*step >= high*(1-1e-9) {
			return ticks
		}
	}
}

func shortest(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func colour(i int) string { return chartColours[i%len(chartColours)] }

func px(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }
