package main

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
)

var (
	anyMoment = regexp.MustCompile(`\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}`)
	anySpaces = regexp.MustCompile(` +\n`)
)

func TestRankingExperimentWithHyphen(t *testing.T) {
	t.Parallel()
	p := start(t, map[string]string{"DATA_DIR": t.TempDir()})
	made := p.tune(t, "", "set", "scale=48h", "--as", "-x", "--share", "10%")
	require.Equal(t, exitOK, made.code, made.errs)
	refused := p.tune(t, "", "drop", "-x")
	require.Equal(t, exitUsage, refused.code)
	require.Contains(t, refused.errs, "freshet ranking drop -- -x")
	ended := freshet(t, "", "ranking", "drop", "--server", p.url, "--token", adminToken, "--", "-x")
	require.Equal(t, exitOK, ended.code, ended.errs)
	require.Contains(t, p.tune(t, "", "show").out, "end -x")
}

// TestRankingLive runs an experiment from start to end: a variant with a tenth of the agents, a
// larger share, live, and rolled back.
func TestRankingLive(t *testing.T) {
	t.Setenv("USER", "ana")
	p := start(t, map[string]string{"DATA_DIR": t.TempDir(), "RANKING": "curves=single"})
	var transcript string
	run := func(args ...string) result {
		t.Helper()
		got := p.tune(t, "", args...)
		transcript += "$ freshet ranking"
		for _, a := range args {
			transcript += " " + a
		}
		transcript += "\n" + got.out + got.errs + "\n"
		return got
	}
	ok := func(args ...string) {
		t.Helper()
		got := run(args...)
		require.Equal(t, exitOK, got.code, got.errs)
	}
	ok("show")
	ok("set", "scale=48h,weight=0.2", "--why", "weekend readers want more")
	ok("set", "scale=48h")
	ok("set", "scale=72h", "--as", "slow", "--share", "10%")
	ok("set", "--as", "slow", "--share", "0.25", "--by", "bob")
	require.Equal(t, exitError, run("set", "floor=0", "--as", "slow").code, "it runs with others")
	ok("set", "--as", "idle", "--share", "0")
	ok("set", "--as", "idle", "--share", "0%")
	require.Equal(t, exitError, run("drop", "fast").code)
	require.Equal(t, exitError, run("set", "scale=96h", "--as", "new").code)
	require.Equal(t, exitError, run("set", "scale=0s").code)
	require.Equal(t, exitError, run("set", "scale=12h", "--if-version", "3").code)
	ok("set", "--as", "slow", "--limits", "rejects=10%,latency=20%")
	ok("set", "--as", "slow", "--limits", "none")
	require.Equal(t, exitError, run("promote", "slow").code, "it has not won")
	ok("promote", "slow", "--anyway", "--why", "the test wants it")
	ok("drop", "idle", "--why", "nobody was in it")
	require.Equal(t, exitError, run("revert", "99").code)
	require.Equal(t, exitError, run("revert", "1", "--if-version", "2").code)
	ok("revert", "3", "--why", "clicks went down")
	ok("holdout", "2%", "--of", "0")
	ok("holdout", "5%", "--of", "2026-01-01")
	require.Equal(t, exitError, run("holdout", "5%", "--of", "1").code, "it keeps another ranking")
	require.Equal(t, exitError, run("holdout", "5%", "--of", "99").code)
	require.Equal(t, exitUsage, run("holdout", "5%", "--of", "yesterday").code)
	require.Equal(t, exitUsage, run("holdout", "500%").code)
	ok("set", "scale=36h")
	ok("holdout", "5%")
	ok("drop", "holdout")
	ok("holdout", "1%")
	ok("drop", "holdout")
	ok("history")
	ok("history", "--limit", "1")
	golden(t, "ranking-live.txt", anySpaces.ReplaceAllString(anyMoment.ReplaceAllString(transcript, "2026-03-06 12:00:00"), "\n"))

	got := p.tune(t, "", "show", "--json")
	var v client.RankingVersion
	require.NoError(t, json.Unmarshal([]byte(got.out), &v))
	require.Len(t, v.Experiments, 1)
	got = p.tune(t, "", "set", "base=0.2", "--json")
	var next client.RankingVersion
	require.NoError(t, json.Unmarshal([]byte(got.out), &next))
	require.Equal(t, v.Version+1, next.Version)
	require.InDelta(t, 0.2, next.Ranking.Base, 0)
	got = p.tune(t, "", "history", "--json")
	var list []client.RankingVersion
	require.NoError(t, json.Unmarshal([]byte(got.out), &list))
	require.Len(t, list, next.Version+1)
}

