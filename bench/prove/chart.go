package prove

import (
	_ "embed"
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
	const margin = 12 // on each side, as in the template
	return chart.Execute(w, struct {
		Width, Height int
		Says, Bars    string
	}{chartWidth + 2*margin, height + margin, template.HTMLEscapeString(says(ran)), b.String()})
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
