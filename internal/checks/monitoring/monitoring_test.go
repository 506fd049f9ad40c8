package monitoring

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/esindex"
	_ "github.com/freshet/freshet/internal/logqueue" // for its metric: the command writes the log
)

// dashboard has the fields of the dashboard that the tests read.
type dashboard struct {
	Panels []struct {
		Title, Type, Description string
		Targets                  []struct{ Expr, LegendFormat string }
	}
}

// queries returns the queries of the dashboard, with values for Grafana's variables.
func queries(t *testing.T) map[string]string {
	t.Helper()
	raw, err := os.ReadFile("../../../scripts/monitoring/dashboard.json")
	require.NoError(t, err)
	var d dashboard
	require.NoError(t, json.Unmarshal(raw, &d))
	fill := strings.NewReplacer("$__rate_interval", "5m", "$job", "freshet", "$instance", ".*")
	all := map[string]string{}
	for _, p := range d.Panels {
		if p.Type == "row" {
			continue
		}
		assert.NotEmpty(t, p.Description, p.Title)
		assert.NotEmpty(t, p.Targets, p.Title)
		for _, target := range p.Targets {
			all[p.Title+" / "+target.LegendFormat] = fill.Replace(target.Expr)
		}
	}
	require.NotEmpty(t, all)
	return all
}

// TestMonitoring checks that every metric, label and label value used by the alerts and the
// dashboard exists on a server after some load.
func TestMonitoring(t *testing.T) {
	for _, m := range modes {
		worked(t, m.config(t))
	}
	exported := gather(t)
	asked := map[string]bool{}
	for _, a := range alerts(t) {
		checkQuery(t, exported, asked, "alert "+a.Alert, a.Expr)
	}
	for title, expr := range queries(t) {
		checkQuery(t, exported, asked, "panel "+title, expr)
	}
	for _, name := range slices.Sorted(maps.Keys(exported)) {
		if strings.HasPrefix(name, "freshet_") && !asked[name] && !slices.Contains(onNoPanel, name) {
			t.Errorf("%s is on no panel and in no alert; add it, or say here why not", name)
		}
	}
}

// onNoPanel are metrics for detailed analysis.
var onNoPanel = []string{
	"freshet_build_info", // the version of the server, a label of other queries
}

// checkQuery parses a query and compares it with the exported metrics.
func checkQuery(t *testing.T, exported map[string]*dto.MetricFamily, asked map[string]bool, where, query string) {
	t.Helper()
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(query)
	if !assert.NoError(t, err, where) {
		return
	}
	known := map[string]bool{"job": true, "instance": true}
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		if v, ok := node.(*parser.VectorSelector); ok && v.Name != "up" {
			family := familyOf(exported, v.Name)
			if assert.NotNil(t, family, "%s: nothing is called %s", where, v.Name) {
				asked[family.GetName()] = true
				checkLabels(t, family, v.LabelMatchers, known, where)
			}
		}
		return nil
	})
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		if sum, ok := node.(*parser.AggregateExpr); ok {
			for _, label := range sum.Grouping {
				assert.True(t, known[label], "%s: by (%s), and nothing has that label", where, label)
			}
		}
		return nil
	})
}

// familyOf finds a metric by the name of one of its series.
func familyOf(exported map[string]*dto.MetricFamily, name string) *dto.MetricFamily {
	if f := exported[name]; f != nil && f.GetType() != dto.MetricType_HISTOGRAM {
		return f
	}
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		base, ok := strings.CutSuffix(name, suffix)
		if f := exported[base]; ok && f != nil && f.GetType() == dto.MetricType_HISTOGRAM {
			return f
		}
	}
	return nil
}

// checkLabels checks that a series matches the matchers. It adds the labels that a query may group
// by to known.
func checkLabels(t *testing.T, f *dto.MetricFamily, matchers []*labels.Matcher, known map[string]bool, where string) {
	t.Helper()
	values := map[string][]string{}
	for _, m := range f.GetMetric() {
		for _, l := range m.GetLabel() {
			values[l.GetName()] = append(values[l.GetName()], l.GetValue())
			known[l.GetName()] = true
		}
	}
	known["le"] = known["le"] || f.GetType() == dto.MetricType_HISTOGRAM
	for _, m := range matchers {
		switch {
		case m.Name == "__name__" || m.Name == "job" || m.Name == "instance":
		case m.Name == "code" && m.Type == labels.MatchRegexp: // errors that do not occur on a healthy server
			assert.Contains(t, values, m.Name, where)
		default:
			assert.True(t, slices.ContainsFunc(values[m.Name], m.Matches),
				"%s: no %s has %s; there is %v", where, f.GetName(), m, slices.Compact(slices.Sorted(slices.Values(values[m.Name]))))
		}
	}
}

