package prove

import (
	_ "embed"
	"fmt"
	"io"
	"strings"
	"text/template"
)

//go:embed chart.svg
var chartText string

var chart = template.Must(template.New("chart").Parse(chartText))

// Chart writes the chart of what was repeated, lost, leaked and withheld as an image that needs nothing else, in
// light and dark.
func (r *Report) Chart(w io.Writer) error {
	ran := r.ran()
	var b strings.Builder
	height := drawBars(&b, "promises", ran)
	at := 0
	for i, c := range ran {
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="10" height="10" class="c%d"/><text x="%d" y="%d">%s</text>`, labelWidth+at, height+10, i%5, labelWidth+at+15, height+19, template.HTMLEscapeString(c.Adapter))
		at += 110
	}
	return chart.Execute(w, struct {
		Width, Height int
		Says, Bars    string
	}{chartWidth, height + 30, template.HTMLEscapeString(says(ran)), b.String()})
}

// says tells what the chart shows, for who cannot see it.
func says(columns []Column) string {
	var texts []string
	for _, c := range columns {
		var figures []string
		for _, f := range charts["promises"] {
			figures = append(figures, digits(f.value(c))+" "+f.label)
		}
		texts = append(texts, c.Adapter+": "+strings.Join(figures, ", "))
	}
	return strings.Join(texts, "; ")
}
