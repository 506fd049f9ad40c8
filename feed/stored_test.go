package feed_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
)

func TestStoredFeeds(t *testing.T) {
	t.Parallel()
	live := feed.Live{Ranking: feed.DefaultRanking()}
	for _, name := range []feed.Name{"b", "a", "c", "a"} {
		live.Feeds = live.WithFeed(feed.StoredFeed{Name: name, Filter: feed.Filter{Any: feed.Conditions{Tags: []string{"go", string(name)}}}, Ranking: json.RawMessage(`{"base":0.3}`)})
		require.NoError(t, live.Validate())
	}
	require.Len(t, live.Feeds, 3)
	f, ok := live.Feed("a")
	require.True(t, ok)
	own, err := f.Ranked(live.Ranking)
	require.NoError(t, err)
	assert.InDelta(t, 0.3, own.Base, 0)
	assert.Equal(t, live.Ranking.Decay, own.Decay)

	text, err := json.Marshal(live)
	require.NoError(t, err)
	assert.Contains(t, string(text), `{"name":"a","any":{"tags":["go","a"]},"ranking":{"base":0.3}}`)
	var read feed.Live
	require.NoError(t, json.Unmarshal(text, &read))
	assert.Equal(t, live, read)

	live.Feeds, err = live.WithoutFeed("b")
	require.NoError(t, err)
	require.Len(t, live.Feeds, 2)
	_, err = live.WithoutFeed("b")
	require.ErrorIs(t, err, feed.ErrNotFound)
	_, ok = live.Feed("b")
	assert.False(t, ok)
}

func TestStoredFeedRefused(t *testing.T) {
	t.Parallel()
	tags := func(n int) feed.Filter {
		var f feed.Filter
		for i := range n {
			f.All.Tags = append(f.All.Tags, fmt.Sprint("t", i))
		}
		return f
	}
	all := func(c feed.Conditions) feed.Filter { return feed.Filter{All: c} }
	for says, f := range map[string]feed.StoredFeed{
		"has another meaning":            {Name: "home", Filter: tags(1)},
		"it has no conditions":           {Name: "x"},
		"it has 101 conditions":          {Name: "x", Filter: tags(101)},
		`"", of all, is no tag`:          {Name: "x", Filter: all(feed.Conditions{Tags: []string{""}})},
		"is no site":                     {Name: "x", Filter: all(feed.Conditions{Sites: []string{"https://example.org/"}})},
		"is no word":                     {Name: "x", Filter: all(feed.Conditions{Words: []string{"!!"}})},
		"is no language":                 {Name: "x", Filter: all(feed.Conditions{Langs: []string{" "}})},
		"at most 1000 readers":           {Name: "x", Filter: tags(1), Readers: make([]string, 1001)},
		"readers: bad id":                {Name: "x", Filter: tags(1), Readers: []string{"a b"}},
		"unknown field":                  {Name: "x", Filter: tags(1), Ranking: json.RawMessage(`{"scale":"72h"}`)},
		"feed x: bad ranking parameters": {Name: "x", Filter: tags(1), Ranking: json.RawMessage(`{"base":-1}`)},
	} {
		err := f.Validate(feed.DefaultRanking())
		require.ErrorIs(t, err, feed.ErrInvalid, says)
		assert.ErrorContains(t, err, says)
	}
	for _, site := range []string{"www.example.org", "Example.org", "a/b", "a:80"} {
		f := feed.StoredFeed{Name: "x", Filter: all(feed.Conditions{Sites: []string{site}})}
		assert.ErrorContains(t, f.Validate(feed.DefaultRanking()), "is no site", site)
	}
	live := feed.Live{Ranking: feed.DefaultRanking(), Feeds: []feed.StoredFeed{{Name: "b", Filter: tags(1)}, {Name: "a", Filter: tags(1)}}}
	require.ErrorContains(t, live.Validate(), "not in the order of their names")
	live.Feeds = nil
	for i := range feed.MaxStoredFeeds {
		live.Feeds = append(live.Feeds, feed.StoredFeed{Name: feed.Name(fmt.Sprintf("f%03d", i)), Filter: tags(1)})
	}
	require.NoError(t, live.Validate())
	live.Feeds = append(live.Feeds, feed.StoredFeed{Name: "g", Filter: tags(1)})
	require.ErrorContains(t, live.Validate(), "at most 200 can be stored, not 201")
	live.Feeds = live.Feeds[:9]
	for i := range live.Feeds {
		live.Feeds[i].Readers = slices.Repeat([]string{strings.Repeat("r", 128)}, 1000)
	}
	require.ErrorContains(t, live.Validate(), "together they may have at most 1048576 bytes")
	live.Feeds = live.Feeds[:7]
	require.NoError(t, live.Validate())
}
