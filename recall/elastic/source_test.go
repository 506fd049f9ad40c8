package elastic_test

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/terms"
	"github.com/freshet/freshet/feed/words"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/recall"
	recallelastic "github.com/freshet/freshet/recall/elastic"
	"github.com/freshet/freshet/recall/recalltest"
)

const origin = 1_474_848_000

var ranking = feed.Ranking{
	Decay: feed.Decay{Scale: 24 * time.Hour, Offset: time.Hour, Decay: 0.5, Floor: 1e-6}, Base: 0.1,
}

func ask(p feed.Profile) feed.Query {
	return feed.Query{Profile: p, Ranking: ranking, Origin: time.Unix(origin, 0), N: 100}
}

func TestMain(m *testing.M) { os.Exit(testenv.Reuse(m).Run()) }

func connect(t testing.TB) (esindex.Client, string) {
	t.Helper()
	address, index := testenv.Elastic(t)
	return clientOf(t, address), index
}

func clientOf(t testing.TB, address string) esindex.Client {
	t.Helper()
	client, err := esindex.Connect(esindex.ClientConfig{Addresses: []string{address}})
	require.NoError(t, err)
	return client
}

// index writes documents with random _ids and makes them searchable.
func index[D any](t testing.TB, client esindex.Client, name string, docs []D) {
	t.Helper()
	for part := range slices.Chunk(docs, 5000) {
		var b bytes.Buffer
		for _, d := range part {
			line, err := json.Marshal(d)
			require.NoError(t, err)
			b.WriteString("{\"index\":{}}\n")
			b.Write(line)
			b.WriteByte('\n')
		}
		var answer struct{ Errors bool }
		require.NoError(t, esindex.Do(t.Context(), client, http.MethodPost, "/"+name+"/_bulk", "filter_path=errors", b.Bytes(),
			func(body []byte) error { return json.Unmarshal(body, &answer) }))
		require.False(t, answer.Errors)
	}
	require.NoError(t, esindex.Do(t.Context(), client, http.MethodPost, "/"+name+"/_refresh", "", nil, nil))
}

// stored is an item in the form in which the catalog stores it.
type stored struct{ feed.Item }

func (w stored) MarshalJSON() ([]byte, error) {
	it := w.Item
	tokens := func(text string) json.RawMessage { return append(words.Append([]byte(`"`), text), '"') }
	traits := it.Traits()
	it.Business = map[string]json.RawMessage{
		esindex.DefaultPopularity:  json.RawMessage(fmt.Sprint(it.Popularity())),
		esindex.DefaultTitleTokens: tokens(it.Title), esindex.DefaultSummaryTokens: tokens(it.Summary),
	}
	it.Business[esindex.FoldedTags], _ = json.Marshal(terms.FoldAll(it.Tags))
	it.Business[esindex.LangKeys], _ = json.Marshal(append(slices.Clone(terms.LangKeys(it.Lang)), esindex.AnyLang)[:max(1, len(terms.LangKeys(it.Lang)))])
	for name, value := range map[string]string{
		esindex.DefaultSite: traits.Site, esindex.FirstTag: traits.Tag, esindex.Story: base64.RawURLEncoding.EncodeToString([]byte(traits.Story)),
	} {
		if value != "" {
			it.Business[name], _ = json.Marshal(value)
		}
	}
	return it.MarshalJSON()
}

// ownSchema returns the schema of an index created by [esindex.Ensure] with default names, with the fields
// of all half-lives.
func ownSchema() *esindex.LateSchema {
	s := esindex.OwnSchema(esindex.Fields{})
	s.More = feed.AllHalfLives
	return esindex.Known(s)
}

// open creates one of Freshet's own indices with the items.
func open(t testing.TB, items []feed.Item) (*recallelastic.Source, esindex.Client, string) {
	t.Helper()
	address, name := testenv.ReusedElastic(t, "")
	client := clientOf(t, address)
	_, err := esindex.Ensure(t.Context(), client, name, esindex.Fields{})
	require.NoError(t, err)
	require.NoError(t, esindex.AddFields(t.Context(), client, name, esindex.Fields{}, feed.AllHalfLives))
	docs := make([]stored, len(items))
	for i, it := range items {
		docs[i] = stored{it}
	}
	index(t, client, name, docs)
	return recallelastic.New(client, recallelastic.Config{Index: name, Schema: ownSchema()}), client, name
}

