package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/bench"
)

func TestBenchUsage(t *testing.T) {
	for says, args := range map[string][]string{
		`no part "dedupe"; the parts are load_more`: {"bench", "--only", "dedupe"},
		"--items: must be at least 1000":            {"bench", "--items", "5"},
		"invalid argument":                          {"bench", "--duration", "5"},
	} {
		got := freshet(t, "", args...)
		assert.Equal(t, exitUsage, got.code, "%v", args)
		assert.Contains(t, got.errs, says)
	}
	got := freshet(t, "", "bench", "--simulate", "--zipf", "0.5")
	assert.Equal(t, exitError, got.code)
	assert.Contains(t, got.errs, "--zipf must be above 1")
}

// TestBenchInAProcess measures the binary with the binary, and simulates.
func TestBenchInAProcess(t *testing.T) {
	path, err := binary()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "report.json")
	cmd := exec.CommandContext(t.Context(), path, "bench", "--short", "--only", "start", "--json", file)
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Contains(t, string(out), "until /readyz answers")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var report bench.Report
	require.NoError(t, json.Unmarshal(text, &report))
	require.Len(t, report.Results, 1)
	assert.Empty(t, report.Impossible)

	cmd = exec.CommandContext(t.Context(), path, "bench", "--simulate", "--short", "--json", "-")
	text, err = cmd.Output()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &report), "with --json - nothing but JSON is written")
	require.Len(t, report.Simulations, 1)
}

// TestBenchInterrupted presses Ctrl-C: nothing stays, neither a file nor a
// server.
func TestBenchInterrupted(t *testing.T) {
	path, err := binary()
	require.NoError(t, err)
	temp := t.TempDir()
	var said buffer
	cmd := exec.CommandContext(t.Context(), path, "bench", "--only", "refresh", "--items", "3000", "--duration", "1h")
	cmd.Env = append(os.Environ(), "TMPDIR="+temp)
	cmd.Stdout, cmd.Stderr = &said, &said
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool { return strings.Contains(said.String(), "putting in") }, time.Minute, time.Millisecond)
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	err = cmd.Wait()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, exitError, exit.ExitCode(), "%s", &said)
	assert.Contains(t, said.String(), "freshet: interrupted")
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	assert.Empty(t, left)
}
