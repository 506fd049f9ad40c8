package catalogtest

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
)

// exactWeight needs all 17 digits of a float64.
const exactWeight = 0.1 + 1.0/3*math.Pi

func requireProfile(t *testing.T, c catalog.Profiles, agent string, want feed.Profile) {
	t.Helper()
	got, err := c.Profile(t.Context(), agent)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func requireNoProfile(t *testing.T, c catalog.Profiles, agent string) {
	t.Helper()
	got, err := c.Profile(t.Context(), agent)
	require.ErrorIs(t, err, feed.ErrNotFound)
	require.Equal(t, feed.Profile{}, got)
}

func profiles(t *testing.T, c catalog.Catalog) {
	ctx := t.Context()
	for _, agent := range []string{"u_1", "..", ".", "_", "Ann.B@example-1.com", strings.Repeat("u", feed.MaxAgentID)} {
		require.NoError(t, feed.CheckAgentID(agent))
		requireNoProfile(t, c, agent)
		require.ErrorIs(t, c.RemoveProfile(ctx, agent), feed.ErrNotFound)

		first := feed.Profile{Interests: map[string]float64{"go": 2, "c++": 0.5}, Keywords: feed.Keywords("raft"), Langs: []string{"en"}}
		require.NoError(t, PutProfile(ctx, c, agent, first))
		requireProfile(t, c, agent, first)
		requireProfile(t, c, agent, first)

		end := time.Date(2026, 3, 6, 12, 0, 0, 500_000_000, time.UTC)
		second := feed.Profile{
			MutedAuthors: []string{"spam"}, MutedTags: []string{"ads", "日本"}, MutedWords: []feed.MutedWord{{Term: "Star Wars"}, {Term: "猫", Until: end}},
			MutedUntil: feed.MuteEnds{Authors: map[string]time.Time{"spam": end}, Tags: map[string]time.Time{"日本": end}},
		}
		require.NoError(t, PutProfile(ctx, c, agent, second))
		requireProfile(t, c, agent, second)

		require.NoError(t, c.RemoveProfile(ctx, agent))
		requireNoProfile(t, c, agent)
		requireNoProfile(t, c, agent)
		require.ErrorIs(t, c.RemoveProfile(ctx, agent), feed.ErrNotFound)

		require.NoError(t, PutProfile(ctx, c, agent, first))
		requireProfile(t, c, agent, first)
		require.NoError(t, c.RemoveProfile(ctx, agent))
	}

	require.NoError(t, PutProfile(ctx, c, "u_zero", feed.Profile{}))
	requireProfile(t, c, "u_zero", feed.Profile{})
	requireNoProfile(t, c, "U_ZERO")
}

func profileReplacedWhole(t *testing.T, c catalog.Catalog) {
	ctx := t.Context()
	require.NoError(t, PutProfile(ctx, c, "u_whole", feed.Profile{Interests: map[string]float64{"go": 1, "rust": 2}}))
	renewed := feed.Profile{Interests: map[string]float64{"rust": exactWeight, "a.b": 0, "a.b.c": feed.MaxInterestWeight}}
	require.NoError(t, PutProfile(ctx, c, "u_whole", renewed))
	requireProfile(t, c, "u_whole", renewed)
}

func largestProfile(t *testing.T, c catalog.Catalog) {
	ctx := t.Context()
	// Two agents whose interests share no tag. A store that creates a field per tag would run
	// out of fields.
	for _, agent := range []string{"u_large1", "u_large2"} {
		p := feed.Profile{Interests: map[string]float64{}}
		for i := range feed.MaxInterests {
			p.Interests[fmt.Sprintf("%s. tag %d %s", agent, i, strings.Repeat("é", 200))] = float64(i) / 3
		}
		for i := range feed.MaxMutes {
			p.MutedAuthors = append(p.MutedAuthors, fmt.Sprintf("author %d", i))
		}
		p.MutedUntil.Authors = map[string]time.Time{}
		for _, author := range p.MutedAuthors { // an index would have a field for each
			p.MutedUntil.Authors[author] = time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)
		}
		require.NoError(t, p.Validate())
		require.NoError(t, PutProfile(ctx, c, agent, p))
		requireProfile(t, c, agent, p)
	}
}

// manyProfiles reads many profiles in one call, twice, and again after writes.
func manyProfiles(t *testing.T, c catalog.Catalog) {
	ctx := t.Context()
	const some = 300
	agents, want := []string{"u_many_none"}, []feed.Profile{{}}
	for i := range some {
		p := feed.Profile{MutedTags: []string{fmt.Sprint("tag-", i)}}
		agents, want = append(agents, fmt.Sprint("u_many_", i)), append(want, p)
		require.NoError(t, PutProfile(ctx, c, agents[len(agents)-1], p))
	}
	require.NoError(t, PutProfile(ctx, c, "u_many_zero", feed.Profile{}))
	agents, want = append(agents, "u_many_zero", agents[1]), append(want, feed.Profile{}, want[1])
	for range 2 {
		got, err := c.ProfilesOf(ctx, agents)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	require.NoError(t, c.RemoveProfile(ctx, agents[2]))
	want[2], want[3] = feed.Profile{}, feed.Profile{MutedItems: []string{"x"}}
	require.NoError(t, PutProfile(ctx, c, agents[3], want[3]))
	got, err := c.ProfilesOf(ctx, agents)
	require.NoError(t, err)
	require.Equal(t, want, got)
	requireProfile(t, c, "u_many_zero", feed.Profile{})
	requireNoProfile(t, c, "u_many_none")
	got, err = c.ProfilesOf(ctx, nil)
	require.NoError(t, err)
	require.Empty(t, got)
}

// PutProfile replaces a profile with [feed.Profile.Replace].
func PutProfile(ctx context.Context, c catalog.Profiles, agent string, p feed.Profile) error {
	_, err := c.EditProfile(ctx, agent, func(stored *feed.Profile) (bool, error) {
		stored.Replace(p)
		return true, nil
	})
	return err
}
