package handler

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDocumentedRouteCosts checks that each route of the description is in one row of the table
// in docs/security.md, with the maximal number of rows that a call reads.
func TestDocumentedRouteCosts(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/security.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(text), "### What a call reads")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	route := regexp.MustCompile("`([A-Z]+ /[^`]*)`")
	told := map[string]string{}
	for line := range strings.Lines(section) {
		columns := strings.Split(line, "|")
		if len(columns) < 4 {
			continue
		}
		for _, m := range route.FindAllStringSubmatch(columns[1], -1) {
			assert.Empty(t, told[m[1]], "%s has two rows", m[1])
			told[m[1]] = strings.TrimSpace(columns[2])
		}
	}
	for path, item := range loadDescription(t, true).Paths.Map() {
		for method := range item.Operations() {
			assert.NotEmpty(t, told[method+" "+path], "%s %s: docs/security.md does not say how many rows a call reads", method, path)
			delete(told, method+" "+path)
		}
	}
	assert.Empty(t, told, "routes that are not described")
}
