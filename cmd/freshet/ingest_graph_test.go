package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestIngestGraph imports a file of follows into a real server twice. An unfollow between the
// imports is not undone.
func TestIngestGraph(t *testing.T) {
	t.Parallel()
	p := start(t, map[string]string{"DATA_DIR": t.TempDir()})
	file := write(t, "follows.tsv", "follower\tauthor\nu_1\ta\nu_2\ta\na\ta\nu_1\n")
	before := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(file, before, before))
	const rejected = "  line 4 (\"a/a\"): a cannot follow or block themself\n  line 5: the line is neither"
	got := freshet(t, "", "ingest", "--graph", file, "--server", p.url, "--token", adminToken)
	require.Equal(t, exitError, got.code)
	require.True(t, strings.HasPrefix(got.out, "2 accepted, 2 rejected\n"+rejected), got.out)

	unfollow := `{"type":"follow.removed","data":{"agent_id":"u_2","author_id":"a","at":"` + before.Add(time.Minute).Format(time.RFC3339) + "\"}}\n"
	got = freshet(t, unfollow, "ingest", "--graph", "-", "--server", p.url, "--token", adminToken)
	require.Equal(t, "1 accepted, 0 rejected\n", got.out, got.errs)
	got = freshet(t, "", "ingest", "--graph", file, "--server", p.url, "--token", adminToken, "--allow-rejected")
	require.Equal(t, exitOK, got.code, got.errs)

	status, _, info := p.call(t, "GET", "/v1/authors/a", nil, nil)
	require.Equal(t, 200, status)
	require.EqualValues(t, 1, info["followers"])
}
