package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDocumentedCosts compares docs/capacity.md with what the command computes from the costs that
// were measured.
func TestDocumentedCosts(t *testing.T) {
	text, err := os.ReadFile("../../../docs/capacity.md")
	require.NoError(t, err)
	var out, errs strings.Builder
	require.Zero(t, run(t.Context(), []string{"cost"}, &out, &errs), errs.String())
	documented := 0
	for line := range strings.Lines(out.String()) {
		line = strings.TrimRight(line, " \n")
		assert.Contains(t, string(text), "\n    "+line+"\n", "docs/capacity.md must have what scripts/bench.sh cost prints")
		documented++
	}
	assert.Greater(t, documented, 10)
}

func TestCostArguments(t *testing.T) {
	for says, args := range map[string][]string{
		"--followers and --cores must be at least 1": {"cost", "--followers", "0"},
		"prices must be 0 or more":                   {"cost", "--core-hour=-1"},
		"--costs: open nowhere":                      {"cost", "--costs", "nowhere"},
	} {
		var out, errs strings.Builder
		assert.NotZero(t, run(t.Context(), args, &out, &errs), "%v", args)
		assert.Contains(t, errs.String(), says)
	}
	var out, errs strings.Builder
	require.Zero(t, run(t.Context(), []string{"cost", "--save"}, &out, &errs))
	assert.Contains(t, out.String(), `"timeline page"`)
}
