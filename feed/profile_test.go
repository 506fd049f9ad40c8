package feed_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
)

func TestParseProfile(t *testing.T) {
	t.Parallel()
	p, err := feed.ParseProfile([]byte(` {"interests":{"go":2.5,"c++":0,"x":100},"keywords":["raft"],"langs":["en"],
		"muted_authors":["spam"],"muted_tags":["ads"],"muted_items":["a:b/c"]} `))
	require.NoError(t, err)
	require.Equal(t, feed.Profile{
		Interests: map[string]float64{"go": 2.5, "c++": 0, "x": 100}, Keywords: feed.Keywords("raft"), Langs: []string{"en"},
		MutedAuthors: []string{"spam"}, MutedTags: []string{"ads"}, MutedItems: []string{"a:b/c"},
	}, p)
	for text, named := range map[string]bool{`{}`: false, `{"muted_items":null}`: false, `{"muted_items":[]}`: true} {
		p, err = feed.ParseProfile([]byte(text))
		require.NoError(t, err)
		require.Equal(t, named, p.MutedItems != nil, text)
	}

	p, err = feed.ParseProfile([]byte(`{"keywords":["go",{"term":"machine learning","weight":2},{"term":"c++"},{"weight":1,"term":"C++"},{"term":"x","weight":0}]}`))
	require.NoError(t, err)
	require.Equal(t, []feed.Keyword{{"go", 1}, {"machine learning", 2}, {"c++", 1}, {"C++", 1}, {"x", 0}}, p.Keywords)
	text, err := json.Marshal(p)
	require.NoError(t, err)
	require.JSONEq(t, `{"keywords":["go",{"term":"machine learning","weight":2},"c++","C++",{"term":"x","weight":0}]}`, string(text))

	p, err = feed.ParseProfile([]byte(`{}`))
	require.NoError(t, err)
	require.Equal(t, feed.Profile{}, p)
}

