package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/graph"
)

func postLine(id, author string, at int, more string) string {
	return fmt.Sprintf(`{"type":"post.created","data":{"id":%q,"author":{"id":%q,"name":"The name of %s"},"created_at":%d,"caption":"x"%s}}`, id, author, author, at, more)
}

func replyLine(id, author string, at int, to string) string {
	return postLine(id, author, at, fmt.Sprintf(`,"reply_to":%q`, to))
}

// TestReadThread imports long threads at once, in batches of any size, and again: each reply finds the
// post before it.
func TestReadThread(t *testing.T) {
	t.Parallel()
	const threads, each = 5, 20
	var lines []string
	for i := range threads {
		lines = append(lines, postLine(fmt.Sprintf("post:%d", i), "a", 1, ""))
	}
	for n := range each {
		for i := range threads {
			parent := fmt.Sprintf("post:%d", i)
			if n%4 > 0 {
				parent = fmt.Sprintf("post:%d-%d", i, n-1)
			}
			lines = append(lines, replyLine(fmt.Sprintf("post:%d-%d", i, n), fmt.Sprint("u_", n), 2+n, parent))
		}
	}
	for _, batch := range []int{1, 7, 1000} {
		s := openStore(t)
		for range 2 {
			report, err := read(t, s, graph.Config{Batch: batch}, strings.Join(lines, "\n"))
			require.NoError(t, err)
			require.Equal(t, api.Upload{Accepted: len(lines), Errors: []api.Rejection{}}, report)
			for i := range threads {
				root := fmt.Sprintf("post:%d", i)
				require.Equal(t, int64(each), postOf(t, s, root).Comments)
				got, err := s.Replies(t.Context(), social.RepliesQuery{Post: root, N: 100, Oldest: true})
				require.NoError(t, err)
				require.Len(t, got, each)
				for n, reply := range got {
					require.Equal(t, fmt.Sprintf("post:%d-%d", i, n), reply.ID)
				}
			}
		}
	}
}

// TestReadRefusesReplies: a reply that cannot be is told with its line, and nothing of it is stored.
func TestReadRefusesReplies(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	lines := []string{
		postLine("post:1", "a", 1, ""),
		postLine("post:none", "a", 1, `,"reply":"none"`),
		replyLine("post:2", "early", 3, "post:3"),
		replyLine("post:3", "b", 2, "post:1"),
		replyLine("post:4", "orphan", 2, "post:unknown"),
		replyLine("post:5", "refused", 2, "post:none"),
		replyLine("post:6", "own", 2, "post:6"),
	}
	report, err := read(t, s, graph.Config{}, strings.Join(lines, "\n"))
	require.NoError(t, err)
	require.Equal(t, api.Upload{Accepted: 3, Rejected: 4, Errors: []api.Rejection{
		{Line: 3, ID: "post:2", Reason: "reply_to: there is no post post:3 that early may see; report it before its replies"},
		{Line: 5, ID: "post:4", Reason: "reply_to: there is no post post:unknown that orphan may see; report it before its replies"},
		{Line: 6, ID: "post:5", Reason: "refused may not reply to post:none: nobody may"},
		{Line: 7, ID: "post:6", Reason: "reply_to: there is no post post:6 that own may see; report it before its replies"},
	}}, report)
	for _, id := range []string{"post:2", "post:4", "post:5", "post:6"} {
		require.Empty(t, postOf(t, s, id).Author)
	}
	for _, author := range []string{"early", "orphan", "refused", "own"} {
		_, err := s.Author(t.Context(), "", author)
		require.ErrorIs(t, err, feed.ErrNotFound, author)
	}
	for more, says := range map[string]string{
		`"reply_to":""`:                              "reply_to is empty",
		`"reply_to":"x"`:                             "reply_to",
		`"reply_to":"post:1","audience":{}`:          "omit audience and reply",
		`"reply_to":"post:1","reply":"none"`:         "omit audience and reply",
		`"reply_to":"post:1","origin":"example.org"`: "a post of another system cannot be a reply",
		`"reply_to":"post:1","grants":["u_1"]`:       "only a post of another system may carry grants",
	} {
		_, err := graph.Decode([]byte(postLine("post:7", "b", 2, ","+more)))
		require.ErrorContains(t, err, says, more)
	}
}
