package app

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// TestNeverEmpty checks that a reader who has seen all items gets those shown longest ago again,
// marked, and of posts only those they may still see.
func TestNeverEmpty(t *testing.T) {
	t.Parallel()
	cfg := embedded(t)
	cfg.Dedup.WhenExhausted = configs.ExhaustedOldest
	clock := at(noon)
	a := open(t, cfg, WithClock(clock.Now))
	for i, id := range []string{"a", "b"} {
		put(t, a, feed.Item{ID: id, Title: "About " + id, UpdateTime: noon.Add(-time.Duration(i+1) * time.Hour).Unix()})
	}
	for id, author := range map[string]string{"post:1": "ann", "post:2": "bob"} {
		_, _, err := a.network.fanout.Store().CreatePost(t.Context(),
			social.Post{ID: id, Author: author, Caption: "By " + author, Audience: social.Audience{Public: true}}, social.Creation{})
		require.NoError(t, err)
	}
	settled(t, a)

	s := &againSystem{keptSystem{t, a}, clock}
	s.wants(`{"action":"refresh","limit":3}`, []string{"a", "post:1", "post:2"}, nil, true)
	s.nextDay("a", "post:1", "post:2")
	_, err := a.network.fanout.Store().Block(t.Context(), "bob", "u_1")
	require.NoError(t, err)
	s.wants(`{"action":"refresh","limit":3}`, []string{"b"}, []string{"a", "post:1"}, false)
}

type againSystem struct {
	keptSystem
	clock *clock
}

// nextDay waits until the items given to u_1 are in a filter, ends their grace period, and advances
// the clock by a day.
func (s *againSystem) nextDay(given ...string) {
	s.Helper()
	recorded(s.T, s.a)
	batch := make([]dedup.Impression, len(given))
	for i, id := range given {
		batch[i] = dedup.Impression{Agent: "u_1", Group: id}
	}
	require.NoError(s, s.a.stores.dedup.Settle(s.Context(), batch))
	s.clock.Advance(24 * time.Hour)
}

// wants requests a page, which must have the unseen items followed by the shown ones.
func (s *againSystem) wants(body string, unseen, shown []string, more bool) {
	s.Helper()
	answer := s.call("u_1", "POST", "/v1/feed", body)
	require.Equal(s, 200, answer.status, answer.body)
	var page struct{ Data client.Page }
	require.NoError(s, json.Unmarshal([]byte(answer.body), &page))
	var gotUnseen, gotShown []string
	for _, it := range page.Data.Items {
		in, err := client.InFeedOf(it)
		require.NoError(s, err)
		if in != nil && in.ShownBefore {
			gotShown = append(gotShown, it.ID)
			continue
		}
		require.Empty(s, gotShown, "what is unseen comes first")
		gotUnseen = append(gotUnseen, it.ID)
	}
	require.ElementsMatch(s, unseen, gotUnseen, "%s: %s", body, answer.body)
	require.ElementsMatch(s, shown, gotShown, "%s: %s", body, answer.body)
	require.Equal(s, more, page.Data.HasMore, body)
	require.Empty(s, page.Data.Degraded)
	if page.Data.NewCount != nil {
		require.Zero(s, *page.Data.NewCount)
	}
}
