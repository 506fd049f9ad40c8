package demo_test

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/server/demo"
)

var now = time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)

func TestGenerate(t *testing.T) {
	items := demo.Generate(7, 5000, now)
	require.Len(t, items, 5000)
	ids, titles, groups := map[string]bool{}, map[string]bool{}, map[string]int{}
	tags, langs, authors := map[string]int{}, map[string]int{}, map[string]bool{}
	sites, again := map[string]int{}, map[string]int{}
	var lastDay, recent, mostLikes int64
	for i, it := range items {
		require.NoError(t, it.Validate())
		require.NotRegexp(t, `[{}]|  |^\s|\s$`, it.Title+it.Summary, "every placeholder is filled")
		first, _ := utf8.DecodeRuneInString(it.Title)
		require.False(t, unicode.IsLower(first), it.Title)
		require.NotEmpty(t, it.Summary)
		site := it.Traits().Site
		require.True(t, strings.HasSuffix(site, ".example"), it.URL)
		sites[site]++
		if it.GroupID == "" {
			story := strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(it.Title, "Report: "), " (updated)"), ", in pictures")
			again[story]++
		}
		require.True(t, strings.HasPrefix(it.ImageURL, "https://example.com/"), it.ImageURL)
		require.NotEmpty(t, it.AuthorID)
		require.NotEmpty(t, it.Tags)
		require.Len(t, it.Tags, len(slices.Compact(slices.Sorted(slices.Values(it.Tags)))), "tags of %q are distinct", it.Title)
		age := now.Unix() - it.UpdateTime
		require.True(t, age >= 0 && age <= 14*86400)
		if i > 0 {
			require.LessOrEqual(t, items[i-1].UpdateTime, it.UpdateTime, "oldest first")
		}
		if age < 86400 {
			recent++
		} else if age >= 13*86400 {
			lastDay++
		}
		ids[it.ID], titles[it.Title], authors[it.AuthorID] = true, true, true
		langs[it.Lang]++
		for _, tag := range it.Tags {
			tags[tag]++
		}
		if it.GroupID != "" {
			groups[it.GroupID]++
		}
		mostLikes = max(mostLikes, it.Likes)
	}
	require.Len(t, ids, 5000)
	require.Greater(t, len(titles), 4700, "few titles come twice")
	twice := 0
	for _, n := range again {
		if n > 1 {
			twice++
		}
	}
	require.Greater(t, twice, 100, "some stories are told twice, without a group")
	require.Less(t, twice, 500)
	require.Greater(t, len(sites), 30)
	counts := slices.Sorted(maps.Values(sites))
	slices.Reverse(counts)
	require.Greater(t, counts[0], 250, "some sites have much")
	require.Less(t, counts[0], 1000, "and none has everything")
	require.GreaterOrEqual(t, len(tags), 40)
	for tag, n := range tags {
		require.Greater(t, n, 10, "tag %s", tag)
	}
	require.Greater(t, langs["en"], 4000)
	require.Greater(t, len(langs), 4)
	require.Greater(t, len(authors), 40)
	require.Greater(t, len(groups), 30)
	require.Greater(t, recent, 5*lastDay, "denser towards now")
	require.Greater(t, mostLikes, int64(500), "a few items are very popular")
	require.Greater(t, slices.Max(slices.Collect(maps.Values(groups))), 2)
}

func TestGenerateDeterministic(t *testing.T) {
	require.Equal(t, demo.Generate(1, 300, now), demo.Generate(1, 300, now))
	require.NotEqual(t, demo.Generate(1, 300, now), demo.Generate(2, 300, now))
	require.Empty(t, demo.Generate(1, 0, now))
}

func TestNext(t *testing.T) {
	require.Equal(t, demo.Next(1, 5, now), demo.Next(1, 5, now))
	require.NotEqual(t, demo.Next(1, 5, now).Title, demo.Next(2, 5, now).Title)
	ids := map[string]bool{}
	for i := range uint64(200) {
		it := demo.Next(1, i, now)
		require.NoError(t, it.Validate())
		require.Equal(t, now.Unix(), it.UpdateTime)
		ids[it.ID] = true
	}
	require.Len(t, ids, 200)
}

func TestProfilesMatchCatalog(t *testing.T) {
	known := map[string]bool{}
	text := strings.Builder{}
	for _, it := range demo.Generate(1, 5000, now) {
		for _, tag := range it.Tags {
			known[tag] = true
		}
		known[it.AuthorID], known[it.Lang] = true, true
		text.WriteString(strings.ToLower(it.Title + " " + it.Summary + "\n"))
	}
	profiles := demo.Profiles()
	require.Len(t, profiles, 8)
	for agent, p := range profiles {
		require.NoError(t, feed.CheckAgentID(agent))
		require.NoError(t, p.Validate())
		for _, name := range slices.Concat(slices.Collect(maps.Keys(p.Interests)), p.MutedTags, p.MutedAuthors, p.Langs) {
			require.True(t, known[name], "%s of %s is in the catalog", name, agent)
		}
		for _, k := range p.Keywords {
			require.Contains(t, text.String(), k.Term, "a keyword of %s", agent)
		}
	}
}

// putting is a catalog that passes items to a function.
type putting struct {
	catalog.Writer
	put func([]feed.Item) error
}

func (p putting) Put(_ context.Context, items []feed.Item) ([]error, error) { return nil, p.put(items) }

func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		begun := time.Now()
		var got []feed.Item
		put := func(items []feed.Item) error {
			got = append(got, items...)
			if len(got) == 2 {
				return errors.New("the catalog is busy")
			}
			if len(got) == 4 {
				cancel()
			}
			return nil
		}
		demo.Run(ctx, putting{put: put}, time.Minute, time.Now, slog.New(slog.DiscardHandler))
		require.Len(t, got, 4, "a failed put does not end it")
		for i, it := range got {
			require.Equal(t, begun.Add(time.Duration(i+1)*time.Minute).Unix(), it.UpdateTime)
			require.NotEqual(t, got[(i+1)%len(got)].ID, it.ID)
		}
	})
}
