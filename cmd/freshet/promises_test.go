package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz|Example)\w*)\(`)
	codeSpan     = regexp.MustCompile("`([^`]+)`")
)

// tests are the names of the test functions of all modules, the conformance suites and the
// scripts.
func tests(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	require.NoError(t, filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || path != "../.." && strings.HasPrefix(d.Name(), ".")):
			return filepath.SkipDir
		case d.IsDir() && strings.HasSuffix(d.Name(), "test"):
			found[d.Name()] = true
		case strings.HasPrefix(path, "../../scripts/"):
			found[strings.TrimPrefix(path, "../../")] = true
		case strings.HasSuffix(path, "_test.go"):
			text, err := os.ReadFile(path)
			for _, m := range testFunction.FindAllStringSubmatch(string(text), -1) {
				found[m[1]] = true
			}
			return err
		}
		return nil
	}))
	return found
}

// TestPromisesNameTests looks up the tests in the last column of the tables of
// docs/promises.md. Each promise has one at least.
func TestPromisesNameTests(t *testing.T) {
	known := tests(t)
	page, err := os.ReadFile("../../docs/promises.md")
	require.NoError(t, err)
	promises, _, found := strings.Cut(string(page), "\n## Where Freshet differs\n")
	require.True(t, found)
	rows := 0
	for line := range strings.Lines(promises) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) < 3 || strings.HasPrefix(line, "|---") || strings.Contains(line, "may rely on") {
			continue
		}
		rows++
		names := codeSpan.FindAllStringSubmatch(cells[len(cells)-2], -1)
		assert.NotEmpty(t, names, line)
		for _, m := range names {
			assert.True(t, known[m[1]], "no test %s: %s", m[1], line)
		}
	}
	assert.Greater(t, rows, 60)
	assert.False(t, known["TestThatIsNotThere"])
}

// TestNamedTestsExist looks up each test that a document names.
func TestNamedTestsExist(t *testing.T) {
	known := tests(t)
	named := regexp.MustCompile("`((?:Test|Benchmark|Fuzz)[A-Z]\\w*)`")
	for path, text := range documents(t) {
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			assert.True(t, known[m[1]], "%s names %s", path, m[1])
		}
	}
}
