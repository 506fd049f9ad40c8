package monitoring

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/prometheus/rules"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// targets are the alerts about servers that do not answer, whose processes end, or that are gone.
var targets = []string{"FreshetDown", "FreshetRestarting", "FreshetMissing", "FreshetFewerServers"}

// TestAlertsOfTargets checks which alerts fire, at any time, when servers come and go.
func TestAlertsOfTargets(t *testing.T) {
	const every = 15 * time.Second
	// crashing runs for up scrapes and then fails for down.
	crashing := func(up, down int) func(n int) []target {
		return func(n int) []target {
			life := up + down
			return []target{{instance: "a", up: n%life < up, started: float64(n / life * life)}, {instance: "b", up: true}}
		}
	}
	both := []target{{instance: "a", up: true}, {instance: "b", up: true}}
	for name, tt := range map[string]struct {
		for_    time.Duration
		targets func(n int) []target
		fires   []string
	}{
		"one is down":                             {10 * time.Minute, func(int) []target { return []target{{instance: "a"}, {instance: "b", up: true}} }, []string{"FreshetDown"}},
		"up for a minute, away for a scrape":      {30 * time.Minute, crashing(4, 1), []string{"FreshetRestarting"}},
		"up for a minute, never away at a scrape": {30 * time.Minute, crashing(4, 0), []string{"FreshetRestarting"}},
		"up for five minutes, away for a scrape":  {40 * time.Minute, crashing(20, 1), []string{"FreshetRestarting"}},
		"up for seconds, away for a minute":       {30 * time.Minute, crashing(1, 4), []string{"FreshetRestarting"}},
		"an upgrade, which is rolled back":        {70 * time.Minute, crashing(120, 1), nil},
		"all leave service discovery":             {30 * time.Minute, func(n int) []target { return both[:max(0, 2-n)] }, []string{"FreshetMissing"}},
		"one of two leaves service discovery":     {30 * time.Minute, func(n int) []target { return both[:max(1, 2-n/8)] }, []string{"FreshetFewerServers"}},
		"one replaces another": {70 * time.Minute, func(n int) []target {
			return []target{{instance: "a", up: true}, {instance: fmt.Sprint("b", n/60), up: true, started: float64(n / 60)}}
		}, nil},
		"one more while servers are replaced": {70 * time.Minute, func(n int) []target {
			if n == 20 || n == 21 {
				return append([]target{{instance: "c", up: true}}, both...)
			}
			return both
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := newMonitor(t, targets...)
			require.Equal(t, every, p.every)
			for range 65 { // what was before, a scrape a minute
				p.now = p.now.Add(time.Minute - every)
				p.observe(t, both...)
			}
			fired := map[string]bool{}
			for n := range int(tt.for_ / every) {
				p.observe(t, tt.targets(n)...)
				for _, alert := range targets {
					fired[alert] = fired[alert] || p.state(t, alert, "") == rules.StateFiring
				}
			}
			for _, alert := range targets {
				assert.Equal(t, len(tt.fires) > 0 && tt.fires[0] == alert, fired[alert], alert)
			}
		})
	}
}

// TestAlertsOfTwoEnvironments has production and staging in one Prometheus, each with a job of its own: what
// happens to production is told, and named, although staging is as before.
func TestAlertsOfTwoEnvironments(t *testing.T) {
	const every, prod = 15 * time.Second, "freshet-production"
	of := func(job string, targets ...target) []target {
		for i := range targets {
			targets[i].job = job
		}
		return targets
	}
	for name, tt := range map[string]struct {
		production func(n int) []target
		fires      string
	}{
		"one is down": {func(int) []target { return []target{{instance: "a"}, {instance: "b", up: true}} }, "FreshetDown"},
		"one is started every minute": {func(n int) []target {
			return []target{{instance: "a", up: true, started: float64(n / 4)}, {instance: "b", up: true}}
		}, "FreshetRestarting"},
		"one leaves":      {func(int) []target { return []target{{instance: "b", up: true}} }, "FreshetFewerServers"},
		"all leave":       {func(int) []target { return nil }, "FreshetMissing"},
		"nothing happens": {func(int) []target { return []target{{instance: "a", up: true}, {instance: "b", up: true}} }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := newMonitor(t, targets...)
			observe := func(production []target) {
				p.observe(t, append(of(prod, production...), of("freshet-staging", target{instance: "s", up: true})...)...)
			}
			for range 65 { // what was before, a scrape a minute
				p.now = p.now.Add(time.Minute - every)
				observe([]target{{instance: "a", up: true}, {instance: "b", up: true}})
			}
			fired := map[string]bool{}
			for n := range int(30 * time.Minute / every) {
				observe(tt.production(n))
				for _, alert := range targets {
					fired[alert] = fired[alert] || p.state(t, alert, prod) == rules.StateFiring
					assert.Equal(t, p.state(t, alert, prod), p.state(t, alert, ""), "%s of staging", alert)
				}
			}
			for _, alert := range targets {
				assert.Equal(t, tt.fires == alert, fired[alert], alert)
			}
		})
	}
}
