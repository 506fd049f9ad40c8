package rediskeys

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// section reads a part of a document, from its heading to the next one of its kind.
func section(t *testing.T, path, heading string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	_, part, found := strings.Cut(string(text), heading+"\n")
	require.True(t, found, heading)
	part, _, _ = strings.Cut(part, "\n## ")
	return part
}

// TestEachKeyOfAnIDEnds holds that docs/security.md says of each key that names an agent, an
// author or an item what ends what it says.
func TestEachKeyOfAnIDEnds(t *testing.T) {
	t.Parallel()
	told := section(t, "../../docs/security.md", "### An id that is used again")
	ofIDs := regexp.MustCompile("(?m)^\\| `([^`]*<(?:agent_id|author_id|author|id|hash of agent)>[^`]*)`")
	keys := ofIDs.FindAllStringSubmatch(section(t, "../../docs/architecture.md", "## Keys in Redis"), -1)
	require.Greater(t, len(keys), 10)
	for _, key := range keys {
		assert.Contains(t, told, "`"+key[1]+"`")
	}
}
