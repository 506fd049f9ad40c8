package cli_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cmd/freshet/cli"
	"github.com/freshet/freshet/cmd/freshet/evaluation"
	"github.com/freshet/freshet/engine/offline"
	"github.com/freshet/freshet/feed"
)

// sweep returns a sweep of 8 agents. Each point has the overlap, the share of new items and the
// median age; nil means no figures.
func sweep(t *testing.T, ranges map[string]string, points ...[]float64) evaluation.Sweep {
	t.Helper()
	axes, err := evaluation.Axes(ranges, 8)
	require.NoError(t, err)
	require.Len(t, points, evaluation.Points(axes))
	live, err := feed.DefaultRanking().With("scale=24h")
	require.NoError(t, err)
	s := evaluation.Sweep{At: time.Unix(now, 0).UTC(), K: 20, A: live, Axes: axes}
	for _, p := range points {
		figures := offline.Summary{Agents: 8}
		if p != nil {
			some := func(mean float64) offline.Spread { return offline.Spread{N: 8, Mean: mean} }
			figures.Overlap, figures.NewShare, figures.MedianAgeB = some(p[0]), some(p[1]), some(p[2]*3600)
		}
		s.Points = append(s.Points, evaluation.Point{Figures: figures})
	}
	return s
}

func TestWriteSweepChart(t *testing.T) {
	for name, tt := range map[string]struct {
		sweep         evaluation.Sweep
		points, lines int
	}{
		"two-lines": {sweep(t, map[string]string{"scale": "6h,24h,72h,168h", "offset": "0s,6h"},
			[]float64{0.7, 0.3, 1}, []float64{1, 0, 2.6}, []float64{0.8, 0.2, 7}, []float64{0.6, 0.4, 18},
			[]float64{0.8, 0.2, 2}, nil, []float64{0.75, 0.25, 8}, []float64{0.6, 0.4, 18.5}), 21, 6},
		"nothing":     {sweep(t, map[string]string{"scale": "30h,40h"}, nil, nil), 0, 3},
		"of-a-number": {sweep(t, map[string]string{"weight": "0,0.5"}, []float64{1, 0, 0}, []float64{1, 0, 0}), 6, 3},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			require.NoError(t, cli.WriteSweepChart(&out, tt.sweep))
			points, lines := readSVG(t, out.String())
			assert.Equal(t, tt.points, points)
			assert.Equal(t, tt.lines, lines)
			for _, broken := range []string{"NaN", "Inf", "%!"} {
				assert.NotContains(t, out.String(), broken)
			}
			assertGolden(t, "chart-"+name+".svg", out.String())
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

func TestWriteSweepChartDiskFull(t *testing.T) {
	small := sweep(t, map[string]string{"weight": "0,0.5"}, nil, nil)
	require.ErrorIs(t, cli.WriteSweepChart(brokenWriter{}, small), io.ErrClosedPipe)
}
