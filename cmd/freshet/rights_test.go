package main

import (
	"context"
	"log/slog"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/socialtest"
)

// This file has the rights matrix of the commands: which posts of [socialtest.Network] each may
// print. That of the routes is in the package handler.

// shows describes how a command can print a post: its arguments, and the posts that a reader may
// find in the output. {agent} is replaced by the reader's id.
type shows struct {
	args []string
	want func(kind, reader string, p socialtest.RightsPost) bool
}

// showsNone is the reason why a command cannot print a post.
type showsNone string

func commandMatrix(dir string) map[string]any {
	read := func(_, reader string, p socialtest.RightsPost) bool { return p.Listed(reader) }
	feed := func(kind, reader string, p socialtest.RightsPost) bool {
		return kind == "public" && p.Visible(reader) && reader != "muter" && reader != "author" // no feed shows the reader's own posts
	}
	public := func(kind, _ string, _ socialtest.RightsPost) bool { return kind == "public" }
	none := func(_, _ string, _ socialtest.RightsPost) bool { return false }
	clicks := filepath.Join(dir, "clicks.ndjson")
	const parameters, own, offline = showsNone("parameters of the ranking"), showsNone("prints what the caller has sent"), showsNone("asks no server")
	return map[string]any{
		"timeline":        shows{[]string{"timeline", "--agent", "{agent}", "--limit", "100", "--json"}, read},
		"feed":            shows{[]string{"feed", "refresh", "--agent", "{agent}", "--limit", "100", "--json"}, feed},
		"explain":         shows{[]string{"explain", "--agent", "somebody-new", "--all"}, public},
		"ranking compare": shows{[]string{"ranking", "compare", "--b", "scale=72h", "--agents", "somebody-new", "--json"}, none},
		"ranking sweep":   shows{[]string{"ranking", "sweep", "--scale", "6h,12h", "--agents", "somebody-new", "--json"}, none},
		"ranking replay":  shows{[]string{"ranking", "replay", clicks, "--b", "scale=72h", "--allow-rejected"}, none},
		"ranking report":  shows{[]string{"ranking", "report"}, none},
		"items list":      shows{[]string{"items", "list", "--limit", "200", "--json"}, none},
		"jobs list":       shows{[]string{"jobs", "list", "--limit", "1000", "--json"}, none},
		"doctor":          shows{[]string{"doctor", "--data_dir", dir}, none},
		"export":          showsNone("the state; without --json, what the agent has made: TestExport"),
		"moderate":        shows{[]string{"moderate", "--json"}, none},
		"post":            own,
		"follow":          own,
		"ingest":          own,
		"jobs retry":      showsNone("ids of jobs"),
		"jobs drop":       showsNone("ids of jobs"),
		"jobs derive":     showsNone("ids of posts that the caller has sent"),
		"jobs rederive":   showsNone("numbers, and a position that names the id of a post"),
		"promote list":    shows{[]string{"promote", "list", "--json"}, none},
		"promote get":     showsNone("ids of items and posts that the caller has sent"),
		"promote put":     own,
		"promote delete":  own,
		"ranking show":    parameters,
		"ranking history": parameters,
		"ranking revert":  parameters,
		"ranking set":     parameters,
		"ranking promote": parameters,
		"ranking propose": parameters,
		"ranking drop":    parameters,
		"ranking holdout": parameters,
		"health":          showsNone("names of dependencies"),
		"serve":           showsNone("writes a log; TestRights of the package handler looks at it"),
		"worker":          showsNone("writes a log, as serve does"),
		"version":         offline,
		"backup":          showsNone("names of parts; asks no server"),
		"restore":         showsNone("names of parts, tables and agents; asks no server"),
		"config print":    offline,
		"config check":    offline,
		"config example":  offline,
		"config diff":     showsNone("settings"),
		"config reload":   showsNone("settings"),
	}
}