func TestParseProfileRefuses(t *testing.T) {
	t.Parallel()
	list := func(n int) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = fmt.Sprintf(`"t%d"`, i)
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	interests := make([]string, feed.MaxInterests+1)
	for i := range interests {
		interests[i] = fmt.Sprintf(`"t%d":1`, i)
	}
	for _, tc := range []struct{ name, json, want string }{
		{"nothing", ``, "empty"},
		{"an array", `[]`, "array"},
		{"unknown field", `{"intrests":{}}`, "intrests"},
		{"trailing data", `{} {}`, "after top-level value"},
		{"trailing rubbish", `{} x`, "after top-level value"},
		{"weight below 0", `{"interests":{"go":-0.1}}`, `interest "go" must be 0 to 100`},
		{"weight above 100", `{"interests":{"go":100.1}}`, "must be 0 to 100"},
		{"weight null", `{"interests":{"go":null}}`, "interests.go must be a number, not null"},
		{"weight as text", `{"interests":{"go":"2"}}`, "string"},
		{"empty tag", `{"interests":{"":1}}`, "interests has 0 characters"},
		{"empty keyword", `{"keywords":[""]}`, "keywords has 0 characters"},
		{"a keyword's weight", `{"keywords":[{"term":"go","weight":100.5}]}`, `keyword "go" must be 0 to 100`},
		{"a keyword's weight below 0", `{"keywords":[{"term":"go","weight":-1}]}`, `keyword "go" must be 0 to 100`},
		{"a keyword's weight as text", `{"keywords":[{"term":"go","weight":"2"}]}`, "keywords[0] must be a string or an object such as"},
		{"a keyword's other field", `{"keywords":["a",{"term":"go","wieght":2}]}`, `unknown field "wieght"; known are term, weight`},
		{"a keyword's field twice", `{"keywords":[{"term":"go","term":"c"}]}`, `duplicate field "term"`},
		{"a keyword without a term", `{"keywords":[{"weight":2}]}`, "keywords[0] must be a string or an object such as {\"term\":\"machine learning\",\"weight\":2}: the term is missing"},
		{"a keyword with an empty term", `{"keywords":[{"term":""}]}`, "keywords has 0 characters"},
		{"a number as keyword", `{"keywords":[7]}`, "not 7"},
		{"null as keyword", `{"keywords":["go",null]}`, `keywords[1] must be a string or an object such as {"term":"machine learning","weight":2}: not null`},
		{"many characters of keywords", `{"keywords":["` + strings.Join([]string{strings.Repeat("a", 256), strings.Repeat("b", 256), strings.Repeat("c", 256), strings.Repeat("d", 256), "e"}, `","`) + `"]}`, "1025 characters"},
		{"long mute", `{"muted_tags":["` + strings.Repeat("é", feed.MaxTermLength+1) + `"]}`, "muted_tags has 257 characters"},
		{"many interests", `{"interests":{` + strings.Join(interests, ",") + `}}`, "201 interests"},
		{"many keywords", `{"keywords":` + list(feed.MaxKeywords+1) + `}`, "65 keywords"},
		{"many langs", `{"langs":` + list(feed.MaxKeywords+1) + `}`, "65 langs"},
		{"many muted authors", `{"muted_authors":` + list(feed.MaxMutes+1) + `}`, "1001 muted_authors"},
		{"many muted items", `{"muted_items":` + list(feed.MaxMutedItems+1) + `}`, "10001 muted_items"},
		{"long muted items", `{"muted_items":["` + strings.Join(slices.Repeat([]string{strings.Repeat("a", feed.MaxItemID)}, 2049), `","`) + `"]}`, "muted_items have 524544 characters in total"},
		{"a muted item that is no id", `{"muted_items":["a b"]}`, "muted_items: bad id"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := feed.ParseProfile([]byte(tc.json))
			require.ErrorIs(t, err, feed.ErrInvalid)
			require.ErrorContains(t, err, tc.want)
		})
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	p := feed.Profile{Langs: []string{"en", "de"}, MutedAuthors: []string{"spam"}, MutedTags: []string{"ads"}}
	require.True(t, p.HasMutes())
	require.False(t, feed.Profile{Interests: map[string]float64{"go": 1}, Keywords: feed.Keywords("x")}.HasMutes())
	for _, tc := range []struct {
		name string
		item feed.Item
		want bool
	}{
		{"nothing set", feed.Item{}, false},
		{"wanted language", feed.Item{Lang: "de"}, false},
		{"other language", feed.Item{Lang: "fr"}, true},
		{"muted author", feed.Item{AuthorID: "spam"}, true},
		{"other author", feed.Item{AuthorID: "Spam"}, false},
		{"one muted tag", feed.Item{Tags: []string{"go", "ads"}}, true},
		{"other tags", feed.Item{Tags: []string{"go"}, Lang: "en"}, false},
		{"another spelling of a tag", feed.Item{Tags: []string{"go", "ＡＤＳ"}}, true},
		{"a spelling of a language", feed.Item{Lang: "EN_gb"}, false},
		{"several languages", feed.Item{Langs: []string{"fr", "de-AT"}}, false},
		{"several other languages", feed.Item{Langs: []string{"fr", "nds"}}, true},
		{"no one language", feed.Item{Lang: "mul"}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			require.Equal(t, tc.want, p.Refuses(&tc.item))
			require.False(t, feed.Profile{}.Refuses(&tc.item), "the zero profile refuses nothing")
		})
	}
}

func TestSameMutesOtherSpellings(t *testing.T) {
	t.Parallel()
	p := feed.Profile{MutedTags: []string{"Ads", "café"}, Langs: []string{"en", "zh-TW"}}
	require.True(t, p.SameMutes(feed.Profile{MutedTags: []string{"cafe\u0301", "ADS", "ads"}, Langs: []string{"EN", "zh_tw"}}))
	require.False(t, p.SameMutes(feed.Profile{MutedTags: p.MutedTags, Langs: []string{"en", "zh-Hans"}}))
	require.False(t, p.SameMutes(feed.Profile{MutedTags: p.MutedTags[:1], Langs: p.Langs}))
	require.False(t, p.SameMutes(feed.Profile{MutedTags: p.MutedTags}))
}

