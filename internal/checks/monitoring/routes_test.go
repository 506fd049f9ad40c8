package monitoring

import (
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// errorsOf reports whether a query counts the 5xx answers of a route.
func errorsOf(t *testing.T, query, route string) bool {
	t.Helper()
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(query)
	require.NoError(t, err)
	counts := false
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		v, ok := node.(*parser.VectorSelector)
		if !ok || v.Name != "freshet_http_requests_total" {
			return nil
		}
		selects := func(name, value string) bool {
			return !slices.ContainsFunc(v.LabelMatchers, func(m *labels.Matcher) bool { return m.Name == name && !m.Matches(value) })
		}
		counts = counts || selects("route", route) && selects("code", "503") && !selects("code", "200")
		return nil
	})
	return counts
}

// TestAlertForEachRoute checks that an alert counts the errors of each route, except for the
// readiness probe, which answers 503 while a server is not ready.
func TestAlertForEachRoute(t *testing.T) {
	for _, m := range modes {
		worked(t, m.config(t))
	}
	for _, metric := range gather(t)["freshet_http_requests_total"].GetMetric() {
		for _, l := range metric.GetLabel() {
			if l.GetName() != "route" || strings.HasSuffix(l.GetValue(), " /readyz") {
				continue
			}
			assert.True(t, slices.ContainsFunc(alerts(t), func(a rulefmt.Rule) bool { return errorsOf(t, a.Expr, l.GetValue()) }),
				"no alert says that %s fails", l.GetValue())
		}
	}
}
