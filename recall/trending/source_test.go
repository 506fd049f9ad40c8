package trending_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
	"github.com/freshet/freshet/recall/trending"
)

// fixed is a constant set.
type fixed struct {
	set   *trending.Set
	stale bool
}

func (f fixed) Set() (*trending.Set, bool) { return f.set, f.stale }

func hour(n int) int64 { return noon.Add(-time.Duration(n) * time.Hour).Unix() }

var five = trending.NewSet(noon.Unix(), []trending.Entry{
	{ID: "a", Group: "ga", UpdateTime: hour(1), Reactions: 40, Trend: 10, Author: "ann", Tags: []string{"go", "news"}, Site: "a.example", Story: []byte("ab")},
	{ID: "b", Group: "b", UpdateTime: hour(2), Reactions: 36, Trend: 4, Lang: "de"},
	{ID: "post:c", Group: "post:c", UpdateTime: hour(3), Reactions: 32, Trend: 2, Author: "cem"},
	{ID: "d", Group: "d", UpdateTime: hour(4), Reactions: 25, Trend: 1, Tags: []string{"x", "news"}, Lang: "en"},
	{ID: "e", Group: "e", UpdateTime: hour(0), Reactions: .5, Trend: .5},
})

func TestSource(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		query feed.Query
		want  []string
		next  string
	}{
		"all":          {feed.Query{N: 10}, []string{"a", "b", "post:c", "d", "e"}, ""},
		"as many":      {feed.Query{N: 5}, []string{"a", "b", "post:c", "d", "e"}, ""},
		"a page":       {feed.Query{N: 2}, []string{"a", "b"}, "2"},
		"the next":     {feed.Query{N: 2, After: "2"}, []string{"post:c", "d"}, "4"},
		"the last":     {feed.Query{N: 2, After: "4"}, []string{"e"}, ""},
		"behind it":    {feed.Query{N: 2, After: "9"}, nil, ""},
		"none":         {feed.Query{}, nil, ""},
		"author":       {feed.Query{N: 10, Profile: feed.Profile{MutedAuthors: []string{"cem"}}}, []string{"a", "b", "d", "e"}, ""},
		"second tag":   {feed.Query{N: 10, Profile: feed.Profile{MutedTags: []string{"news"}}}, []string{"b", "post:c", "e"}, ""},
		"group":        {feed.Query{N: 10, Profile: feed.Profile{MutedItems: []string{"ga"}}}, []string{"b", "post:c", "d", "e"}, ""},
		"id":           {feed.Query{N: 10, Profile: feed.Profile{MutedItems: []string{"a", "post:c"}}}, []string{"b", "d", "e"}, ""},
		"language":     {feed.Query{N: 10, Profile: feed.Profile{Langs: []string{"en"}}}, []string{"a", "post:c", "d", "e"}, ""},
		"muted ahead":  {feed.Query{N: 1, Profile: feed.Profile{MutedAuthors: []string{"ann"}}}, []string{"b"}, "2"},
		"muted behind": {feed.Query{N: 4, Profile: feed.Profile{MutedItems: []string{"e"}}}, []string{"a", "b", "post:c", "d"}, ""},
		"origin":       {feed.Query{N: 10, Origin: time.Unix(hour(2), 0)}, []string{"b", "post:c", "d"}, ""},
		"since":        {feed.Query{N: 10, Since: time.Unix(hour(2), 0)}, []string{"a", "e"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.query.Origin.IsZero() {
				c.query.Origin = noon
			}
			got, err := trending.NewSource(fixed{set: five}, nil).Propose(t.Context(), c.query)
			require.NoError(t, err)
			var ids []string
			for _, p := range got.Proposals {
				ids = append(ids, p.ID)
			}
			assert.Equal(t, c.want, ids)
			assert.Equal(t, c.next, got.Next)
		})
	}
}

func TestSourceProposals(t *testing.T) {
	t.Parallel()
	s := trending.NewSource(fixed{five, true}, nil)
	got, err := s.Propose(t.Context(), feed.Query{N: 1, Origin: noon})
	require.NoError(t, err)
	assert.Equal(t, recall.Proposals{Next: "1", Stale: true, Proposals: []recall.Proposal{{
		Candidate: feed.Candidate{
			ID: "a", Group: "ga", Source: trending.SourceName, UpdateTime: hour(1),
			Traits: feed.Traits{Author: "ann", Site: "a.example", Tag: "go", Story: "ab"},
		},
		Reactions: 40,
	}}}, got)
}

func TestSourceErrors(t *testing.T) {
	t.Parallel()
	_, err := trending.NewSource(fixed{}, nil).Propose(t.Context(), feed.Query{N: 1})
	require.ErrorIs(t, err, recall.ErrUnavailable)
	for _, cursor := range []string{"x", "-1", "0", "1.5", "01", " 1", "99999999999999999999"} {
		_, err := trending.NewSource(fixed{set: five}, nil).Propose(t.Context(), feed.Query{N: 1, After: cursor})
		require.ErrorIs(t, err, recall.ErrBadCursor, cursor)
	}
}

func TestTrends(t *testing.T) {
	t.Parallel()
	s := trending.NewSource(fixed{set: five}, nil)
	assert.Equal(t, []feed.Trend{0, 4, 10, 0, 10}, s.Trends([]string{"post:c", "b", "a", "no such item", "a"}), "2 and less have no mark")
	assert.Equal(t, []feed.Trend{0}, trending.NewSource(fixed{}, nil).Trends([]string{"a"}), "no set is known")
}