// leaves returns the paths of the commands below cmd that have no subcommands.
func leaves(cmd *cobra.Command, path ...string) []string {
	if !cmd.HasSubCommands() {
		return []string{strings.Join(path, " ")}
	}
	var list []string
	for _, below := range cmd.Commands() {
		list = append(list, leaves(below, append(slices.Clone(path), below.Name())...)...)
	}
	return list
}

// startNetwork runs an in-process server with the posts of [socialtest.Network].
func startNetwork(t *testing.T, dir string) string {
	t.Helper()
	cfg := configs.Default()
	cfg.DataDir, cfg.Auth.AdminToken = dir, adminToken
	require.NoError(t, cfg.Validate())
	a, err := server.Open(t.Context(), cfg, server.WithRecallCache(0, 0), server.WithLogger(slog.New(slog.DiscardHandler)))
	require.NoError(t, err)
	server := httptest.NewServer(a.Handler)
	t.Cleanup(func() {
		server.Close()
		assert.NoError(t, a.Close(context.Background()))
	})
	socialtest.Network(t, a.Social)
	testenv.WaitFor(t, func() bool {
		stats, err := a.Social.Stats(t.Context())
		require.NoError(t, err)
		return !slices.ContainsFunc(stats.Rows, func(r jobs.Rows) bool { return r.State != jobs.Completed && r.Kind != jobs.Count })
	}, "the jobs")
	require.NoError(t, a.Social.DeletePost(t.Context(), "post:deleted", "", time.Time{}))
	return server.URL
}

func TestCommandRights(t *testing.T) {
	t.Setenv(configs.EnvAdminToken, adminToken)
	dir := t.TempDir()
	matrix := commandMatrix(dir)
	all := leaves(newRootCommand())
	for _, path := range all {
		require.Contains(t, matrix, path, "say in commandMatrix how this command shows posts, or why it shows none")
	}
	require.Len(t, matrix, len(all), "a command of the matrix does not exist: there are %v", all)
	url := startNetwork(t, dir)
	var clicks strings.Builder
	for kind := range socialtest.RightsPosts() {
		clicks.WriteString(`{"agent_id":"stranger","id":"post:` + kind + `","at":` + strconv.FormatInt(time.Now().Unix(), 10) + `,"type":"click"}` + "\n")
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "clicks.ndjson"), []byte(clicks.String()), 0o600))
	c, err := client.New(url, client.WithToken(adminToken))
	require.NoError(t, err)
	defer c.Close()
	_, err = c.PutProfile(t.Context(), "muter", feed.Profile{MutedAuthors: []string{"author"}})
	require.NoError(t, err)
	// The feed shows a post only once, so it is tested before the timeline.
	for _, path := range slices.Sorted(maps.Keys(matrix)) {
		if s, ok := matrix[path].(shows); ok {
			t.Run(path, func(t *testing.T) { s.look(t, url) })
		}
	}
}

// look runs the command, once for each reader if its output depends on the reader.
func (s shows) look(t *testing.T, url string) {
	readers := []string{"admin"}
	if slices.Contains(s.args, "{agent}") {
		readers = slices.DeleteFunc(slices.Clone(socialtest.Readers), func(r string) bool { return r == "nobody" || r == "admin" })
	}
	for _, reader := range readers {
		args := slices.Clone(s.args)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "{agent}", reader)
		}
		if args[0] != "doctor" {
			args = append(args, "--server", url)
		}
		got := freshet(t, "", args...)
		require.Equal(t, exitOK, got.code, "%v: %s %s", args, got.out, got.errs)
		printed := strings.Fields(strings.NewReplacer(`"`, " ", ",", " ", "\\", " ", "…", " ").Replace(got.out + got.errs))
		for kind, p := range socialtest.RightsPosts() {
			assert.Equal(t, s.want(kind, reader, p), slices.Contains(printed, socialtest.SecretOf(kind)), "%v shows %s to %s: %s", args, kind, reader, got.out)
		}
	}
}
