package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/social"
)

// TestHomeMentions checks that a refresh of home has few posts that only mention the reader, two of
// one author and five in all if it has few others, and that later refreshes have the rest: what the
// reader has seen does not count again.
func TestHomeMentions(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		strangers int
		rounds    []int
	}{
		"one author":   {1, []int{2, 2, 2, 1}},
		"many authors": {7, []int{5, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := homeOf(t, nil, nil)
			h.are[feed.SourceDiscovery] = emptySource
			for i := range 7 {
				p, _, err := h.net.Store.CreatePost(t.Context(), social.Post{
					ID: fmt.Sprint("post:m", i), Author: fmt.Sprint("stranger", i%tt.strangers), Caption: fmt.Sprint("Look here ", i),
					CreatedAt: rankedAt.Add(-time.Duration(i+1) * time.Second).Unix(), Audience: toAll, Mentions: []string{"u_1"},
				}, social.Creation{At: rankedAt})
				require.NoError(t, err)
				h.net.Push(h.net.Lists, "u_1", p.Post)
			}
			x, err := h.rig.Explain(t.Context(), engine.ExplainRequest{Agent: "u_1", Limit: 20, Feed: feed.HomeFeed, Item: "post:m6"})
			require.NoError(t, err)
			assert.Equal(t, api.OutcomeOutside, x.Item.Outcome)
			assert.Contains(t, x.Item.Reason, "it only mentions the agent")
			shown := map[string]bool{}
			for _, want := range tt.rounds {
				count := 0
				page, err := h.ask(engine.ActionRefresh, 50)
				require.NoError(t, err)
				for _, id := range docIDs(page) {
					assert.False(t, shown[id], id)
					shown[id] = true
					if strings.HasPrefix(id, "post:m") {
						count++
					}
				}
				assert.Equal(t, want, count)
			}
			assert.Len(t, shown, 47)
		})
	}
}