func TestHide(t *testing.T) {
	t.Parallel()
	var p feed.Profile
	require.False(t, p.HasMutes())
	require.True(t, p.Hide([]string{"a", "b", "a"}))
	require.Equal(t, []string{"a", "b"}, p.MutedItems)
	require.True(t, p.HasMutes())
	require.False(t, p.Refusals().Selective())
	require.False(t, p.Hide([]string{"a"}), "it is there")

	other := p
	require.True(t, other.Hide([]string{"c"}))
	require.True(t, p.Hide([]string{"d"}))
	require.Equal(t, []string{"a", "b", "c"}, other.MutedItems, "copies do not share what is added")

	require.True(t, p.Refusals().Ref(feed.Ref{ID: "x", Group: "a"}))
	require.True(t, p.Refusals().Ref(feed.Ref{ID: "a", Group: "x"}))

	p = feed.Profile{MutedItems: []string{"g"}}
	require.True(t, p.Refuses(&feed.Item{ID: "x", GroupID: "g"}))
	require.True(t, p.Refuses(&feed.Item{ID: "g"}))
	require.True(t, p.Refuses(&feed.Item{ID: "g", GroupID: "another"}), "it was hidden before it had a group")
	require.False(t, p.Refuses(&feed.Item{ID: "x", GroupID: "another"}))
	require.False(t, p.SameMutes(feed.Profile{}))
	require.True(t, p.SameMutes(feed.Profile{MutedItems: []string{"g", "g"}}))
}

// TestHideFullList fills the muted items up to each of their bounds.
func TestHideFullList(t *testing.T) {
	t.Parallel()
	for name, bound := range map[string]struct{ many, characters int }{
		"items": {feed.MaxMutedItems, 6}, "characters": {feed.MaxMutedItemsLength / feed.MaxItemID, feed.MaxItemID},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var many []string
			for i := range bound.many {
				many = append(many, fmt.Sprintf("%0*d", bound.characters, i))
			}
			var p feed.Profile
			changed, err := p.MuteItems(many)
			require.NoError(t, err)
			require.True(t, changed)
			for _, more := range [][]string{{"a"}, {many[0], "a"}} {
				changed, err = p.MuteItems(more)
				require.ErrorIs(t, err, feed.ErrLimit)
				require.False(t, changed)
				require.False(t, p.Hide(more))
			}
			changed, err = p.MuteItems(many[3:5])
			require.NoError(t, err)
			require.False(t, changed, "they are there")
			require.Equal(t, many, p.MutedItems)
			require.NoError(t, p.Validate())
			p.MutedItems = p.MutedItems[1:]
			changed, err = p.MuteItems([]string{"a"})
			require.NoError(t, err)
			require.True(t, changed, "there is room again")
		})
	}
}

func TestSameMutes(t *testing.T) {
	t.Parallel()
	p := feed.Profile{MutedTags: []string{"a", "b"}, Langs: []string{"en"}}
	for _, tc := range []struct {
		name string
		q    feed.Profile
		want bool
	}{
		{"other order, repeated", feed.Profile{MutedTags: []string{"b", "a", "b"}, Langs: []string{"en"}}, true},
		{"other interests", feed.Profile{MutedTags: []string{"a", "b"}, Langs: []string{"en"}, Keywords: feed.Keywords("k")}, true},
		{"fewer tags", feed.Profile{MutedTags: []string{"a"}, Langs: []string{"en"}}, false},
		{"other language", feed.Profile{MutedTags: []string{"a", "b"}, Langs: []string{"de"}}, false},
		{"an author more", feed.Profile{MutedTags: []string{"a", "b"}, Langs: []string{"en"}, MutedAuthors: []string{"x"}}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			require.Equal(t, tc.want, p.SameMutes(tc.q))
			require.Equal(t, tc.want, tc.q.SameMutes(p))
		})
	}
	require.Equal(t, []string{"a", "b"}, p.MutedTags, "the lists are not reordered")
}
