package cli

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"math"
	"strconv"
	"strings"
)

// Chart is a stack of panels that share their horizontal axis.
type Chart struct {
	Title  string
	Notes  []string // lines below the title
	X      Axis
	Panels []Panel
	// Mark is drawn as an upright line where Marked says so, MarkName beside it.
	Mark     float64
	MarkName string
	Marked   bool
}

// Axis says how numbers become places and texts.
type Axis struct {
	Name   string
	Log    bool                 // equal ratios are equal distances; values must be > 0
	Format func(float64) string // nil: as short as it is exact
	Ticks  []float64            // nil: round numbers, which only the vertical axis can have
}

// Panel is one figure of a Chart, a line for each series. Its axis begins at 0.
type Panel struct {
	Y      Axis
	Series []Series
}

// Series is one line; a point whose Y is not a number is left out.
type Series struct {
	Name string
	X, Y []float64
}

// Places on the sheet, in pixels.
const (
	chartWidth  = 860
	chartLeft   = 72
	chartRight  = 24
	chartTop    = 64 // with another noteHeight for each note, and for the legend
	noteHeight  = 20
	panelHeight = 170
	panelGap    = 62
	tickWidth   = 52 // the least distance of two texts on the horizontal axis
)

// Colours that people who do not see all colours tell apart (Okabe and Ito,
// 2008), on light and dark ground.
var chartColours = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"}

const chartStyle = `
    svg { background: #fff; font: 13px system-ui, sans-serif; }
    text { fill: #1f2328; } .quiet { fill: #59636e; } .grid { stroke: #d1d9e0; } .axis { stroke: #59636e; }
    .mark { stroke: #59636e; stroke-dasharray: 4 4; }
    @media (prefers-color-scheme: dark) {
      svg { background: #0d1117; } text { fill: #f0f6fc; } .quiet { fill: #9198a1; } .grid { stroke: #30363d; } .axis, .mark { stroke: #9198a1; }
    }
  `

