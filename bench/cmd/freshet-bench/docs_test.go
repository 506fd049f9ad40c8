package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var invocation = regexp.MustCompile("scripts/bench\\.sh((?: +(?:\\\\\n *)?[^\\s`#()\\\\]+)*)")

// TestDocumentedFlagsExist looks up the flags that the documents, the Makefile and CI
// give this command, by the script that runs it. Those of the server's command are
// looked up in cmd/freshet.
func TestDocumentedFlagsExist(t *testing.T) {
	found := 0
	for _, pattern := range []string{"README.md", "CONTRIBUTING.md", "docs/*.md", "docs/*/*.md", "Makefile", ".ci/run", ".github/workflows/*.yml"} {
		paths, err := filepath.Glob("../../../" + pattern)
		require.NoError(t, err)
		require.NotEmpty(t, paths, pattern)
		for _, path := range paths {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			for _, m := range invocation.FindAllStringSubmatch(string(text), -1) {
				found++
				root := newMeasureCommand()
				root.AddCommand(newLoadCommand(), newProveCommand(), newCostCommand())
				cmd, rest, err := root.Find(strings.Fields(strings.ReplaceAll(m[1], "\\\n", " ")))
				require.NoError(t, err, "%s: %s", path, m[0])
				for _, word := range rest {
					word, _, _ = strings.Cut(word, "=")
					if name, ok := strings.CutPrefix(word, "--"); ok {
						assert.NotNil(t, cmd.Flags().Lookup(name), "%s: %s", path, m[0])
					}
				}
			}
		}
	}
	assert.GreaterOrEqual(t, found, 10)
}
