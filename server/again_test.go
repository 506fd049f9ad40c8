package server

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// TestNeverEmpty checks that the configuration lets items be shown again, and that of posts these
// are only those that the reader may still see.
func TestNeverEmpty(t *testing.T) {
	t.Parallel()
	cfg := embedded(t)
	cfg.Dedup.WhenExhausted = configs.ExhaustedOldest
	clock := at(noon)
	a := open(t, cfg, WithClock(clock.Now))
	put(t, a, feed.Item{ID: "a", Title: "About a", UpdateTime: noon.Unix() - 3600})
	store := a.network.fanout.Store()
	for id, author := range map[string]string{"post:1": "ann", "post:2": "bob"} {
		_, _, err := store.CreatePost(t.Context(), social.Post{ID: id, Author: author, Caption: "By " + author, Audience: social.Audience{Public: true}}, social.Creation{})
		require.NoError(t, err)
	}
	settled(t, a)
	shown := ids(ask(t, a, refresh("u_1", 3)))
	require.ElementsMatch(t, []string{"a", "post:1", "post:2"}, shown)
	recorded(t, a)
	batch := make([]dedup.Impression, len(shown))
	for i, id := range shown {
		batch[i] = dedup.Impression{Agent: "u_1", Group: id}
	}
	require.NoError(t, a.stores.dedup.ClearPending(t.Context(), batch))
	clock.Advance(24 * time.Hour)
	_, err := store.Block(t.Context(), "bob", "u_1")
	require.NoError(t, err)
	again := ask(t, a, refresh("u_1", 3))
	require.ElementsMatch(t, []string{"a", "post:1"}, ids(again))
	require.True(t, again.Refs[0].ShownBefore && again.Refs[1].ShownBefore)
}