// WriteChart writes the chart as an SVG that stands alone.
func WriteChart(w io.Writer, c Chart) error {
	d := drawing{w: bufio.NewWriter(w), chart: c}
	d.x0, d.x1 = bounds(c.Panels, func(s Series) []float64 { return s.X })
	if c.Marked {
		d.x0, d.x1 = min(d.x0, c.Mark), max(d.x1, c.Mark)
	}
	top := chartTop + noteHeight*len(c.Notes)
	legend := len(c.Panels) > 0 && len(c.Panels[0].Series) > 1 // there are several lines to name
	if legend {
		top += noteHeight
	}
	height := top + len(c.Panels)*(panelHeight+panelGap)
	d.put(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img">`, chartWidth, height)
	d.put("  <title>%s</title>\n  <style>%s</style>", html.EscapeString(c.Title), chartStyle)
	d.text(chartLeft, 26, "", `font-size="17" font-weight="600"`, c.Title)
	for i, note := range c.Notes {
		d.text(chartLeft, float64(46+noteHeight*i), "quiet", "", note)
	}
	if legend {
		d.legend(float64(46 + noteHeight*len(c.Notes)))
	}
	for i, p := range c.Panels {
		d.panel(p, float64(top+i*(panelHeight+panelGap)), i == len(c.Panels)-1)
	}
	d.put("</svg>")
	return d.w.Flush()
}

type drawing struct {
	w      *bufio.Writer
	chart  Chart
	x0, x1 float64
}

func (d *drawing) put(format string, args ...any) { _, _ = fmt.Fprintf(d.w, format+"\n", args...) }

func (d *drawing) text(x, y float64, class, attributes, text string) {
	if text == "" {
		return
	}
	if class != "" {
		attributes = strings.TrimSpace(`class="` + class + `" ` + attributes)
	}
	d.put(`  <text x="%s" y="%s" %s>%s</text>`, px(x), px(y), attributes, html.EscapeString(text))
}

func (d *drawing) legend(y float64) {
	x := float64(chartLeft)
	for i, s := range d.chart.Panels[0].Series {
		d.put(`  <line x1="%s" y1="%s" x2="%s" y2="%[2]s" stroke="%[4]s" stroke-width="2.5"/>`, px(x), px(y-4), px(x+22), colour(i))
		d.text(x+28, y, "", "", s.Name)
		x += 28 + 8*float64(len(s.Name)) + 24
	}
}

func (d *drawing) panel(p Panel, top float64, last bool) {
	_, high := bounds([]Panel{p}, func(s Series) []float64 { return s.Y })
	ticks := p.Y.Ticks
	if ticks == nil {
		ticks = roundTicks(high)
	}
	high = max(high, ticks[len(ticks)-1])
	y := func(v float64) float64 { return top + panelHeight*(1-v/high) }
	d.text(chartLeft, top-10, "", `font-weight="600"`, p.Y.Name)
	for _, v := range ticks {
		class := "grid"
		if v == 0 {
			class = "axis"
		}
		d.put(`  <line class="%s" x1="%d" y1="%s" x2="%d" y2="%[3]s"/>`, class, chartLeft, px(y(v)), chartWidth-chartRight)
		d.text(chartLeft-8, y(v)+4, "quiet", `text-anchor="end"`, p.Y.format(v))
	}
	d.across(top, last)
	for i, s := range p.Series {
		d.line(s, i, y)
	}
}

// across draws what belongs to the horizontal axis.
func (d *drawing) across(top float64, last bool) {
	bottom, free := top+panelHeight, math.Inf(-1)
	for _, v := range d.chart.X.Ticks {
		x := d.place(v)
		d.put(`  <line class="axis" x1="%s" y1="%s" x2="%[1]s" y2="%[3]s"/>`, px(x), px(bottom), px(bottom+5))
		if x < free {
			continue // the texts would run into each other
		}
		free = x + tickWidth
		d.text(x, bottom+19, "quiet", `text-anchor="middle"`, d.chart.X.format(v))
	}
	if last {
		d.text((chartLeft+chartWidth-chartRight)/2, bottom+40, "", `text-anchor="middle"`, d.chart.X.Name)
	}
	if d.chart.Marked {
		x := d.place(d.chart.Mark)
		d.put(`  <line class="mark" x1="%s" y1="%s" x2="%[1]s" y2="%[3]s"/>`, px(x), px(top), px(bottom))
		d.text(x, top-4, "quiet", `text-anchor="middle"`, d.chart.MarkName)
	}
}

func (d *drawing) line(s Series, i int, y func(float64) float64) {
	var points []string
	for j := range s.X {
		if !math.IsNaN(s.Y[j]) {
			points = append(points, px(d.place(s.X[j]))+","+px(y(s.Y[j])))
		}
	}
	d.put(`  <g stroke="%s" fill="%[1]s"><title>%s</title>`, colour(i), html.EscapeString(s.Name))
	d.put(`    <polyline points="%s" fill="none" stroke-width="2.5" stroke-linejoin="round"/>`, strings.Join(points, " "))
	for _, point := range points {
		x, y, _ := strings.Cut(point, ",")
		d.put(`    <circle cx="%s" cy="%s" r="3.5" stroke="none"/>`, x, y)
	}
	d.put("  </g>")
}

// place is where a value stands on the horizontal axis.
func (d *drawing) place(v float64) float64 {
	low, high := d.x0, d.x1
	if d.chart.X.Log {
		v, low, high = math.Log(v), math.Log(low), math.Log(high)
	}
	if high == low {
		return (chartLeft + chartWidth - chartRight) / 2
	}
	return chartLeft + (chartWidth-chartLeft-chartRight)*(v-low)/(high-low)
}

func (a Axis) format(v float64) string {
	if a.Format != nil {
		return a.Format(v)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// bounds are the least and the greatest number; 0 and 1 for an empty list.
func bounds(panels []Panel, of func(Series) []float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, p := range panels {
		for _, s := range p.Series {
			for _, v := range of(s) {
				if !math.IsNaN(v) {
					low, high = min(low, v), max(high, v)
				}
			}
		}
	}
	if low > high {
		return 0, 1
	}
	return low, high
}

// roundTicks are four to six round numbers from 0 to at least high.
func roundTicks(high float64) []float64 {
	if high <= 0 {
		high = 1
	}
	power := math.Pow(10, math.Floor(math.Log10(high/4)))
	step := power
	for _, m := range []float64{1, 2, 2.5, 5, 10} {
		if step = m * power; high/step <= 5 {
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

func colour(i int) string { return chartColours[i%len(chartColours)] }

func px(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }
