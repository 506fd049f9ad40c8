package monitoring

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

var update = flag.Bool("update", false, "write dashboard.json from dashboard.yml")

// The table of scripts/monitoring/dashboard.yml.
type (
	tableRow struct {
		Row    string       `yaml:"row"`
		Panels []tablePanel `yaml:"panels"`
	}
	tablePanel struct {
		Title       string       `yaml:"title"`
		Description string       `yaml:"description"`
		Unit        string       `yaml:"unit"`
		Max         *float64     `yaml:"max"`
		Red         *float64     `yaml:"red"`
		Stacked     bool         `yaml:"stacked"`
		Queries     tableQueries `yaml:"queries"`
	}
	tableQueries []struct{ legend, expr string }
)

// UnmarshalYAML retains the order of the queries, which determines the colors of the lines.
func (q *tableQueries) UnmarshalYAML(n *yaml.Node) error {
	for i := 0; i+1 < len(n.Content); i += 2 {
		*q = append(*q, struct{ legend, expr string }{n.Content[i].Value, n.Content[i+1].Value})
	}
	return nil
}

// dashboardHead holds the fields that Grafana requires in addition to the panels.
const dashboardHead = `{
"uid": "freshet", "title": "Freshet", "tags": ["freshet"], "schemaVersion": 39, "version": 1, "editable": true,
"refresh": "30s", "time": {"from": "now-3h", "to": "now"}, "timezone": "browser",
"templating": {"list": [
{"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus", "current": {}},
{"name": "job", "label": "Job", "type": "query", "datasource": {"type": "prometheus", "uid": "${datasource}"}, "query": {"query": "label_values(freshet_feed_items_total, job)", "refId": "job"}, "refresh": 2, "sort": 1, "includeAll": false, "multi": false, "current": {"text": "freshet", "value": "freshet"}},
{"name": "instance", "label": "Server", "type": "query", "datasource": {"type": "prometheus", "uid": "${datasource}"}, "query": {"query": "label_values(freshet_feed_items_total{job=\"$job\"}, instance)", "refId": "instance"}, "refresh": 2, "sort": 1, "includeAll": true, "multi": true, "current": {"text": "All", "value": "$__all"}, "allValue": ".*"}
]},
"panels": [
`

// Sizes in Grafana's grid, which is 24 wide.
const (
	panelWidth, panelHeight = 8, 8
	rowWidth, rowHeight     = 24, 1
)

type object = map[string]any

// render returns the dashboard of the table, with one panel per line.
func render(t *testing.T, rows []tableRow) string {
	t.Helper()
	var lines []string
	add := func(panel object) {
		panel["id"] = len(lines) + 1
		var line bytes.Buffer
		e := json.NewEncoder(&line)
		e.SetEscapeHTML(false)
		require.NoError(t, e.Encode(panel))
		lines = append(lines, strings.TrimSpace(line.String()))
	}
	y := 0
	for _, row := range rows {
		add(object{
			"type": "row", "title": row.Row, "collapsed": false, "panels": []object{},
			"gridPos": object{"x": 0, "y": y, "w": rowWidth, "h": rowHeight},
		})
		y += rowHeight
		x := 0
		for i, p := range row.Panels {
			panel := p.render()
			panel["gridPos"] = object{"x": x, "y": y, "w": panelWidth, "h": panelHeight}
			add(panel)
			if x += panelWidth; x == rowWidth || i == len(row.Panels)-1 {
				x, y = 0, y+panelHeight
			}
		}
	}
	return dashboardHead + strings.Join(lines, ",\n") + "\n]\n}\n"
}

func (p *tablePanel) render() object {
	source := object{"type": "prometheus", "uid": "${datasource}"}
	custom := object{"drawStyle": "line", "fillOpacity": 10, "lineWidth": 1, "showPoints": "never", "spanNulls": true}
	defaults := object{"unit": p.Unit, "min": 0, "custom": custom}
	if p.Stacked {
		custom["stacking"] = object{"mode": "normal"}
	}
	if p.Max != nil {
		defaults["max"] = *p.Max
	}
	if p.Red != nil {
		custom["thresholdsStyle"] = object{"mode": "line"}
		steps := []object{{"color": "green", "value": nil}, {"color": "red", "value": *p.Red}}
		defaults["thresholds"] = object{"mode": "absolute", "steps": steps}
	}
	var targets []object
	for i, q := range p.Queries {
		targets = append(targets, object{
			"refId": string(rune('A' + i)), "datasource": source, "legendFormat": q.legend,
			"expr": strings.ReplaceAll(q.expr, "$match", `job="$job", instance=~"$instance"`),
		})
	}
	return object{
		"type": "timeseries", "title": p.Title, "description": p.Description, "datasource": source,
		"fieldConfig": object{"defaults": defaults, "overrides": []object{}},
		"options":     object{"legend": object{"displayMode": "list", "placement": "bottom"}, "tooltip": object{"mode": "multi", "sort": "desc"}},
		"targets":     targets,
	}
}

const folder = "../../../scripts/monitoring/"

func readTable(t *testing.T) (rows []tableRow) {
	t.Helper()
	raw, err := os.ReadFile(folder + "dashboard.yml")
	require.NoError(t, err)
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	decoder.KnownFields(true)
	require.NoError(t, decoder.Decode(&rows))
	return rows
}

// TestDocumentedPanelsExist checks that the panels named in quotes in docs/operations.md exist.
func TestDocumentedPanelsExist(t *testing.T) {
	raw, err := os.ReadFile("../../../docs/operations.md")
	require.NoError(t, err)
	_, remedies, found := strings.Cut(string(raw), "\n## Alerts\n")
	require.True(t, found)
	titles := map[string]bool{}
	for _, row := range readTable(t) {
		for _, p := range row.Panels {
			titles[p.Title] = true
		}
	}
	text := strings.Join(strings.Fields(regexp.MustCompile("`[^`]*`|<a [^>]*>").ReplaceAllString(remedies, "")), " ")
	named := regexp.MustCompile(`"([^"]*)"`).FindAllStringSubmatch(text, -1)
	require.NotEmpty(t, named)
	for _, m := range named {
		assert.True(t, titles[m[1]], "the dashboard has no panel %q", m[1])
	}
}

// TestDashboard compares dashboard.json with its table. With -update it writes the file.
func TestDashboard(t *testing.T) {
	want := render(t, readTable(t))
	require.True(t, json.Valid([]byte(want)))
	if *update {
		require.NoError(t, os.WriteFile(folder+"dashboard.json", []byte(want), 0o644))
	}
	got, err := os.ReadFile(folder + "dashboard.json")
	require.NoError(t, err)
	require.Equal(t, want, string(got), "make it again: go test -C internal/checks ./monitoring -run TestDashboard -update")
}
