package elastic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/testenv"
)

func TestBodyDeterministic(t *testing.T) {
	t.Parallel()
	schema := esindex.OwnSchema(esindex.Fields{})
	q := feed.Query{
		Ranking: feed.Ranking{Decay: feed.Decay{Scale: 24 * time.Hour, Offset: time.Hour, Decay: 0.5, Floor: 1e-6}, Base: 0.1, PopularityWeight: 0.5},
		Origin:  time.Unix(1474848000, 999), Since: time.Unix(1474000000, 0), N: 20_000,
		Profile: feed.Profile{
			Interests: map[string]float64{}, Keywords: feed.Keywords("k2", "k1"), Langs: []string{"fr", "en"},
			MutedAuthors: []string{"y", "x"}, MutedTags: []string{"q", "p"},
		},
	}
	for i := range 50 {
		q.Profile.Interests[fmt.Sprint("tag ", i)] = float64(i)
	}
	first, err := body(&q, &schema, cursor{})
	require.NoError(t, err)
	keywords := slices.Clone(q.Profile.Keywords)
	require.Equal(t, feed.Keywords("k2", "k1"), keywords, "the query is left as it was")
	for range 5 {
		again := q
		again.Profile.Interests = map[string]float64{}
		for i := 49; i >= 0; i-- {
			again.Profile.Interests[fmt.Sprint("tag ", i)] = float64(i)
		}
		again.Profile.Keywords, again.Profile.Langs = feed.Keywords("k1", "k2"), []string{"en", "fr"}
		again.Profile.MutedAuthors, again.Profile.MutedTags = []string{"x", "y"}, []string{"p", "q"}
		second, err := body(&again, &schema, cursor{})
		require.NoError(t, err)
		require.Equal(t, string(first), string(second))
	}
	require.Contains(t, string(first), `"size":10000,`)
	require.NotContains(t, string(first), `"tag 0"`, "an interest of weight 0 adds nothing")
}

const twoHits = `{"hits":{"hits":[{"sort":[3.5,1474848000000,"a",null]},{"_id":"ignored","sort":[1.0E-6,1474847999999,"b\/1","g"]}]}}`

func TestDecode(t *testing.T) {
	t.Parallel()
	own := esindex.OwnSchema(esindex.Fields{})
	meta := esindex.OwnSchema(esindex.Fields{ID: esindex.MetaID})
	a := feed.Candidate{ID: "a", Group: "a", Source: Name, UpdateTime: 1474848000, Score: 3.5}
	b := feed.Candidate{ID: "b/1", Group: "g", Source: Name, UpdateTime: 1474847999, Score: 1e-6}
	varied := a
	varied.Traits = feed.Traits{Author: "ann", Coauthors: "\x00bob", Site: "x.com", Tag: `t "1"`, Story: "\x00\x01\x00\x02\x00\x03"}
	for _, c := range []struct {
		name   string
		schema esindex.Schema
		data   string
		want   []feed.Candidate
		hits   int
	}{
		{"two hits", own, twoHits, []feed.Candidate{a, b}, 2},
		{"no hits", own, `{}`, nil, 0},
		{"fields nobody asked for", own, ` { "took" : 3 , "_shards":{"total":1,"failures":[{"a":"}]"}]},"timed_out":false,
			"hits":{"max_score":null,"hits":[ {"_index":"\"[","fields":{"x":[1,{}]},"sort":[3.5, 1474848000000, "a", null]} ] } } `, []feed.Candidate{a}, 1},
		{"a group twice", own, `{"hits":{"hits":[{"sort":[1.0E-6,1474847999000,"b/1","g"]},{"sort":[0,1,"c","g"]}]}}`, []feed.Candidate{b}, 2},
		{"a group named as an item", own, `{"hits":{"hits":[{"sort":[3.5,1474848000000,"a",null]},{"sort":[0,1,"c","a"]}]}}`, []feed.Candidate{a}, 2},
		{"traits", own, `{"hits":{"hits":[{"fields":{"freshet_story":["AAEAAgAD"],"freshet_tag":["t \"1\""],"author_id":["ann","bob"],"freshet_site":["x.com"]},
			"sort":[3.5,1474848000000,"a",null]},{"fields":{"freshet_story":["?"],"freshet_site":[]},"sort":[1e-6,1474847999000,"b/1","g"]}]}}`, []feed.Candidate{varied, b}, 2},
		{"_id", meta, `{"hits":{"hits":[{"_id":"a","sort":[3.5,1474848000000,null,7]}]}}`, []feed.Candidate{a}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := decode([]byte(c.data), 10, &c.schema, math.MaxInt64)
			require.NoError(t, err)
			require.Equal(t, c.hits, got.hits)
			require.Equal(t, len(c.want), len(got.candidates))
			for i := range c.want {
				require.Equal(t, c.want[i], got.candidates[i])
			}
		})
	}
	for _, bad := range []string{
		``, `[]`, `{`, `{"hits"`, `{"hits":`, `{"hits":{"hits":[{"sort":[1]}]}}`, `{"hits":{"hits":[{}]}}`, `{"hits":{"hits":[{"sort":[1,2,"a",null,5]}]}}`, `{"hits":{"hits":[{"sort":[1,2,"a`,
	} {
		_, err := decode([]byte(bad), 10, &own, math.MaxInt64)
		require.Error(t, err, bad)
	}
	_, err := decode([]byte("not JSON"+strings.Repeat(" at all", 1_000)), 10, &own, math.MaxInt64)
	require.Error(t, err)
	require.Less(t, len(err.Error()), 400, "it does not repeat the answer")
}

