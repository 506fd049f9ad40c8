package catalogtest

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
)

// mutedItems checks which calls add, preserve, replace and clear the muted items.
func mutedItems(t *testing.T, c catalog.Catalog) {
	ctx := t.Context()
	const agent = "u_muted"
	require.NoError(t, c.MuteItems(ctx, agent, []string{"a:b/c", "story"}))
	requireProfile(t, c, agent, feed.Profile{MutedItems: []string{"a:b/c", "story"}})
	require.NoError(t, c.MuteItems(ctx, agent, []string{"story"}))
	requireProfile(t, c, agent, feed.Profile{MutedItems: []string{"a:b/c", "story"}})

	p := feed.Profile{Interests: map[string]float64{"go": exactWeight}, MutedTags: []string{"ads"}}
	require.NoError(t, PutProfile(ctx, c, agent, p))
	p.MutedItems = []string{"a:b/c", "story"}
	requireProfile(t, c, agent, p)
	_, hydrated, err := c.Hydrate(ctx, agent, nil)
	require.NoError(t, err)
	require.Equal(t, p, hydrated)

	require.NoError(t, c.MuteItems(ctx, agent, []string{"third"}))
	p.MutedItems = append(p.MutedItems, "third")
	requireProfile(t, c, agent, p)

	p.MutedItems = []string{"other"}
	require.NoError(t, PutProfile(ctx, c, agent, p))
	requireProfile(t, c, agent, p)
	p.MutedItems = []string{}
	require.NoError(t, PutProfile(ctx, c, agent, p))
	got, err := c.Profile(ctx, agent)
	require.NoError(t, err)
	require.Empty(t, got.MutedItems, "an empty list takes them away")
	require.Equal(t, p.Interests, got.Interests)

	many := make([]string, feed.MaxMutedItems)
	for i := range many {
		many[i] = fmt.Sprintf("item-%d", i)
	}
	require.NoError(t, c.MuteItems(ctx, agent, many))
	require.ErrorIs(t, c.MuteItems(ctx, agent, []string{many[0], "one"}), feed.ErrLimit)
	require.NoError(t, c.MuteItems(ctx, agent, many[5:7]), "they are there")
	got, err = c.Profile(ctx, agent)
	require.NoError(t, err)
	require.Equal(t, many, got.MutedItems, "none gives way")
	_, err = c.EditProfile(ctx, agent, func(p *feed.Profile) (bool, error) {
		p.MutedItems = p.MutedItems[1:]
		return true, nil
	})
	require.NoError(t, err)
	require.NoError(t, c.MuteItems(ctx, agent, []string{"one"}), "there is room again")
	require.ErrorIs(t, c.MuteItems(ctx, "u_muted_none", append(many, "one")), feed.ErrLimit)
	requireNoProfile(t, c, "u_muted_none")

	require.NoError(t, c.RemoveProfile(ctx, agent))
	requireNoProfile(t, c, agent)
	require.NoError(t, PutProfile(ctx, c, agent, feed.Profile{}))
	requireProfile(t, c, agent, feed.Profile{})
}

// mutedAtOnce checks that concurrent writers do not undo each other's changes.
func mutedAtOnce(t *testing.T, c catalog.Catalog) {
	ctx := t.Context()
	const agent, writers, each = "u_muted_at_once", 4, 6
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range each {
				assert.NoError(t, c.MuteItems(ctx, agent, []string{fmt.Sprintf("item-%d-%d", w, i)}))
			}
		})
	}
	all.Go(func() {
		for i := range each {
			assert.NoError(t, PutProfile(ctx, c, agent, feed.Profile{Interests: map[string]float64{"go": float64(i + 1)}}))
		}
	})
	all.Wait()
	got, err := c.Profile(ctx, agent)
	require.NoError(t, err)
	require.Len(t, got.MutedItems, writers*each)
	require.Equal(t, map[string]float64{"go": each}, got.Interests)
	for w := range writers {
		for i := range each {
			require.Contains(t, got.MutedItems, fmt.Sprintf("item-%d-%d", w, i))
		}
	}
}