func recalled(t testing.TB, s recall.Source, q feed.Query) recall.Result {
	t.Helper()
	r, err := s.Recall(t.Context(), q)
	require.NoError(t, err)
	require.True(t, slices.IsSortedFunc(r.Candidates, func(a, b feed.Candidate) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.UpdateTime, a.UpdateTime), cmp.Compare(a.ID, b.ID))
	}), "score descending, newer first, then id")
	return r
}

func ids(r recall.Result) []string {
	list := []string{}
	for _, c := range r.Candidates {
		list = append(list, c.ID)
	}
	return list
}

func item(id string, age time.Duration, title string, tags ...string) feed.Item {
	return feed.Item{ID: id, Title: title, UpdateTime: origin - int64(age.Seconds()), Tags: tags}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	recalltest.Run(t, func(t *testing.T, items []feed.Item) recall.Source {
		s, client, index := open(t, nil)
		c := newCounting(t, s, client, index)
		c.Upsert(items)
		return c
	})
}

// TestScoreEqualsFormula computes every score a second time, from its definition.
func TestScoreEqualsFormula(t *testing.T) {
	t.Parallel()
	items := []feed.Item{
		item("now", 0, "rust in production", "rust", "go"),
		item("offset", time.Hour, "go go go", "go"),
		item("half", 25*time.Hour, "a long title about rust and other things", "rust"),
		item("old", 30*24*time.Hour, "rust", "rust"),
		item("none", 3*time.Hour, "nothing at all"),
	}
	items[0].Summary, items[2].Summary, items[4].Summary = "the rust book", "go is not rust but rust is not go", "rust"
	items[1].Likes, items[3].Comments = 9, 4000
	s, _, _ := open(t, items)
	profile := feed.Profile{Interests: map[string]float64{"rust": 3, "go": 0.5, "absent": 9}, Keywords: []feed.Keyword{{Term: "rust", Weight: 1}, {Term: "rust book", Weight: 4}, {Term: "title about", Weight: 2}}}
	for _, c := range []struct {
		name   string
		change func(*feed.Query)
	}{
		{"nothing known", func(q *feed.Query) { q.Profile = feed.Profile{} }},
		{"interests", func(q *feed.Query) { q.Profile.Keywords = nil }},
		{"keywords", func(q *feed.Query) { q.Profile.Interests = nil }},
		{"both", func(*feed.Query) {}},
		{"titles alone", func(q *feed.Query) { q.Ranking.KeywordsSummary = 0 }},
		{"summaries alike", func(q *feed.Query) { q.Ranking.KeywordsSummary = 1 }},
		{"no floor", func(q *feed.Query) { q.Ranking.Decay.Floor = 0 }},
		{"high floor", func(q *feed.Query) { q.Ranking.Decay.Floor = 0.25 }},
		{"popularity", func(q *feed.Query) { q.Ranking.PopularityWeight = 0.7 }},
		{"other curve", func(q *feed.Query) {
			q.Ranking.Decay = feed.Decay{Scale: 90 * time.Minute, Offset: 0, Decay: 0.2, Floor: 1e-4}
			q.Ranking.Base = 2
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := ask(profile)
			c.change(&q)
			r := recalled(t, s, q)
			require.Len(t, r.Candidates, len(items))
			for _, got := range r.Candidates {
				i := slices.IndexFunc(items, func(it feed.Item) bool { return it.ID == got.ID })
				it := items[i]
				relevance := q.Ranking.Base
				for _, k := range q.Profile.Keywords {
					switch {
					case strings.Contains(it.Title, k.Term):
						relevance += k.Weight
					case strings.Contains(it.Summary, k.Term):
						relevance += k.Weight * q.Ranking.KeywordsSummary
					}
				}
				for _, tag := range it.Tags {
					relevance += q.Profile.Interests[tag]
				}
				want := relevance * q.Ranking.Decay.Func().At(float64(origin-it.UpdateTime)) * q.Ranking.PopularityFactor(0, 0, float64(it.Popularity()))
				assert.InEpsilon(t, max(want, math.SmallestNonzeroFloat32), max(float64(got.Score), math.SmallestNonzeroFloat32), 2e-6, it.ID)
				assert.Equal(t, feed.Candidate{ID: it.ID, Group: it.ID, Source: recallelastic.Name, UpdateTime: it.UpdateTime, Score: got.Score, Traits: it.Traits()}, got)
			}
		})
	}
}

