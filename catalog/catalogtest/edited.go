package catalogtest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
)

// edited checks the input of a profile change and the effect of each result.
func edited(t *testing.T, c catalog.Catalog) {
	ctx := t.Context()
	const agent = "u_edited"
	refused := errors.New("refused")
	for name, tt := range map[string]struct {
		changed bool
		err     error
	}{"nothing changed": {}, "refused": {true, refused}, "another version": {true, fmt.Errorf("%w: other", feed.ErrChanged)}} {
		got, err := c.EditProfile(ctx, agent, func(p *feed.Profile) (bool, error) {
			assert.Equal(t, feed.Profile{Learned: feed.Learned{Alone: true}}, *p, name)
			p.Langs = []string{"en"}
			return tt.changed, tt.err
		})
		require.ErrorIs(t, err, tt.err, name)
		require.Empty(t, got.Langs, name)
		requireNoProfile(t, c, agent)
	}
	want := feed.Profile{Interests: map[string]float64{"go": exactWeight}, MutedItems: []string{"x"}}
	got, err := c.EditProfile(ctx, agent, func(p *feed.Profile) (bool, error) { *p = want; return true, nil })
	require.NoError(t, err)
	require.Equal(t, want, got)
	requireProfile(t, c, agent, want)

	require.NoError(t, c.Learn(ctx, agent, click("story", "go", 1)))
	learned, err := c.Profile(ctx, agent)
	require.NoError(t, err)
	require.NotEmpty(t, learned.Learned.Features)
	got, err = c.EditProfile(ctx, agent, func(p *feed.Profile) (bool, error) {
		assert.False(t, p.Learned.Alone)
		*p = feed.Profile{MutedTags: []string{"ads"}}
		return true, nil
	})
	require.NoError(t, err)
	want = feed.Profile{MutedTags: []string{"ads"}, Learned: learned.Learned}
	require.Equal(t, want, got, "muted items go where the change has none; what was learned stays")
	requireProfile(t, c, agent, want)
	_, err = c.EditProfile(ctx, agent, func(p *feed.Profile) (bool, error) { p.MutedTags = nil; return true, refused })
	require.ErrorIs(t, err, refused)
	requireProfile(t, c, agent, want)

	require.NoError(t, c.RemoveProfile(ctx, agent))
	got, err = c.EditProfile(ctx, agent, func(p *feed.Profile) (bool, error) {
		assert.Equal(t, feed.Profile{Learned: feed.Learned{Alone: true}}, *p, "none is declared, although something was learned")
		return true, nil
	})
	require.NoError(t, err)
	require.Equal(t, feed.Profile{Learned: learned.Learned}, got)
}

// editedAtOnce checks that concurrent edits are all applied, and that of several conditional
// edits only the first succeeds.
func editedAtOnce(t *testing.T, c catalog.Catalog) {
	ctx := t.Context()
	const agent, devices, each = "u_edited_at_once", 4, 6
	var all sync.WaitGroup
	for d := range devices {
		all.Go(func() {
			for i := range each {
				author := fmt.Sprintf("author-%d-%d", d, i)
				_, err := c.EditProfile(ctx, agent, func(p *feed.Profile) (bool, error) {
					p.MutedAuthors = append(slices.Clip(p.MutedAuthors), author)
					return true, nil
				})
				assert.NoError(t, err)
				assert.NoError(t, c.MuteItems(ctx, agent, []string{author}))
			}
		})
	}
	all.Wait()
	got, err := c.Profile(ctx, agent)
	require.NoError(t, err)
	require.Len(t, got.MutedAuthors, devices*each)
	require.ElementsMatch(t, got.MutedAuthors, got.MutedItems)

	written := make([]bool, devices)
	for d := range devices {
		all.Go(func() {
			_, err := c.EditProfile(ctx, agent, func(p *feed.Profile) (bool, error) {
				if len(p.Langs) > 0 {
					return false, feed.ErrChanged
				}
				p.Langs = []string{fmt.Sprint("l", d)}
				return true, nil
			})
			written[d] = err == nil
			if err != nil {
				assert.ErrorIs(t, err, feed.ErrChanged)
			}
		})
	}
	all.Wait()
	got, err = c.Profile(ctx, agent)
	require.NoError(t, err)
	first := slices.Index(written, true)
	require.GreaterOrEqual(t, first, 0)
	require.False(t, slices.Contains(written[first+1:], true))
	require.Equal(t, []string{fmt.Sprint("l", first)}, got.Langs)
}