// The mapping does not guarantee the contents of documents, so unusable ones are no error.
func TestDecodeSkipsUnusable(t *testing.T) {
	t.Parallel()
	own := esindex.OwnSchema(esindex.Fields{})
	for sort, reason := range map[string]int{
		`[1,2000,null,null]`: badID, `[1,2000,"",null]`: badID, `[1,2000,3,null]`: badID, `[1,2000,"a b",null]`: badID, `[1,2000,"a","b c"]`: badGroup,
		`[1,"x","a",null]`: badTime, `[1,null,"a",null]`: badTime, `[1,9000,"a",null]`: badTime,
		`["x",2000,"a",null]`: badScore, `[null,2000,"a",null]`: badScore, `["NaN",2000,"a",null]`: badScore,
	} {
		got, err := decode([]byte(`{"hits":{"hits":[{"sort":`+sort+`},{"fields":{"author_id":[7]},"sort":[1,2000,"good",5]}]}}`), 2, &own, 8)
		require.NoError(t, err, sort)
		require.Equal(t, 2, got.hits)
		require.Equal(t, []feed.Candidate{{ID: "good", Group: "good", Source: Name, UpdateTime: 2, Score: 1}}, got.candidates, sort)
		var want leftOut
		want[reason] = 1
		require.Equal(t, want, got.left, sort)
	}
}

// TestDecodeRetainedMemory measures the memory that an answer retains, since caches hold
// hundreds of them.
func TestDecodeRetainedMemory(t *testing.T) {
	testenv.WithoutRace(t)
	story := func(hits int) []byte { // all in one group
		return bytes.ReplaceAll(answerOf(hits), []byte("null]"), []byte(`"story"]`))
	}
	for _, c := range []struct {
		name string
		data []byte
		most int64 // maximum bytes of one answer
	}{
		{"nothing found, though much was asked for", []byte(`{}`), 1 << 10},
		{"three hits", answerOf(3), 2 << 10},
		{"one group", story(10_000), 2 << 10},
		{"500 hits", answerOf(500), 80 << 10}, // 128 bytes per candidate, plus the ids
	} {
		t.Run(c.name, func(t *testing.T) {
			schema := esindex.OwnSchema(esindex.Fields{})
			const answers = 50
			kept := make([]answer, answers)
			held := testenv.Retained(func() {
				for i := range kept {
					var err error
					kept[i], err = decode(bytes.Clone(c.data), 10_000, &schema, math.MaxInt64)
					require.NoError(t, err)
					kept[i].last = nil // replaced by the cursor
				}
			})
			runtime.KeepAlive(kept)
			t.Logf("%d bytes an answer", held/answers)
			require.Less(t, held/answers, c.most)
		})
	}
}

// FuzzDecode checks that no answer makes the decoder panic, and that it agrees with a general JSON
// decoder on valid answers.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(twoHits))
	f.Add([]byte(`{"hits":{"hits":[{"sort":[1,2,"\u00e9\\",null]}]}}`))
	schema := esindex.OwnSchema(esindex.Fields{})
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := decode(data, 4, &schema, math.MaxInt64)
		if err != nil || !json.Valid(data) {
			return
		}
		for _, c := range got.candidates {
			require.NoError(t, feed.CheckItemID(c.ID))
			require.NoError(t, feed.CheckItemID(c.Group))
		}
		if got.last != nil {
			require.True(t, json.Valid(got.last))
			at, err := parseCursor(cursor{after: got.last}.String(), &schema)
			if err == nil {
				require.Equal(t, string(got.last), string(at.after))
			}
		}
	})
}

func answerOf(hits int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"hits":{"hits":[`)
	for i := range hits {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"sort":[%g,%d,"hn_%d",null]}`, 3.3323867/float64(i+1), 1474829460000-int64(i)*60_000, 12575573-i)
	}
	b.WriteString(`]}}`)
	return b.Bytes()
}

func BenchmarkDecode500(b *testing.B) {
	data, schema := answerOf(500), esindex.OwnSchema(esindex.Fields{})
	b.ReportAllocs()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if got, err := decode(data, 500, &schema, math.MaxInt64); err != nil || len(got.candidates) != 500 {
			b.Fatal(err)
		}
	}
}

func BenchmarkBody(b *testing.B) {
	schema := esindex.OwnSchema(esindex.Fields{})
	for _, interests := range []int{2, 200} {
		q := feed.Query{
			Ranking: feed.Ranking{Decay: feed.Decay{Scale: time.Hour, Decay: 0.5}, Base: 0.1}, Origin: time.Unix(1, 0), N: 500,
			Profile: feed.Profile{Interests: map[string]float64{}, Keywords: feed.Keywords("go", "rust")},
		}
		for i := range interests {
			q.Profile.Interests[fmt.Sprint("tag-", i)] = 1.5
		}
		b.Run(fmt.Sprint(interests, "interests"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := body(&q, &schema, cursor{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
