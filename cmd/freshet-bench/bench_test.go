package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/bench"
)

// built builds a command.
func built(t *testing.T, command string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "command")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, command).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return path
}

// buffer may be read while it is written.
type buffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func TestBenchUsage(t *testing.T) {
	for says, args := range map[string][]string{
		`no part "dedupe"; the parts are load_more`: {"--only", "dedupe"},
		"--items: must be at least 1000":            {"--items", "5"},
		"--rate, --agents":                          {"load", "--rate", "0"},
		"invalid argument":                          {"--duration", "5"},
	} {
		var out, errs strings.Builder
		assert.Equal(t, 2, run(t.Context(), args, &out, &errs), "%v", args)
		assert.Contains(t, errs.String(), says)
	}
	var out, errs strings.Builder
	assert.Equal(t, 1, run(t.Context(), []string{"--simulate", "--zipf", "0.5"}, &out, &errs))
	assert.Contains(t, errs.String(), "--zipf must be above 1")
}

// TestBenchInAProcess measures the binary with the binary, and simulates.
func TestBenchInAProcess(t *testing.T) {
	path, server := built(t, "."), built(t, "../freshet")
	file := filepath.Join(t.TempDir(), "report.json")
	cmd := exec.CommandContext(t.Context(), path, "--short", "--only", "start", "--freshet", server, "--json", file)
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

	cmd = exec.CommandContext(t.Context(), path, "--simulate", "--short", "--json", "-")
	text, err = cmd.Output()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &report), "with --json - nothing but JSON is written")
	require.Len(t, report.Simulations, 1)
}

// TestBenchInterrupted presses Ctrl-C: nothing stays, neither a file nor a
// server.
func TestBenchInterrupted(t *testing.T) {
	path := built(t, ".")
	temp := t.TempDir()
	var said buffer
	cmd := exec.CommandContext(t.Context(), path, "--only", "refresh", "--items", "3000", "--duration", "1h")
	cmd.Env = append(os.Environ(), "TMPDIR="+temp)
	cmd.Stdout, cmd.Stderr = &said, &said
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool { return strings.Contains(said.String(), "putting in") }, time.Minute, time.Millisecond)
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	err := cmd.Wait()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, 1, exit.ExitCode(), "%s", &said)
	assert.Contains(t, said.String(), "freshet-bench: interrupted")
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	assert.Empty(t, left)
}
