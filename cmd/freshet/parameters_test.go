package main

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/cmd/freshet/evaluation"
	"github.com/freshet/freshet/engine/offline"
	"github.com/freshet/freshet/feed"
)

// between returns a list of changes that gives every parameter a value between its bounds, so that
// each bound, and 0, is a change.
func between() string {
	var list []string
	for i := range feed.Parameters {
		p := &feed.Parameters[i]
		list = append(list, p.Name+"="+p.Text(p.Least+(min(p.Most, p.Least+1e6)-p.Least)/4))
	}
	return strings.Join(list, ",")
}

// extremes returns 0 and the bounds of a parameter, and whether each is allowed.
func extremes(p *feed.Parameter) map[float64]bool {
	values := map[float64]bool{0: false, p.Least: !p.NotLeast} // no parameter may be negative
	if !math.IsInf(p.Most, 1) {
		values[p.Most] = !p.NotMost
	}
	return values
}

// TestParameterBounds sends each parameter of the table at 0 and at both bounds by each
// command that takes parameters, and reads the value back. One that is out of bounds is refused
// with its name and its bounds.
func TestParameterBounds(t *testing.T) {
	t.Parallel()
	p := start(t, map[string]string{"DATA_DIR": t.TempDir(), "RANKING": between(), "POPULARITY_HALF_LIVES": strings.Join(feed.HalfLifeNames, ",")})
	for i := range feed.Parameters {
		parameter := &feed.Parameters[i]
		for value, takes := range extremes(parameter) {
			change := parameter.Name + "=" + parameter.Text(value)
			if takes {
				goesEverywhere(t, p, parameter, value, change)
			} else {
				isRefusedEverywhere(t, p, parameter, change)
			}
		}
	}
}

// goesEverywhere checks that a value arrives by every command.
func goesEverywhere(t *testing.T, p *process, of *feed.Parameter, value float64, change string) {
	t.Helper()
	is := func(by string, r feed.Ranking) {
		t.Helper()
		require.InDelta(t, value, of.Of(r), 1e-9*max(1, math.Abs(value)), "%s: %s", by, change)
	}
	set := answered[client.RankingVersion](t, p, "ranking", "set", change)
	is("set", set.Ranking)
	is("show", answered[client.RankingVersion](t, p, "ranking", "show").Ranking)
	configured := answered[client.RankingVersion](t, p, "ranking", "revert", "0")
	require.Equal(t, of.Name, changedName(configured.Ranking.Changes(set.Ranking)), "only this one was changed")

	began := answered[client.RankingVersion](t, p, "ranking", "set", change, "--as", "x", "--share", "100%")
	is("experiment", began.Experiments[0].Ranking)
	is("explain the experiment", answered[client.Explanation](t, p, "explain", "--agent", "u_1").Ranking)
	promoted := answered[client.RankingVersion](t, p, "ranking", "promote", "x", "--anyway", "--why", "y")
	is("promote", promoted.Ranking)
	require.Empty(t, promoted.Experiments)
	answered[client.RankingVersion](t, p, "ranking", "revert", "0")
	is("revert", answered[client.RankingVersion](t, p, "ranking", "revert", strconv.Itoa(promoted.Version)).Ranking)
	answered[client.RankingVersion](t, p, "ranking", "revert", "0")

	is("explain", answered[client.Explanation](t, p, "explain", "--agent", "u_1", "--set", change).Ranking)
	compared := answered[offline.Comparison](t, p, "ranking", "compare", "--a", change, "--b", change, "--agents", "u_1")
	is("compare a", compared.A)
	is("compare b", compared.B)
	if slices.Contains(evaluation.Sweepable(), of.Name) {
		// A sweep needs two values.
		both := of.Text(value) + "," + of.Text(of.Of(configured.Ranking))
		swept := answered[evaluation.Sweep](t, p, "ranking", "sweep", "--"+of.Name, both, "--agents", "u_1")
		at := slices.IndexFunc(swept.Points, func(point evaluation.Point) bool { return point.Changes == change })
		require.GreaterOrEqual(t, at, 0, change)
		is("sweep", swept.Points[at].Ranking)
	}
}

// isRefusedEverywhere checks that every command refuses a value and says why.
func isRefusedEverywhere(t *testing.T, p *process, of *feed.Parameter, change string) {
	t.Helper()
	for _, args := range [][]string{
		{"ranking", "set", change},
		{"ranking", "set", change, "--as", "x", "--share", "1"},
		{"explain", "--agent", "u_1", "--set", change},
		{"ranking", "compare", "--a", change, "--agents", "u_1"},
		{"ranking", "compare", "--b", change, "--agents", "u_1"},
	} {
		got := freshet(t, "", append(args, "--server", p.url, "--token", adminToken)...)
		assert.NotEqual(t, exitOK, got.code, "%v", args)
		assert.Contains(t, got.errs, "must be "+of.Bounds(), "%v", args)
		assert.Contains(t, got.errs, of.Name, "%v", args)
	}
}

// answered returns what a command prints with --json.
func answered[T any](t *testing.T, p *process, args ...string) (data T) {
	t.Helper()
	got := freshet(t, "", append(args, "--json", "--server", p.url, "--token", adminToken)...)
	require.Equal(t, exitOK, got.code, "%v: %s", args, got.errs)
	require.NoError(t, json.Unmarshal([]byte(got.out), &data), got.out)
	return data
}

// changedName returns the name in a list of one change.
func changedName(list string) string {
	name, _, _ := strings.Cut(list, "=")
	if strings.Contains(list, ",") {
		return list
	}
	return name
}
