package socialtest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
)

// noReferences lists the text columns that do not hold an id of a post, an agent or a circle, or
// that hold the id of their own row.
var noReferences = strings.Fields(`
	posts.id posts.origin posts.reply posts.react
	post_keys.key post_keys.print
	authors.name authors.image_url authors.bio authors.delivery authors.suspended_for
	circles.id circles.name circles.kind circles.post circles.history circles.members_visible_to
	removals.removed_by removals.reason
	reports.kind reports.reason reports.details reported.kind reported.decision
	audit.who audit.action audit.kind audit.reason
	promotions.id promotions.tags promotions.langs
	files.key
	exports.name exports.state exports.reason export_parts.name export_parts.data
	mutes.kind
	notifications.kind
	changes.type changes_state.epoch changes_state.home
	jobs.kind jobs.state jobs.error jobs.worker
	freshet_settings.name freshet_settings.value
	touched.key touched_state.epoch`)

// CheckReferences checks that docs/security.md says for each column with an id which event ends the
// reference, and names a case of this suite for it. columns are all text columns of a backend's
// tables, as "table.column"; path is the path of the document.
func CheckReferences(t *testing.T, columns []string, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	_, section, found := strings.Cut(string(text), "### An id that is used again\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	documented := map[string]bool{}
	tested := map[string]bool{}
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 4 || !strings.Contains(cells[0], "`") {
			continue
		}
		for i, name := range strings.Split(cells[0], "`") {
			if i%2 == 1 && strings.Contains(name, ".") {
				documented[name] = true
			}
		}
		name := strings.TrimSpace(cells[3])
		if name != "" {
			assert.Contains(t, reuses, name, "no such case: %s", line)
			tested[name] = true
		}
	}
	for _, column := range columns {
		assert.NotEqual(t, documented[column], slices.Contains(noReferences, column), "%s: docs/security.md must say what ends what it refers to, or socialtest that it holds no id", column)
	}
	for column := range documented {
		assert.Contains(t, columns, column, "docs/security.md names a column that does not exist")
	}
	require.Greater(t, len(tested), 10)
}

// ReferencesOfBefore returns statements that fill the tables of the schema from before
// incarnations: two posts to circles, each with a like, of which one post and its circle had been
// created again, and a post to a circle that is no longer stored. If seq is not "", each row of
// posts begins with a number; none is the text of an empty list.
func ReferencesOfBefore(seq, none string) []string {
	post := func(id string, created, deleted int) string {
		if seq != "" {
			seq = fmt.Sprintf("%d, ", created)
		}
		return fmt.Sprintf(`INSERT INTO posts VALUES (%s'%s', 'a', 1600000000, 0, '', 'public', 'public', 1, 1, 0, 0, %d, %d, 0, 0, 0, 0, 0, %s, %s, '{"caption":"x"}')`,
			seq, id, created, deleted, none, none)
	}
	return []string{
		post("post:1", 50, 0), post("post:2", 60, 40), post("post:3", 55, 0),
		`INSERT INTO circles VALUES ('c1', 'a', '', 10, 0, 0, 1, 0), ('c2', 'a', '', 30, 20, 0, 1, 0)`,
		`INSERT INTO members VALUES ('c1', 'm', 10, 0), ('c2', 'm', 30, 0)`,
		`INSERT INTO post_circles VALUES ('post:1', 'c1', 'a', 1600000000), ('post:2', 'c2', 'a', 1600000000), ('post:3', 'c3', 'a', 1600000000)`,
		`INSERT INTO likes VALUES ('post:1', 'm', 'a', 70), ('post:2', 'm', 'a', 70)`,
	}
}

// CheckReferencesOfBefore checks the data of [ReferencesOfBefore], and that its references end.
func CheckReferencesOfBefore(t *testing.T, s social.Store) {
	t.Helper()
	see := func(id string) social.Card {
		t.Helper()
		list, err := s.Cards(t.Context(), "m", []social.PostVersion{{ID: id}})
		require.NoError(t, err)
		return list[0]
	}
	require.NoError(t, second(s.PutCircle(t.Context(), social.Circle{ID: "c3", Owner: "a"}, []string{"m"}, here)))
	require.False(t, see("post:3").Visible, "it was addressed to a circle that was dropped")
	// Late events of earlier deletions do not delete the current circles and posts.
	require.NoError(t, s.DropCircle(t.Context(), "c1", "", time.UnixMicro(5)))
	require.NoError(t, s.DropCircle(t.Context(), "c2", "", time.UnixMicro(25)))
	for _, id := range []string{"post:1", "post:2"} {
		require.NoError(t, s.DeletePost(t.Context(), id, "", time.UnixMicro(45)))
	}
	for i, id := range []string{"post:1", "post:2"} {
		c := see(id)
		require.Equal(t, social.Member, c.Reason, id)
		require.True(t, c.HasLiked, id)
		require.Equal(t, int64(1), c.Likes, id)
		circle := social.Circle{ID: fmt.Sprintf("c%d", i+1), Owner: "a"}
		require.NoError(t, s.DropCircle(t.Context(), circle.ID, "a", here))
		require.NoError(t, second(s.PutCircle(t.Context(), circle, []string{"m"}, here)))
		require.False(t, see(id).Visible, id)
		require.NoError(t, s.DeletePost(t.Context(), id, "a", here))
		again := social.Post{ID: id, Author: "a", CreatedAt: 1600000000, Caption: "y", Audience: public()}
		_, _, err := s.CreatePost(t.Context(), again, social.Creation{At: time.Now()})
		require.NoError(t, err)
		require.False(t, see(id).HasLiked, id)
		require.Zero(t, see(id).Likes, id)
	}
}