// TestRankingCurves sets curves, then replaces them by a single Gaussian.
func TestRankingCurves(t *testing.T) {
	t.Parallel()
	p := start(t, map[string]string{"DATA_DIR": t.TempDir(), "RANKING": "curves=single"})
	ok := func(stdin string, args ...string) string {
		t.Helper()
		got := p.tune(t, stdin, args...)
		require.Equal(t, exitOK, got.code, got.errs)
		return got.out
	}
	const (
		list = `[{"shape":"exp","scale":"12m","offset":"0s","decay":0.5,"weight":0.6},{"shape":"constant","weight":0.02}]`
		note = "one Gaussian, with scale, offset and decay, replaces 2 curves"
	)
	out := ok("", "set", `curves=[{"shape":"exp","scale":"12m","weight":0.6},{"shape":"constant","weight":0.02}],weight=1`)
	require.Contains(t, out, "100%   default, but curves="+list+",weight=1\n")
	require.Contains(t, out, "Changed: curves="+list+",weight=1; every server")
	require.NotContains(t, out, "note:")
	require.Contains(t, ok("", "show"), "curves="+list)
	require.Contains(t, ok("", "set", "floor=0,weight=1"), "Changed: floor=0; ")

	require.Contains(t, ok("", "compare", "--b", "scale=48h", "--agents", "u_1"), "note: b: "+note+"\n")
	require.NotContains(t, ok("", "compare", "--b", "curves=two", "--agents", "u_1"), "note:")
	swept := ok("", "sweep", "--scale", "6h,12h,24h", "--agents", "u_1", "--svg", filepath.Join(t.TempDir(), "scale.svg"))
	require.Equal(t, 1, strings.Count(swept, "note: b: "+note), swept)
	click := `{"agent_id":"u_1","id":"doc_1","at":"2026-03-06T12:00:00Z","type":"click"}`
	require.Contains(t, ok(click, "replay", "-", "--b", "offset=2h"), "note: rankings[1]: "+note)

	require.Contains(t, ok("", "set", "offset=2h", "--as", "slow", "--share", "10%"), "note: experiment slow: "+note)
	out = ok("", "set", "scale=48h")
	require.Contains(t, out, "Changed: scale=48h,offset=1h,decay=0.5; every server follows within two seconds.\nnote: ranking: "+note+"\n")
	require.NotContains(t, ok("", "set", "scale=72h"), "note:")
	require.Contains(t, ok("", "set", "curves=two"), "control  90%    default, but weight=1\n")
	require.Contains(t, ok("", "set", "curves=single"), "90%    default, but scale=24h,offset=1h,decay=0.5,weight=1\n")

	for change, says := range map[string]string{
		"curves=three": "the name of a preset, single or two", "curves=two,scale=1h": "set one or the other",
		`curves=[{"shape":"exp","scale":"1h"},{"shape":"exp","scale":"0s"}]`: "decay.curves[1].scale must be at least 1s",
	} {
		got := p.tune(t, "", "set", change)
		require.NotEqual(t, exitOK, got.code, change)
		require.Contains(t, got.errs, says)
	}
}

func TestRankingLiveUsageErrors(t *testing.T) {
	for name, args := range map[string][]string{
		"nothing":             {"set"},
		"share of nothing":    {"set", "--share", "10%"},
		"two words":           {"set", "scale=1h", "weight=2"},
		"share in words":      {"set", "--as", "a", "--share", "ten"},
		"more than all":       {"set", "--as", "a", "--share", "101%"},
		"name":                {"set", "scale=1h", "--as", "Slow"},
		"control":             {"set", "scale=1h", "--as", "control"},
		"drop whom":           {"drop"},
		"promote whom":        {"promote", "a", "b"},
		"promote anyhow":      {"promote", "a", "--anyway"},
		"limits of nothing":   {"set", "scale=1h", "--limits", "rejects=10%"},
		"unknown limit":       {"set", "--as", "a", "--share", "10%", "--limits", "joy=10%"},
		"limit of zero":       {"set", "--as", "a", "--share", "10%", "--limits", "rejects=0"},
		"revert where":        {"revert"},
		"revert to a word":    {"revert", "yesterday"},
		"revert to before":    {"revert", "--", "-1"},
		"history of nothing":  {"history", "--limit", "0"},
		"history of too many": {"history", "--limit", "101"},
		"show what":           {"show", "slow"},
	} {
		t.Run(name, func(t *testing.T) {
			got := freshet(t, "", append([]string{"ranking"}, args...)...)
			assert.Equal(t, exitUsage, got.code, got.errs)
			assert.NotEmpty(t, got.errs)
		})
	}
}

// TestServeUsesConfiguredRanking checks that flags and environment override the file.
func TestServeUsesConfiguredRanking(t *testing.T) {
	t.Parallel()
	path := write(t, "freshet.yaml", "ranking:\n  scale: 12h\n  offset: 9h\n  base: 0.2\n")
	p := start(t, map[string]string{"DATA_DIR": t.TempDir(), "RANKING": "base=0.7"}, "--config", path, "--ranking", "offset=3h")
	require.Contains(t, p.tune(t, "", "show").out, "default, but scale=12h,offset=3h,decay=0.5,base=0.7\n")
}
