package feed_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
)

func TestParseItemReadsEveryField(t *testing.T) {
	t.Parallel()
	it, err := feed.ParseItem([]byte(` { "id" : "a/b:c", "group_id":"g", "title":"T \"q\" \u00e9 😀", "update_time": 1772000000,
		"summary":"S", "url":"U", "image_url":"I", "author_id":"A", "lang":"en", "tags": [ "go" , "c\u002b+" ],
		"likes":3, "comments":4, "price": 9.90 , "nested":{"id":[1,{"a":"}]\""}]}, "\u0078":null, "_x":[] } `))
	require.NoError(t, err)
	require.Equal(t, feed.Item{
		ID: "a/b:c", GroupID: "g", Title: `T "q" é 😀`, UpdateTime: 1772000000, Summary: "S", URL: "U", ImageURL: "I",
		AuthorID: "A", Lang: "en", Tags: []string{"go", "c++"}, Likes: 3, Comments: 4,
		Business: map[string]json.RawMessage{
			"price": json.RawMessage(`9.90`), "nested": json.RawMessage(`{"id":[1,{"a":"}]\""}]}`),
			"x": json.RawMessage(`null`), "_x": json.RawMessage(`[]`),
		},
	}, it)
	require.Equal(t, "g", it.Group())
	require.EqualValues(t, 11, it.Popularity())
}

func TestParseItemNullIsAbsent(t *testing.T) {
	t.Parallel()
	it, err := feed.ParseItem([]byte(`{"id":"a","title":"T","update_time":1,"group_id":null,"summary":null,"tags":null,"likes":null}`))
	require.NoError(t, err)
	require.Equal(t, feed.Item{ID: "a", Title: "T", UpdateTime: 1}, it)
	require.Equal(t, "a", it.Group())
}

