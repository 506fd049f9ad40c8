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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/bench"
	"github.com/freshet/freshet/internal/testenv"
)

// asCommand is set in the environment of a child process that runs as the command.
const asCommand = "BENCH_TEST_AS_COMMAND"

// TestMain lets the test binary run as the command, which saves a build.
func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

// buffer is safe for concurrent use.
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
		"--quality takes a file of items":           {"--quality", "items"},
		"stat nowhere":                              {"--quality", "nowhere", "events"},
		"--from: write 2016-06-01":                  {"--quality", ".", ".", "--from", "June"},
		"--window: write a number of days":          {"--quality", ".", ".", "--window", "0d"},
		"--window must be 1s to 59d":                {"--quality", ".", ".", "--window", "90d"},
		"the half must be even, odd or all":         {"--quality", ".", ".", "--half", "third"},
		"--also speed=2":                            {"--quality", ".", ".", "--also", "speed=2"},
		`there is no "rival"; there are embedded`:   {"prove", "--adapters", "rival"},
		"--gorse: ":                                 {"prove", "--gorse", "/nowhere/gorse-in-one"},
		"--agents must be at least 4":               {"prove", "--agents", "3"},
		"--settle must be longer than --ahead":      {"prove", "--ahead", "1m", "--settle", "45s"},
	} {
		var out, errs strings.Builder
		assert.Equal(t, 2, run(t.Context(), args, &out, &errs), "%v", args)
		assert.Contains(t, errs.String(), says)
	}
	var out, errs strings.Builder
	assert.Equal(t, 1, run(t.Context(), []string{"--simulate", "--zipf", "0.5"}, &out, &errs))
	assert.Contains(t, errs.String(), "--zipf must be above 1")
}

// TestBenchReportJSON writes the report to a file in addition to the tables, and alone to standard
// output.
func TestBenchReportJSON(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	file := filepath.Join(t.TempDir(), "report.json")
	var out, errs strings.Builder
	require.Zero(t, run(t.Context(), []string{"--simulate", "--short", "--json", file}, &out, &errs), "%s", &errs)
	assert.Contains(t, out.String(), "simulation")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var report bench.Report
	require.NoError(t, json.Unmarshal(text, &report))
	require.Len(t, report.Simulations, 1)
	assert.Empty(t, report.Impossible)

	out.Reset()
	require.Zero(t, run(t.Context(), []string{"--only", "start", "--json", "-"}, &out, &errs), "%s", &errs)
	require.NoError(t, json.Unmarshal([]byte(out.String()), &report), "nothing but JSON is written")
	require.Len(t, report.Results, 1)
	assert.Contains(t, report.Results[0].Skipped, "--freshet")
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	assert.Empty(t, left)
}

// TestBenchQuality measures a community of two: u_1 reads the newer of two items, u_2 the older.
func TestBenchQuality(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	items := write("items", `{"id":"a","title":"A","update_time":1000}`+"\n"+`{"id":"b","title":"B","update_time":2000}`+"\n")
	events := write("events", "1500\tu_1\tclick\ta\n2500\tu_2\tlike\ta\n2500\tu_1\tclick\tb\n")
	ask := func(more ...string) (string, int) {
		var out, errs strings.Builder
		code := run(t.Context(), append([]string{"--quality", items, events}, more...), &out, &errs)
		return out.String() + errs.String(), code
	}
	said, code := ask()
	assert.Zero(t, code, said)
	assert.Contains(t, said, "all readers: 2 readers, 3 first reads from 1970-01-01 to 1970-01-01")

	report := filepath.Join(folder, "report.json")
	said, code = ask("--json=" + report)
	assert.Zero(t, code, said)
	text, err := os.ReadFile(report)
	require.NoError(t, err)
	said, code = ask("--json") // without a file name
	assert.Zero(t, code)
	assert.Equal(t, string(text), said)
	rows := strings.Split(strings.TrimSpace(said), "\n")
	require.Len(t, rows, 22)
	var row struct {
		Ranking string
		Readers int
		MRR     float64
	}
	require.NoError(t, json.Unmarshal([]byte(rows[1]), &row))
	assert.Equal(t, "most recent", row.Ranking)
	assert.Equal(t, 2, row.Readers)
	assert.InDelta(t, (1+0.5)/2, row.MRR, 1e-6)

	said, code = ask("--json", "--count-readers", write("readers", "u_2\n"), "--from", "1970-01-01", "--until", "1970-01-02T00:00:00Z", "--half", "odd")
	assert.Zero(t, code, said)
	assert.Contains(t, said, `"ranking":"default","readers":1,"events":1`)
	said, code = ask("--count-readers", write("bad", "u 2\n"))
	assert.Equal(t, 1, code)
	assert.Contains(t, said, "bad:1: reader \"u 2\"")
	said, code = ask("--until", "1970-01-01")
	assert.Equal(t, 1, code)
	assert.Contains(t, said, "no reads to measure")
}

// TestBenchInterrupted presses Ctrl-C: no file and no server must be left.
func TestBenchInterrupted(t *testing.T) {
	temp := t.TempDir()
	var said buffer
	cmd := exec.CommandContext(t.Context(), os.Args[0], "--only", "refresh", "--items", "3000", "--duration", "1h")
	cmd.Env = append(os.Environ(), asCommand+"=1", "TMPDIR="+temp)
	cmd.Stdout, cmd.Stderr = &said, &said
	require.NoError(t, cmd.Start())
	testenv.WaitFor(t, func() bool { return strings.Contains(said.String(), "putting in") }, "the command to measure")
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
