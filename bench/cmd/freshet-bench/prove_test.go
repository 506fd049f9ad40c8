package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/bench/prove"
)

// TestProve judges an embedded server in a process of this binary, and writes all three reports.
func TestProve(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv(asCommand, "1") // of the servers
	folder := t.TempDir()
	asJSON, asPage, asChart := filepath.Join(folder, "proof.json"), filepath.Join(folder, "proof.html"), filepath.Join(folder, "proof.svg")
	var out, errs strings.Builder
	code := run(t.Context(), []string{
		"prove", "--adapters", "embedded", "--for", "3s", "--rate", "40", "--agents", "6", "--follows", "2", "--posts", "30",
		"--kill", "1s", "--ahead", "2s", "--seed", "7", "--json", asJSON, "--html", asPage, "--svg", asChart,
	}, &out, &errs)
	require.Zero(t, code, "%s%s", &out, &errs)
	assert.Regexp(t, `shown twice within seven days +0\n`, out.String())
	assert.Contains(t, out.String(), "again: freshet-bench prove --adapters embedded --agents 6 ")
	text, err := os.ReadFile(asJSON)
	require.NoError(t, err)
	var report prove.Report
	require.NoError(t, json.Unmarshal(text, &report))
	require.Len(t, report.Columns, 1)
	assert.Positive(t, report.Columns[0].Pages)
	assert.Len(t, report.Columns[0].FaultsMade, 3, "the clock, and two kills")
	text, err = os.ReadFile(asPage)
	require.NoError(t, err)
	assert.Contains(t, string(text), "<svg")
	text, err = os.ReadFile(asChart)
	require.NoError(t, err)
	assert.Contains(t, string(text), "embedded: 0 shown twice")
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	assert.Empty(t, left)
}