func TestFilters(t *testing.T) {
	t.Parallel()
	items := []feed.Item{
		item("now", 0, "x"), item("later", -time.Second, "x"), item("day", 24*time.Hour, "x", "ads", "go"),
		item("week", 7*24*time.Hour, "x", "go"), item("month", 30*24*time.Hour, "x"),
	}
	items[0].Lang, items[2].Lang, items[3].Lang = "en", "fr", "en"
	items[2].AuthorID, items[4].AuthorID = "ann", "bob"
	s, _, _ := open(t, items)
	for _, c := range []struct {
		name    string
		profile feed.Profile
		since   int64
		want    []string
	}{
		{"all up to the origin", feed.Profile{}, 0, []string{"now", "day", "week", "month"}},
		{"since", feed.Profile{}, origin - 7*24*3600, []string{"now", "day"}},
		{"just since", feed.Profile{}, origin - 7*24*3600 - 1, []string{"now", "day", "week"}},
		{"language or none", feed.Profile{Langs: []string{"fr", "de"}}, 0, []string{"day", "month"}},
		{"author", feed.Profile{MutedAuthors: []string{"bob", "zoe"}}, 0, []string{"now", "day", "week"}},
		{"tag", feed.Profile{MutedTags: []string{"ads"}, Interests: map[string]float64{"ads": 5}}, 0, []string{"now", "week", "month"}},
		{"all of it", feed.Profile{MutedTags: []string{"ads"}, MutedAuthors: []string{"bob"}, Langs: []string{"en"}}, origin - 10, []string{"now"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := ask(c.profile)
			if c.since != 0 {
				q.Since = time.Unix(c.since, 0)
			}
			require.ElementsMatch(t, c.want, ids(recalled(t, s, q)))
		})
	}
	q := ask(feed.Profile{})
	q.N = 0
	require.Empty(t, recalled(t, s, q))
}

func TestGroupsAndRounds(t *testing.T) {
	t.Parallel()
	var items []feed.Item
	for i := range 60 {
		it := item(fmt.Sprintf("i%02d", i), time.Duration(i/4)*time.Hour, "x") // ties of four; the first ones are within the offset
		if i%3 == 0 {
			it.GroupID = fmt.Sprintf("g%d", i/12)
		}
		items = append(items, it)
	}
	s, _, _ := open(t, items)
	q := ask(feed.Profile{})
	whole := recalled(t, s, q)
	require.Empty(t, whole.Next)
	require.Len(t, whole.Candidates, 40+5)
	for _, c := range whole.Candidates {
		if strings.HasPrefix(c.Group, "g") {
			var n int
			_, err := fmt.Sscanf(c.Group, "g%d", &n)
			require.NoError(t, err)
			require.Equal(t, fmt.Sprintf("i%02d", n*12), c.ID, "the best of its group")
		} else {
			require.Equal(t, c.ID, c.Group)
		}
	}
	q.N = 7
	seen, groups := map[string]bool{}, map[string]bool{}
	var inOrder []string
	rounds := 0
	for ; ; rounds++ {
		r := recalled(t, s, q)
		for _, c := range r.Candidates {
			require.False(t, seen[c.ID], "%s came twice", c.ID)
			seen[c.ID] = true
			if !groups[c.Group] {
				inOrder = append(inOrder, c.ID)
			}
			groups[c.Group] = true
		}
		if q.After = r.Next; q.After == "" {
			break
		}
	}
	require.Equal(t, 60/7, rounds)
	require.Equal(t, ids(whole), inOrder)
}

func TestRealPosts(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	posts := testenv.Posts(t)
	s, _, _ := open(t, posts)
	q := ask(feed.Profile{Interests: map[string]float64{"show-hn": 3, "github.com": 2}})
	last := posts[len(posts)-1].UpdateTime
	for _, p := range posts {
		last = max(last, p.UpdateTime)
	}
	q.Origin, q.N = time.Unix(last, 0), 500
	tags := map[string][]string{}
	for _, p := range posts {
		tags[p.ID] = p.Tags
	}
	r := recalled(t, s, q)
	require.Len(t, r.Candidates, 500)
	require.NotEmpty(t, r.Next)
	for i, c := range r.Candidates[:20] {
		require.Less(t, last-c.UpdateTime, int64(3*24*3600), "recent")
		onTopic := slices.Contains(tags[c.ID], "show-hn") || slices.Contains(tags[c.ID], "github.com")
		require.Equal(t, i < 5, onTopic, "there are five on-topic posts of the last two days; %d has %v", i, tags[c.ID])
	}
	seen := map[string]bool{}
	for range 4 {
		r := recalled(t, s, q)
		for _, c := range r.Candidates {
			require.False(t, seen[c.ID])
			seen[c.ID] = true
		}
		q.After = r.Next
	}
	require.Len(t, seen, 2000)
}