// TestDocumentedAlerts compares the alerts with docs/operations.md, in both directions.
func TestDocumentedAlerts(t *testing.T) {
	raw, err := os.ReadFile("../../../docs/operations.md")
	require.NoError(t, err)
	_, remedies, found := strings.Cut(string(raw), "\n## Alerts\n")
	require.True(t, found)
	var explained []string
	name := regexp.MustCompile(`<a id="(\w+)"></a>\*\*(Freshet\w+)\*\*[:,]\s+`)
	for _, remedy := range strings.Split(remedies, "\n- ")[1:] {
		for _, m := range name.FindAllStringSubmatch(remedy, -1) {
			assert.Equal(t, strings.ToLower(m[2]), m[1])
			explained = append(explained, m[2])
		}
		assert.Greater(t, len(name.ReplaceAllString(remedy, "")), 100, "what to do is missing: %s", remedy)
	}
	var named []string
	for _, a := range alerts(t) {
		named = append(named, a.Alert)
		assert.Equal(t, "docs/operations.md#"+strings.ToLower(a.Alert), a.Annotations["runbook"], a.Alert)
		assert.NotEmpty(t, a.Annotations["summary"], a.Alert)
		assert.Contains(t, []string{"page", "ticket"}, a.Labels["severity"], a.Alert)
	}
	slices.Sort(named)
	slices.Sort(explained)
	assert.Equal(t, named, explained)
}

// noMetrics are names in documents that look like metrics, but are fields of an Elasticsearch index
// or of its items, or tables.
var noMetrics = []string{
	esindex.FirstTag, esindex.Story, esindex.DefaultSite, esindex.DefaultTitleTokens, esindex.DefaultSummaryTokens,
	esindex.DefaultPopularity, "freshet_author_ids", "freshet_langs", "freshet_last_act", "freshet_schema",
}

func TestDocumentedMetricsExist(t *testing.T) {
	for _, m := range modes {
		worked(t, m.config(t))
	}
	exported := gather(t)
	for _, path := range []string{"../../../README.md", "../../../docs/operations.md", "../../../docs/production.md", "../../../docs/reliability.md", "../../../docs/architecture.md", "../../../docs/own-index.md"} {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, name := range regexp.MustCompile(`\bfreshet_[a-z_]+[a-z]\b`).FindAllString(string(raw), -1) {
			if !slices.Contains(noMetrics, name) {
				assert.True(t, exported[name] != nil || familyOf(exported, name) != nil, "%s speaks of %s", path, name)
			}
		}
	}
}

func TestQueryCheckFindsMistakes(t *testing.T) {
	registry := prometheus.NewRegistry()
	counter := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "x_total", Help: "x"}, []string{"kind"})
	registry.MustRegister(counter)
	counter.WithLabelValues("a").Inc()
	require.Equal(t, 1, testutil.CollectAndCount(counter))
	families, err := registry.Gather()
	require.NoError(t, err)
	exported := map[string]*dto.MetricFamily{"x_total": families[0]}
	for query, right := range map[string]bool{
		`sum by (kind) (rate(x_total{kind="a"}[5m]))`:    true,
		`sum by (kind) (rate(x_total{kind=~"a|b"}[5m]))`: true,
		`rate(y_total[5m])`:                              false,
		`x_total_bucket`:                                 false,
		`x_total{kind="b"}`:                              false,
		`x_total{sort="a"}`:                              false,
		`sum by (sort) (x_total)`:                        false,
		`sum by (kind) (x_total`:                         false,
	} {
		probe := &testing.T{}
		checkQuery(probe, exported, map[string]bool{}, "query", query)
		assert.Equal(t, right, !probe.Failed(), query)
	}
}
