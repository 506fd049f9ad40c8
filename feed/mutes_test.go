package feed_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
)

func TestMutedWords(t *testing.T) {
	t.Parallel()
	p := feed.Profile{MutedWords: []feed.MutedWord{{Term: "Spoiler"}, {Term: "star wars"}, {Term: "C++"}, {Term: "vitamin d"}, {Term: "猫"}, {Term: "Straße"}}}
	require.NoError(t, p.Validate())
	require.True(t, p.HasMutes())
	require.True(t, p.Refusals().Selective())
	for _, tc := range []struct {
		name, title, summary string
		tags                 []string
		want                 string
	}{
		{name: "nothing"},
		{name: "a title", title: "A SPOILER, sorry", want: "Spoiler"},
		{name: "a summary", title: "News", summary: "No\nspoiler!", want: "Spoiler"},
		{name: "other words", title: "Spoilers spoil; wars of a star; star, then wars", summary: "C or c#", tags: []string{"wars", "star"}},
		{name: "a phrase", title: "Why Star Wars", want: "star wars"},
		{name: "a phrase over two texts", title: "A star", summary: "wars"},
		{name: "a name with signs", title: "Learn c++17", want: "C++"},
		{name: "a joined word", title: "x", summary: "see season_2_spoiler.html", want: "Spoiler"},
		{name: "a one-letter part", title: "Vitamin-D for all", want: "vitamin d"},
		{name: "a character of a text without spaces", title: "熊猫", want: "猫"},
		{name: "a tag", tags: []string{"x", "ＳＰＯＩＬＥＲ"}, want: "Spoiler"},
		{name: "a word of a tag", tags: []string{"new-star wars"}, want: "star wars"},
		{name: "a tag that folds to the word", tags: []string{"STRASSE"}, want: "Straße"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			term, muted := p.Refusals().Word(tc.title, tc.summary, tc.tags)
			assert.Equal(t, tc.want, term)
			assert.Equal(t, tc.want != "", muted)
			assert.Equal(t, muted, p.Refuses(&feed.Item{ID: "a", Title: tc.title, Summary: tc.summary, Tags: tc.tags}))
		})
	}
	assert.False(t, p.SameMutes(feed.Profile{}))
	assert.True(t, feed.Profile{MutedWords: []feed.MutedWord{{Term: "a b"}}}.SameMutes(feed.Profile{MutedWords: []feed.MutedWord{{Term: "A, B!"}}}))
}

func TestMutedWordsParsed(t *testing.T) {
	t.Parallel()
	text := `{"muted_authors":["ann"],"muted_words":[{"term":"spoiler"},{"term":"war","until":"2026-03-06T11:00:00.5Z"}],"muted_until":{"authors":{"ann":"2026-03-07T00:00:00Z"}}}`
	p, err := feed.ParseProfile([]byte(text))
	require.NoError(t, err)
	back, err := json.Marshal(p)
	require.NoError(t, err)
	require.JSONEq(t, text, string(back))

	p, err = feed.ParseProfile([]byte(`{"muted_words":[],"muted_tags":["go"],"muted_until":{"authors":{"gone":"2026-03-07T00:00:00Z"},"tags":{"go":"2026-03-07T02:00:00+02:00"},"items":{}}}`))
	require.NoError(t, err)
	require.Equal(t, feed.Profile{MutedTags: []string{"go"}, MutedUntil: feed.MuteEnds{Tags: map[string]time.Time{"go": time.Date(2026, 3, 7, 0, 0, 0, 0, time.UTC)}}}, p, "an end without a mute is dropped")

	p, err = feed.ParseProfile([]byte(`{"muted_tags":["Go","go","rust"],"muted_until":{"tags":{"GO":"2026-03-07T00:00:00Z"}}}`))
	require.NoError(t, err)
	end := time.Date(2026, 3, 7, 0, 0, 0, 0, time.UTC)
	require.Equal(t, map[string]time.Time{"Go": end, "go": end}, p.MutedUntil.Tags, "a tag is the same in any spelling")

	many := make([]string, feed.MaxMutedWords+1)
	for i := range many {
		many[i] = fmt.Sprintf(`{"term":"w%d"}`, i)
	}
	long := strings.Repeat(`{"term":"`+strings.Repeat("x", feed.MaxMutedWordLength)+`"},`, feed.MaxMutedWordsLength/feed.MaxMutedWordLength)
	for body, want := range map[string]string{
		`[{"term":""}]`:                                      "a muted word has 0 characters",
		`[{"term":"!?"}]`:                                    `"!?" has no letter, digit or emoji`,
		`[{"term":"The"}]`:                                   `"The" is in nearly every text`,
		`[{"until":"2026-03-06T11:00:00Z"}]`:                 "a muted word has 0 characters",
		`[{"term":"x","end":1}]`:                             `unknown field "end"`,
		`[{"term":"x","until":"tomorrow"}]`:                  "muted_words[0].until",
		`[{"term":"x","until":"9999-12-31T23:59:59-01:00"}]`: "before the year 10000",
		`["x"]`:                             "muted_words[0]",
		`[` + strings.Join(many, ",") + `]`: "101 muted_words",
		`[` + long + `{"term":"z"}]`:        "2001 characters in total",
		`[{"term":"` + strings.Repeat("é", feed.MaxMutedWordLength+1) + `"}]`: "101 characters",
	} {
		_, err := feed.ParseProfile([]byte(`{"muted_words":` + body + `}`))
		require.ErrorIs(t, err, feed.ErrInvalid, body)
		require.ErrorContains(t, err, want)
	}
}

