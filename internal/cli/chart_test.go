package cli_test

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/cli"
)

func TestWriteChart(t *testing.T) {
	hours := func(v float64) string { return (map[float64]string{6: "6h", 24: "24h", 72: "72h", 168: "168h"})[v] }
	x := []float64{6, 24, 72, 168}
	tests := map[string]cli.Chart{
		"two-lines": {
			Title: "What another scale would change", Notes: []string{"compared with A: <live> & \"quoted\"", "8 agents"},
			X:      cli.Axis{Name: "scale", Log: true, Ticks: x, Format: hours},
			Marked: true, Mark: 24, MarkName: "A",
			Panels: []cli.Panel{
				{Y: cli.Axis{Name: "overlap@20", Ticks: []float64{0, 0.25, 0.5, 0.75, 1}}, Series: []cli.Series{
					{Name: "offset=0s", X: x, Y: []float64{0.7, 1, 0.8, 0.6}},
					{Name: "offset=6h", X: x, Y: []float64{0.8, math.NaN(), 0.75, 0.6}},
				}},
				{Y: cli.Axis{Name: "median age, hours"}, Series: []cli.Series{
					{Name: "offset=0s", X: x, Y: []float64{1, 2.6, 7, 18}},
					{Name: "offset=6h", X: x, Y: []float64{2, 3, 8, 18.5}},
				}},
			},
		},
		"nothing": {Title: "No figures", Panels: []cli.Panel{{Y: cli.Axis{Name: "overlap@20"}, Series: []cli.Series{{X: []float64{1, 2}, Y: []float64{math.NaN(), math.NaN()}}}}}},
		"one-point": {Title: "One point", X: cli.Axis{Name: "weight", Ticks: []float64{0, 0.5}}, Panels: []cli.Panel{
			{Y: cli.Axis{Name: "new"}, Series: []cli.Series{{Name: "new", X: []float64{0.5}, Y: []float64{0}}}},
		}},
	}
	for name, chart := range tests {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			require.NoError(t, cli.WriteChart(&out, chart))
			points, lines := readSVG(t, out.String())
			wantPoints, wantLines := 0, 0
			for _, p := range chart.Panels {
				assert.Contains(t, out.String(), ">"+p.Y.Name+"<")
				for _, s := range p.Series {
					wantLines++
					for _, y := range s.Y {
						if !math.IsNaN(y) {
							wantPoints++
						}
					}
				}
			}
			assert.Equal(t, wantPoints, points)
			assert.Equal(t, wantLines, lines)
			assert.NotContains(t, out.String(), "NaN")
			assert.NotContains(t, out.String(), "Inf")
			assert.NotContains(t, out.String(), "%!")
			golden := filepath.Join("testdata", "chart-"+name+".svg")
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(out.String()), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Equal(t, string(want), out.String())
		})
	}
}

// readSVG checks that the document is well-formed and counts points and lines.
func readSVG(t *testing.T, doc string) (points, lines int) {
	t.Helper()
	dec := xml.NewDecoder(strings.NewReader(doc))
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return points, lines
		}
		require.NoError(t, err)
		if start, ok := token.(xml.StartElement); ok {
			assert.Equal(t, "http://www.w3.org/2000/svg", start.Name.Space)
			switch start.Name.Local {
			case "circle":
				points++
			case "polyline":
				lines++
			}
		}
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestWriteChartTellsOfAFullDisk(t *testing.T) {
	require.ErrorIs(t, cli.WriteChart(brokenWriter{}, cli.Chart{Title: "x"}), io.ErrClosedPipe)
}
