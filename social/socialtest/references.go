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

// noReferences are the columns of texts that hold no id of a post, an agent or a circle, or
// that are the id of their row.
var noReferences = strings.Fields(`
	posts.id posts.origin posts.reply posts.react
	post_keys.key post_keys.print
	authors.name authors.image_url authors.bio authors.delivery
	circles.id circles.name circles.kind circles.post circles.history circles.members_visible_to
	promotions.id promotions.tags promotions.langs
	files.key
	jobs.kind jobs.state jobs.error jobs.worker
	freshet_settings.name freshet_settings.value`)

// CheckReferences checks that docs/security.md says of each column that holds an id what ends
// what it says, and names a case of this suite for it. columns are all columns of texts of a
// backend's tables, as "table.column"; path is where the document is.
func CheckReferences(t *testing.T, columns []string, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	_, section, found := strings.Cut(string(text), "### An id that is used again\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	told := map[string]bool{}
	tested := map[string]bool{}
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 4 || !strings.Contains(cells[0], "`") {
			continue
		}
		for i, name := range strings.Split(cells[0], "`") {
			if i%2 == 1 && strings.Contains(name, ".") {
				told[name] = true
			}
		}
		if name := strings.TrimSpace(cells[3]); name != "" {
			assert.Contains(t, reuses, name, "no such case: %s", line)
			tested[name] = true
		}
	}
	for _, column := range columns {
		assert.NotEqual(t, told[column], slices.Contains(noReferences, column), "%s: docs/security.md must say what ends what it refers to, or socialtest that it holds no id", column)
	}
	for column := range told {
		assert.Contains(t, columns, column, "docs/security.md tells of a column that is not there")
	}
	require.Greater(t, len(tested), 10)
}

// ReferencesOfBefore are statements that fill the tables of before there were incarnations:
// two posts to a circle, each with a like, of which one had been made again, as the circle
// had; and a post to a circle of which nothing is kept any more. seq begins a row of posts;
// none is an empty list.
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

// CheckReferencesOfBefore checks what [ReferencesOfBefore] has filled in, and ends it.
func CheckReferencesOfBefore(t *testing.T, s social.Store) {
	t.Helper()
	see := func(id string) social.Card {
		t.Helper()
		list, err := s.Cards(t.Context(), "m", []social.Known{{ID: id}})
		require.NoError(t, err)
		return list[0]
	}
	require.NoError(t, s.PutCircle(t.Context(), social.Circle{ID: "c3", Owner: "a"}, []string{"m"}, here))
	require.False(t, see("post:3").Visible, "it was addressed to a circle that was dropped")
	// What ended before, and is told now, ends nothing that there is.
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
		require.NoError(t, s.PutCircle(t.Context(), circle, []string{"m"}, here))
		require.False(t, see(id).Visible, id)
		require.NoError(t, s.DeletePost(t.Context(), id, "a", here))
		again := social.Post{ID: id, Author: "a", CreatedAt: 1600000000, Caption: "y", Audience: public()}
		_, _, err := s.CreatePost(t.Context(), again, social.Creation{At: time.Now()})
		require.NoError(t, err)
		require.False(t, see(id).HasLiked, id)
		require.Zero(t, see(id).Likes, id)
	}
}