// with returns a valid item in which one field is replaced or added.
func with(field string) string {
	all := map[string]string{"id": `"id":"a"`, "title": `"title":"T"`, "update_time": `"update_time":1`}
	name := field[1 : 1+strings.IndexByte(field[1:], '"')]
	all[name] = field
	parts := make([]string, 0, len(all))
	for _, p := range all {
		parts = append(parts, p)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func TestParseItemRefuses(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 300)
	tags := strings.TrimSuffix(strings.Repeat(`"t",`, feed.MaxTags+1), ",")
	for _, tc := range []struct{ name, json, want string }{
		{"nothing", ``, "empty"},
		{"half an object", `{"id":"a"`, "unexpected end"},
		{"two objects", `{"id":"a","title":"T","update_time":1} {}`, "bad JSON at byte"},
		{"a bare word", `hello`, "bad JSON"},
		{"an array", `[]`, "not an array"},
		{"a string", `"a"`, "not a string"},
		{"null", `null`, "not null"},
		{"a number", `7`, "not a number"},
		{"not UTF-8", "{\"id\":\"a\",\"title\":\"\xff\",\"update_time\":1}", "in title: invalid UTF-8"},
		{"no id", `{"title":"T","update_time":1}`, "id is missing"},
		{"empty id", with(`"id":""`), "id is missing"},
		{"null id", with(`"id":null`), "id is missing"},
		{"number id", with(`"id":7`), "id must be a string, not a number"},
		{"bad id", with(`"id":"a b"`), `" " at position 2`},
		{"long id", with(`"id":"` + long + `"`), "1 to 256"},
		{"id twice", `{"id":"a","id":"b","title":"T","update_time":1}`, `duplicate field "id"`},
		{"id twice, escaped", `{"id":"a","\u0069d":"a","title":"T","update_time":1}`, `duplicate field "id"`},
		{"business field twice", `{"id":"a","x":1,"x":1,"title":"T","update_time":1}`, `duplicate field "x"`},
		{"capital", with(`"Title":"T"`), `field "Title" must be written "title"`},
		{"bad group_id", with(`"group_id":"a|b"`), "group_id"},
		{"no title", `{"id":"a","update_time":1}`, "title is missing"},
		{"null title", with(`"title":null`), "title is missing"},
		{"object title", with(`"title":{}`), "title must be a string, not an object"},
		{"no update_time", `{"id":"a","title":"T"}`, "update_time is missing"},
		{"null update_time", with(`"update_time":null`), "update_time is missing"},
		{"text update_time", with(`"update_time":"2026-03-06"`), "update_time must be a whole number, not a string"},
		{"fractional update_time", with(`"update_time":1.5`), "update_time must be a whole number, not 1.5"},
		{"millisecond update_time", with(`"update_time":1772000000000`), "Unix seconds"},
		{"negative update_time", with(`"update_time":-1`), "Unix seconds"},
		{"huge update_time", with(`"update_time":99999999999999999999`), "whole number"},
		{"negative likes", with(`"likes":-1`), "0 to 2^53"},
		{"huge comments", with(`"comments":9007199254740992`), "0 to 2^53"},
		{"boolean comments", with(`"comments":true`), "comments must be a whole number, not a boolean"},
		{"tags as text", with(`"tags":"a,b"`), "tags must be an array of strings, not a string"},
		{"a number as tag", with(`"tags":["a",1]`), "tags[1] must be a string, not a number"},
		{"empty tag", with(`"tags":[""]`), "a tag has 0 characters"},
		{"blank tag", with(`"tags":["a"," "]`), "tags[1] is blank"},
		{"invisible tag", with(`"tags":["\u200d\u00a0"]`), "tags[0] is blank"},
		{"long tag", with(`"tags":["` + long + `"]`), "a tag has 300 characters"},
		{"many tags", with(`"tags":[` + tags + `]`), "65 tags"},
		{"long author", with(`"author_id":"` + long + `"`), "author_id has 300"},
		{"long lang", with(`"lang":"` + long + `"`), "lang has 300"},
		{"business field without a name", with(`"":1`), `business field "" has a name, or a part of a dotted name, that is empty`},
		{"blank business field", with(`" ":1`), `" " has a name, or a part of a dotted name, that is empty or blank`},
		{"blank part of a business field", with(`"a..b":1`), `"a..b" has a name`},
		{"field of Elasticsearch", with(`"_id":1`), `"_id" has a name that is reserved by Elasticsearch`},
		{"within a field of Elasticsearch", with(`"_source.x":1`), `"_source.x" has a name that is reserved by Elasticsearch`},
		{"within a field of the item", with(`"title.x":1`), `"title.x" is inside the field "title"`},
		{"field of Freshet", with(`"freshet_popularity":1`), `"freshet_popularity" has a name that is reserved by Freshet`},
		{"too big", with(`"x":"` + strings.Repeat("x", feed.MaxItemBytes) + `"`), "at most 262144"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := feed.ParseItem([]byte(tc.json))
			require.ErrorIs(t, err, feed.ErrInvalid)
			require.ErrorContains(t, err, tc.want)
		})
	}
}

// Reserved names are refused in uploads, but items created by Freshet may have them.
func TestParseItemRefusesReservedNames(t *testing.T) {
	t.Parallel()
	for in, says := range map[string]string{
		`{"id":"post:1","title":"T","update_time":1}`:           `the id prefix "post:" is reserved for posts`,
		`{"id":"a","title":"T","update_time":1,"in_feed":{}}`:   `in_feed is reserved`,
		`{"id":"a","title":"T","update_time":1,"In_Feed":null}`: `in_feed is reserved`,
	} {
		_, err := feed.ParseItem([]byte(in))
		require.ErrorIs(t, err, feed.ErrInvalid, in)
		require.ErrorContains(t, err, says, in)
	}
	for _, in := range []string{
		`{"id":"post/1","title":"T","update_time":1}`, `{"id":"a:post:1","title":"T","update_time":1,"group_id":"post:1"}`,
		`{"id":"a","title":"T","update_time":1,"infeed":1,"x":{"in_feed":1}}`,
	} {
		_, err := feed.ParseItem([]byte(in))
		require.NoError(t, err, in)
	}
	made := feed.Item{ID: "post:1", Title: "T", UpdateTime: 1}
	require.NoError(t, made.Validate())
}

