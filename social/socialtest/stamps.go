package socialtest

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// noStamps lists the columns of numbers that hold no time.
var noStamps = strings.Fields(`
	posts.seq posts.reach posts.version posts.likes_here posts.likes_reported posts.comments_reported posts.comments_here posts.repliers posts.removed
	post_circles.own moderated_circles.own
	moderated.state moderated.removed moderated.reach
	reported.open audit.seq
	post_counts.public post_counts.followers post_counts.own
	authors.has_card authors.followers authors.following authors.erasing authors.suggest_from_follows authors.not_recommended
	circles.size circles.told
	files.state
	exports.parts exports.bytes exports.sent export_parts.part
	notifications.number inboxes.number inboxes.seen
	changes.seq changes_state.one changes_state.trimmed
	jobs.id jobs.generation jobs.priority jobs.attempts jobs.lease jobs.leased_generation
	freshet_schema.oldest freshet_migrations.id freshet_migrations.version_id`)

// CheckStamps checks that docs/decisions/order.md says for each column with a time why the clocks of
// two servers do not decide a right by it. columns are all columns of numbers of a backend's tables,
// as "table.column"; path is the path of the document.
func CheckStamps(t *testing.T, columns []string, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	_, section, found := strings.Cut(string(text), "## All stamps\n")
	require.True(t, found)
	documented := map[string]bool{}
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 4 {
			continue
		}
		for i, name := range strings.Split(cells[0], "`") {
			if i%2 == 1 {
				documented[name] = true
			}
		}
	}
	require.Greater(t, len(documented), 30)
	for _, column := range columns {
		assert.NotEqual(t, documented[column], slices.Contains(noStamps, column), "%s: docs/decisions/order.md must say what it is compared with, or socialtest that it holds no time", column)
	}
	for column := range documented {
		assert.Contains(t, columns, column, "docs/decisions/order.md names a column that does not exist")
	}
}
