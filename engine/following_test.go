package engine_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// posted creates n posts of an author whom the reader follows, one second apart, the newest of the
// given age.
func (h *homeRig) posted(author string, n int, age time.Duration) {
	h.Helper()
	h.net.Follow("reader", author)
	for i := range n {
		_, _, err := h.net.Store.CreatePost(h.Context(), social.Post{
			ID: fmt.Sprintf("post:%s-%d", author, i), Author: author, Caption: fmt.Sprintf("%s says alpha%d beta%d gamma%d", author, i, i, i),
			CreatedAt: rankedAt.Add(-age - time.Duration(i)*time.Second).Unix(), Audience: toAll,
		}, social.Creation{At: rankedAt})
		require.NoError(h, err)
	}
}

// Following continues to read when a few authors dominate a round, so that an author with few and
// older posts is on the first page. No post of the dominating authors is lost. It reads no further
// when that would change little.
func TestFollowingBusyAuthor(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		busy  map[int]int // number of posts → number of authors with that many
		reads int
		fails int
		late  bool // the quiet author is not on the first page
	}{
		"as many as a round":         {busy: map[int]int{190: 1}, reads: 1},
		"somewhat more":              {busy: map[int]int{210: 1}, reads: 2},
		"twice as many":              {busy: map[int]int{400: 1}, reads: 3},
		"nearly three times as many": {busy: map[int]int{590: 1}, reads: 3},
		"more than is read":          {busy: map[int]int{620: 1}, reads: 3, late: true},
		"two busy ones":              {busy: map[int]int{150: 2}, reads: 2},
		"five busy ones":             {busy: map[int]int{50: 5}, reads: 2},
		"a busy one among others":    {busy: map[int]int{130: 1, 5: 20}, reads: 2},
		"many who have little":       {busy: map[int]int{3: 70}, reads: 1, late: true},
		"eleven who have twenty":     {busy: map[int]int{20: 11}, reads: 1, late: true},
		"what is read on fails":      {busy: map[int]int{210: 1}, reads: 2, fails: 2, late: true},
		"nobody is busy":             {reads: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, func(_ *engine.Stores, cfg *engine.Config) { cfg.Rankings = &feed.Live{Ranking: feed.DefaultRanking()} })
			want := map[string]bool{}
			for n, authors := range test.busy {
				for i := range authors {
					author := fmt.Sprintf("busy%d-%d", n, i)
					h.posted(author, n, 18*time.Minute+time.Duration(i)*time.Second)
					for k := range n {
						want[fmt.Sprintf("post:%s-%d", author, k)] = true
					}
				}
			}
			h.posted("quiet", 10, 83*time.Minute)
			for k := range 10 {
				want[fmt.Sprint("post:quiet-", k)] = true
			}
			h.truths, h.fails = 0, test.fails
			ask := func(action engine.Action, limit int) []string {
				page, err := h.engine.Feed(t.Context(), engine.Request{Agent: "reader", Feed: feed.HomeFeed, Action: action, Limit: limit})
				require.NoError(t, err)
				require.Nil(t, page.Degraded)
				return docIDs(page)
			}
			page := ask(engine.ActionRefresh, 20)
			assert.Equal(t, test.reads, h.truths)
			assert.Equal(t, test.late, !slices.Contains(page, "post:quiet-0"))
			for ; len(page) > 0; page = ask(engine.ActionLoadMore, 100) {
				for _, id := range page {
					delete(want, id)
				}
			}
			assert.Empty(t, want, "all of it is reached")
		})
	}
}