func TestItemRoundTrip(t *testing.T) {
	t.Parallel()
	it := feed.Item{
		ID: "a", Title: "<T> & \u2028", UpdateTime: 5, Tags: []string{"x"}, Likes: 1 << 53,
		Business: map[string]json.RawMessage{"z": json.RawMessage(`1.50`), "a.b": json.RawMessage(`{"k":[null,12345678901234567890]}`)},
	}
	data, err := json.Marshal(it)
	require.NoError(t, err)
	require.Less(t, strings.Index(string(data), `"title"`), strings.Index(string(data), `"a.b"`), "known fields first")
	got, err := feed.ParseItem(data)
	require.NoError(t, err)
	require.Equal(t, it, got)

	fromDoc, err := feed.Doc{ID: "a", JSON: data}.Item()
	require.NoError(t, err)
	require.Equal(t, it, fromDoc)

	var list []feed.Item
	require.NoError(t, json.Unmarshal([]byte("["+string(data)+","+string(data)+"]"), &list))
	require.Equal(t, []feed.Item{it, it}, list)
}

func TestDocMissing(t *testing.T) {
	t.Parallel()
	require.True(t, feed.Doc{ID: "a"}.Missing())
	require.False(t, feed.Doc{ID: "a", JSON: json.RawMessage(`{}`)}.Missing())
	_, err := feed.Doc{ID: "a"}.Item()
	require.ErrorContains(t, err, "item a")
}

func TestItemDoesNotAliasItsSource(t *testing.T) {
	t.Parallel()
	data := []byte(`{"id":"a","title":"T","update_time":1,"tags":["go"],"x":"kept"}`)
	it, err := feed.ParseItem(data)
	require.NoError(t, err)
	for i := range data {
		data[i] = '#'
	}
	require.Equal(t, feed.Item{
		ID: "a", Title: "T", UpdateTime: 1, Tags: []string{"go"},
		Business: map[string]json.RawMessage{"x": json.RawMessage(`"kept"`)},
	}, it)
}

// FuzzParseItem compares the parser with encoding/json: an accepted document means the same to
// both, and is unchanged when written again.
func FuzzParseItem(f *testing.F) {
	for _, seed := range []string{
		`{"id":"a","title":"T","update_time":1}`,
		`{"id":"a","title":"T\\\"","update_time":1,"tags":["a","b"],"x":{"y":[1,"}"]},"z":-1.5e3}`,
		`{ "id" : "a" , "title":"\u00e9", "update_time":1 , "tags":[ ], "n":null}`,
		`{"id":"a","title":"\ud800","update_time":1}`,
		`{"id":"a","title":"T","update_time":1,"lang":"","l\u0069kes":0,"comments":0,"summary":null,"url":""}`,
		`[{"id":"a"}]`, `{"id":"a",}`, `{"":{},"id":null}`, `{`, ``, ` `, "{\"id\":\"a\",\"title\":\"\xff\",\"update_time\":1}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		it, err := feed.ParseItem(data)
		if err != nil {
			return
		}
		type plain feed.Item // without methods, so encoding/json reads the known fields
		var want plain
		require.NoError(t, json.Unmarshal(data, &want))
		var all map[string]any
		require.NoError(t, json.Unmarshal(data, &all))
		for name, raw := range it.Business {
			var v any
			require.NoError(t, json.Unmarshal(raw, &v))
			require.Equal(t, all[name], v)
		}
		want.Business, want.Sent = it.Business, it.Sent
		if len(want.Tags) == 0 {
			want.Tags = nil
		}
		require.Equal(t, want, plain(it))
		again, err := json.Marshal(it)
		require.NoError(t, err)
		if len(again) <= feed.MaxItemBytes {
			back, err := feed.ParseItem(again)
			require.NoError(t, err)
			require.Equal(t, it.ID, back.ID)
			require.Len(t, back.Business, len(it.Business))
			require.Equal(t, it.Sent, back.Sent)
			var returned map[string]any
			require.NoError(t, json.Unmarshal(again, &returned))
			for _, name := range []string{"group_id", "summary", "url", "image_url", "author_id", "lang", "tags", "likes", "comments"} {
				require.Equal(t, all[name], returned[name], "%s is returned as sent", name)
			}
		}
	})
}

func BenchmarkParseItem(b *testing.B) {
	data := []byte(fmt.Sprintf(`{"id":"doc_9527","title":"A headline of a usual length, with nothing special","update_time":1772000000,
		"summary":%q,"url":"https://example.com/a/b","author_id":"author_12","lang":"en","tags":["go","databases","news"],"likes":12,"comments":3,
		"price":9.9,"premium":false}`, strings.Repeat("A sentence that says what it is about. ", 6)))
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := feed.ParseItem(data); err != nil {
			b.Fatal(err)
		}
	}
}
