package monitoring

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/rules"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// counted returns the counters of which an alert takes the increase.
func counted(t *testing.T, query string) (names []string) {
	t.Helper()
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(query)
	require.NoError(t, err)
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		v, ok := node.(*parser.VectorSelector)
		if ok && strings.Contains(expr.String(), "increase("+v.Name+"[") {
			names = append(names, v.Name)
		}
		return nil
	})
	return names
}

// TestAlertsOnTheFirstEvent: an alert that fires for one event of a server that has run for an hour fires
// also if a server counts it before its first scrape, when its series have no value from before.
func TestAlertsOnTheFirstEvent(t *testing.T) {
	tested := 0
	for _, alert := range alerts(t) {
		names := counted(t, alert.Expr)
		if len(names) == 0 {
			continue
		}
		tested++
		// fires reports whether the alert fires for an event at a scrape of a server that starts then.
		fires := func(starts, event int) (fired bool) {
			p := newMonitor(t, alert.Alert)
			begun := p.now.Add(time.Duration(starts)*p.every + p.every/2).Unix()
			for n := range int(2 * time.Hour / p.every) {
				p.now = p.now.Add(p.every)
				to := p.storage.Appender(t.Context())
				series := map[string]float64{"process_start_time_seconds": float64(begun)}
				for _, name := range names {
					series[name] = 0
					if n >= event {
						series[name] = 1
					}
				}
				for name, value := range series {
					if n < starts {
						continue
					}
					of := labels.FromStrings("__name__", name, "job", p.job, "instance", "new", "kind", "acts", "limit", "hides")
					_, err := to.Append(0, of, p.now.UnixMilli(), value)
					require.NoError(t, err)
				}
				require.NoError(t, to.Commit())
				p.evaluate(t)
				fired = fired || p.state(t, alert.Alert, "") == rules.StateFiring
			}
			return fired
		}
		const hour = 240
		assert.Equal(t, fires(0, hour), fires(hour, hour), alert.Alert)
	}
	assert.NotZero(t, tested)
}