func TestMuteWord(t *testing.T) {
	t.Parallel()
	var p feed.Profile
	later := time.Date(2026, 3, 7, 0, 0, 0, 0, time.UTC)
	for _, step := range []struct {
		term    string
		until   time.Time
		changed bool
		want    []feed.MutedWord
	}{
		{"Star Wars", later, true, []feed.MutedWord{{"Star Wars", later}}},
		{"star wars!", later, false, []feed.MutedWord{{"Star Wars", later}}},
		{"STAR WARS", time.Time{}, true, []feed.MutedWord{{Term: "Star Wars"}}},
		{"x", later, true, []feed.MutedWord{{Term: "Star Wars"}, {"x", later}}},
	} {
		changed, err := p.MuteWord(step.term, step.until)
		require.NoError(t, err)
		require.Equal(t, step.changed, changed, step.term)
		require.Equal(t, step.want, p.MutedWords)
	}
	p.MutedWords = []feed.MutedWord{{"x", later}, {Term: "Star Wars"}, {Term: "star-wars"}}
	changed, err := p.MuteWord("STAR WARS", later)
	require.NoError(t, err)
	require.True(t, changed)
	require.Equal(t, []feed.MutedWord{{"x", later}, {"Star Wars", later}, {"star-wars", later}}, p.MutedWords, "none of the same words stays muted for longer")
	require.False(t, p.UnmuteWord("star"))
	require.True(t, p.UnmuteWord("star wars"))
	require.True(t, p.UnmuteWord("X"))
	require.Nil(t, p.MutedWords)
	for i := range feed.MaxMutedWords {
		_, err := p.MuteWord(fmt.Sprint("w", i), time.Time{})
		require.NoError(t, err)
	}
	_, err = p.MuteWord("more", time.Time{})
	require.ErrorIs(t, err, feed.ErrLimit)
	require.Len(t, p.MutedWords, feed.MaxMutedWords)
}

func TestMutesEnd(t *testing.T) {
	t.Parallel()
	end := time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)
	p := feed.Profile{
		MutedAuthors: []string{"ann", "bob"}, MutedTags: []string{"go"}, MutedItems: []string{"a", "b"}, MutedWords: []feed.MutedWord{{Term: "war", Until: end}, {Term: "x"}},
		MutedUntil: feed.MuteEnds{
			Authors: map[string]time.Time{"ann": end, "bob": end.Add(time.Hour)}, Tags: map[string]time.Time{"go": end}, Items: map[string]time.Time{"a": end},
		},
	}
	require.Equal(t, p, p.At(end.Add(-1)))
	kept := feed.Profile{
		MutedAuthors: []string{"bob"}, MutedItems: []string{"b"}, MutedWords: []feed.MutedWord{{Term: "x"}},
		MutedUntil: feed.MuteEnds{Authors: map[string]time.Time{"bob": end.Add(time.Hour)}},
	}
	require.Equal(t, kept, p.At(end))
	require.Equal(t, feed.Profile{MutedItems: []string{"b"}, MutedWords: []feed.MutedWord{{Term: "x"}}}, p.At(end.Add(time.Hour)))
	require.Len(t, p.MutedAuthors, 2, "the stored profile is not changed")
	require.Len(t, p.MutedUntil.Authors, 2)

	hidden := p
	changed, err := hidden.MuteItems([]string{"a"})
	require.NoError(t, err)
	require.True(t, changed, "it has no end any more")
	require.Contains(t, hidden.At(end).MutedItems, "a")
	require.Len(t, p.MutedUntil.Items, 1)

	next := feed.Profile{MutedTags: []string{"go"}}
	stored := p
	stored.Replace(next)
	require.Equal(t, []string{"a", "b"}, stored.MutedItems)
	require.Equal(t, p.MutedUntil.Items, stored.MutedUntil.Items, "what stays keeps its end")
	require.Contains(t, stored.At(end).MutedTags, "go", "replaced without an end")
	require.Equal(t, feed.Profile{Langs: []string{"en"}, MutedTags: []string{"go"}}, feed.Profile{Langs: []string{"en"}, MutedTags: []string{"go"}, Keywords: feed.Keywords("x")}.Exclusions())
}
