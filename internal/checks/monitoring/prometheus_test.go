package monitoring

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"math"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/rules"
	"github.com/prometheus/prometheus/util/teststorage"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/server"
)

// operators returns the Prometheus configuration for operators.
func operators(t *testing.T) *config.Config {
	t.Helper()
	cfg, err := config.LoadFile("../../../scripts/monitoring/prometheus.yml", false, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	require.Len(t, cfg.RuleFiles, 1)
	return cfg
}

// alerts returns the alerting rules for operators.
func alerts(t *testing.T) (all []rulefmt.Rule) {
	t.Helper()
	file, errs := rulefmt.ParseFile(operators(t).RuleFiles[0], false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
	require.Empty(t, errs)
	for _, g := range file.Groups {
		all = append(all, g.Rules...)
	}
	require.NotEmpty(t, all)
	return all
}

// monitor is Prometheus's own storage, engine and rules over the metrics of one server. It has a
// manual clock: each scrape is one interval after the previous one.
type monitor struct {
	storage *teststorage.TestStorage
	groups  map[string]*rules.Group
	job     string
	every   time.Duration
	now     time.Time
}

// newMonitor evaluates the alerts of the names given, or without names all rules.
func newMonitor(t *testing.T, alerts ...string) *monitor {
	t.Helper()
	cfg, log := operators(t), slog.New(slog.DiscardHandler)
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1e6, Timeout: time.Minute, Parser: parser.NewParser(parser.Options{})})
	t.Cleanup(func() { require.NoError(t, engine.Close()) })
	storage := teststorage.New(t)
	opts := &rules.ManagerOptions{
		Context: t.Context(), Logger: log, Appendable: storage, Queryable: storage,
		QueryFunc:  rules.EngineQueryFunc(engine, storage),
		NotifyFunc: func(context.Context, string, ...*rules.Alert) {},
	}
	every := time.Duration(cfg.GlobalConfig.EvaluationInterval)
	groups, errs := rules.NewManager(opts).LoadGroups(every, labels.EmptyLabels(), "", rules.DefaultEvalIterationFunc, false, cfg.RuleFiles...)
	require.Empty(t, errs)
	for id, g := range groups {
		if len(alerts) > 0 {
			chosen := slices.DeleteFunc(g.Rules(), func(r rules.Rule) bool { return !slices.Contains(alerts, r.Name()) })
			groups[id] = rules.NewGroup(rules.GroupOptions{Name: g.Name(), File: g.File(), Interval: g.Interval(), Rules: chosen, Opts: opts})
		}
	}
	return &monitor{storage: storage, groups: groups, job: cfg.ScrapeConfigs[0].JobName, every: every, now: noon}
}

// scrape reads /metrics one interval later, and evaluates the rules.
func (p *monitor) scrape(t *testing.T, a *server.App) {
	t.Helper()
	p.now = p.now.Add(p.every)
	w := httptest.NewRecorder()
	a.Handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	require.Equal(t, 200, w.Code)
	page, err := textparse.New(w.Body.Bytes(), w.Header().Get("Content-Type"), labels.NewSymbolTable(), textparse.ParserOptions{})
	require.NoError(t, err)
	to := p.storage.Appender(t.Context())
	for {
		entry, err := page.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if entry != textparse.EntrySeries {
			continue
		}
		var series labels.Labels
		page.Labels(&series)
		_, _, now := page.Series()
		series = labels.NewBuilder(series).Set("job", p.job).Set("instance", "server").Labels()
		_, err = to.Append(0, series, p.now.UnixMilli(), now)
		require.NoError(t, err)
	}
	require.NoError(t, to.Commit())
	p.evaluate(t)
}

// target is what Prometheus itself knows about a server: whether it answered, and since when it
// runs.
type target struct {
	instance string
	up       bool
	started  float64 // Unix seconds
	job      string  // "" is the monitor's
}

// observe stores one scrape of targets an interval later, and evaluates the rules.
func (p *monitor) observe(t *testing.T, targets ...target) {
	t.Helper()
	p.now = p.now.Add(p.every)
	to := p.storage.Appender(t.Context())
	for _, x := range targets {
		add := func(name string, value float64) {
			_, err := to.Append(0, labels.FromStrings("__name__", name, "job", cmp.Or(x.job, p.job), "instance", x.instance), p.now.UnixMilli(), value)
			require.NoError(t, err)
		}
		if !x.up {
			add("up", 0)
			add("process_start_time_seconds", math.Float64frombits(value.StaleNaN))
			continue
		}
		add("up", 1)
		add("process_start_time_seconds", x.started)
	}
	require.NoError(t, to.Commit())
	p.evaluate(t)
}

func (p *monitor) evaluate(t *testing.T) {
	t.Helper()
	for _, g := range p.groups {
		g.Eval(t.Context(), p.now)
	}
}

// scrapeFor scrapes for a period of the monitor's time.
func (p *monitor) scrapeFor(t *testing.T, a *server.App, d time.Duration) {
	t.Helper()
	for until := p.now.Add(d); p.now.Before(until); {
		p.scrape(t, a)
	}
}

// state returns the state of an alert at the last scrape, for the series with about in its labels;
// "" matches every series.
func (p *monitor) state(t *testing.T, name, about string) rules.AlertState {
	t.Helper()
	state, found := rules.StateInactive, false
	for _, g := range p.groups {
		for _, r := range g.AlertingRules() {
			require.NoError(t, r.LastError(), r.Name())
			if r.Name() != name {
				continue
			}
			found = true
			for _, a := range r.ActiveAlerts() {
				if strings.Contains(a.Labels.String(), about) {
					require.NotContains(t, a.Annotations.Get("summary"), "error expanding template")
					state = max(state, a.State)
				}
			}
		}
	}
	require.True(t, found, "there is no alert "+name)
	return state
}
