package rediskeys

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// section returns a section of a document, from its heading to the next one of the same level.
func section(t *testing.T, path, heading string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	_, part, found := strings.Cut(string(text), heading+"\n")
	require.True(t, found, heading)
	part, _, _ = strings.Cut(part, "\n## ")
	return part
}

// TestDocumentedKeyExpiry checks that docs/security.md lists each key that contains the id of an
// agent, an author or an item, with the end of its data.
func TestDocumentedKeyExpiry(t *testing.T) {
	t.Parallel()
	told := section(t, "../../docs/security.md", "### An id that is used again")
	ofIDs := regexp.MustCompile("(?m)^\\| `([^`]*<(?:agent_id|author_id|author|id|hash of agent)>[^`]*)`")
	keys := ofIDs.FindAllStringSubmatch(section(t, "../../docs/architecture.md", "## Keys in Redis"), -1)
	require.Greater(t, len(keys), 10)
	for _, key := range keys {
		assert.Contains(t, told, "`"+key[1]+"`")
	}
}
