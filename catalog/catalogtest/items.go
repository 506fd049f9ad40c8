package catalogtest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

func docsInOrder(t *testing.T, c catalog.Catalog) {
	a, b, x := item("order-a", "A"), item("order-b", "B"), item("order-c", "C")
	put(t, c, a, b, x)

	got := docs(t, c, "order-c", "order-nowhere", "order-a", "order-c", "order-b", "order-nowhere")
	requireItem(t, x, got[0])
	require.True(t, got[1].Missing())
	requireItem(t, a, got[2])
	requireItem(t, x, got[3])
	requireItem(t, b, got[4])
	require.True(t, got[5].Missing())

	require.Empty(t, docs(t, c), "no ids, no docs")
	require.True(t, docs(t, c, "order-nowhere")[0].Missing())
	require.True(t, docs(t, c, "ORDER-A")[0].Missing(), "ids are case-sensitive")
}

func oddIDs(t *testing.T, c catalog.Catalog) {
	ids := []string{
		"odd/a/b:c@d.e-f_0", "/", ":", "..", ".", "-", "_", "@", "_search", "odd/../x", "//",
		"https://example.org/?p=12", "odd/?a=1&b=2#c", "tag:example.org,2024:1", "odd%2Fx", "odd%20+x", "%", "#", "?", "*", "odd~[x]!$'(y)*,;=", "+", "&",
		strings.Repeat("z", feed.MaxItemID),
	}
	items := make([]feed.Item, len(ids))
	for i, id := range ids {
		require.NoError(t, feed.CheckItemID(id))
		items[i] = item(id, fmt.Sprintf("Odd %d", i))
	}
	put(t, c, items...)
	for i, d := range docs(t, c, ids...) {
		requireItem(t, items[i], d)
	}
	for _, id := range ids {
		require.NoError(t, c.Remove(t.Context(), id), "remove %q", id)
		require.True(t, docs(t, c, id)[0].Missing(), "%q is removed", id)
	}
}

func replaces(t *testing.T, c catalog.Catalog) {
	old := item("replace-1", "Old")
	old.Summary, old.Likes, old.Lang = "goes away", 7, "en"
	old.Business = map[string]json.RawMessage{"gone": json.RawMessage(`1`)}
	other := item("replace-2", "Bystander")
	put(t, c, old, other)
	requireItem(t, old, docs(t, c, old.ID)[0])

	renewed := item(old.ID, "New")
	renewed.Tags = []string{"rust"}
	put(t, c, renewed)
	got := docs(t, c, old.ID, other.ID)
	requireItem(t, renewed, got[0])
	requireItem(t, other, got[1])

	put(t, c, renewed)
	requireItem(t, renewed, docs(t, c, old.ID)[0])
}

func laterWins(t *testing.T, c catalog.Catalog) {
	first, second, third := item("twice-1", "First"), item("twice-1", "Second"), item("twice-1", "Third")
	between := item("twice-2", "Between")
	put(t, c, first, between, second, third)
	got := docs(t, c, third.ID, between.ID)
	requireItem(t, third, got[0])
	requireItem(t, between, got[1])
}

func putNothing(t *testing.T, c catalog.Catalog) {
	perItem, err := c.Put(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, perItem)
}

func everyField(t *testing.T, c catalog.Catalog) {
	full := feed.Item{
		ID: "every-1", GroupID: "story/1", Title: `Quotes " and <tags> & 日本語 👩‍👩‍👧 ` + "\u2028", UpdateTime: feed.MaxItemTime,
		Summary: "Line one\nline two\t\u0001 end", URL: "https://example.com/?a=1&b=<2>", ImageURL: "https://example.com/i.png",
		AuthorID: "Zoë Müller", Lang: "pt-BR", Tags: []string{"c++", "日本", "a.b", "a b"}, Likes: 1 << 53, Comments: 1 << 52,
	}
	least := feed.Item{ID: "every-2", Title: "x", UpdateTime: 1}
	put(t, c, full, least)
	got := docs(t, c, full.ID, least.ID)
	requireItem(t, full, got[0])
	requireItem(t, least, got[1])
}

// hostileTexts checks that texts with a special meaning elsewhere are stored and returned
// unchanged.
func hostileTexts(t *testing.T, c catalog.Catalog) {
	var items []feed.Item
	var ids []string
	for i, text := range testenv.HostileTexts {
		quoted, err := json.Marshal(text)
		require.NoError(t, err)
		it := item(fmt.Sprint("hostile-", i), text)
		it.Summary, it.URL, it.ImageURL, it.AuthorID, it.Lang, it.Tags = text, text, text, text, text, []string{text}
		it.Business = map[string]json.RawMessage{"business": quoted}
		items, ids = append(items, it), append(ids, it.ID)

		p := feed.Profile{
			Interests: map[string]float64{text: 100}, Keywords: feed.Keywords(text), Langs: []string{text},
			MutedAuthors: []string{text}, MutedTags: []string{text},
		}
		agent := fmt.Sprint("u_hostile_", i)
		require.NoError(t, PutProfile(t.Context(), c, agent, p))
		requireProfile(t, c, agent, p)
	}
	put(t, c, items...)
	for i, d := range docs(t, c, ids...) {
		requireItem(t, items[i], d)
	}
}

func businessFields(t *testing.T, c catalog.Catalog) {
	it := item("business-1", "Business")
	it.Business = map[string]json.RawMessage{
		"null":       json.RawMessage(`null`),
		"yes":        json.RawMessage(`true`),
		"no":         json.RawMessage(`false`),
		"zero":       json.RawMessage(`0`),
		"big":        json.RawMessage(`123456789012345678901234567890`),
		"past_int64": json.RawMessage(`9223372036854775808`),
		"fraction":   json.RawMessage(`0.1000000000000000055511151231257827`),
		"trailing":   json.RawMessage(`1.50`),
		"exponent":   json.RawMessage(`-6.02e+23`),
		"text":       json.RawMessage(`"a \"quoted\" <b> \\ é 👍 \u0000 end"`),
		"empty":      json.RawMessage(`""`),
		"list":       json.RawMessage(`[1,"two",[3,[4,{}]],null]`),
		"no_list":    json.RawMessage(`[]`),
		"object":     json.RawMessage(`{"a":{"b":{"c":[{"d":1.10}]}},"title":"inner","id":9,"":0}`),
		"no_object":  json.RawMessage(`{}`),
		"Größe 尺寸":   json.RawMessage(`"unicode name"`),
		"shop.price": json.RawMessage(`9.90`),
		"CamelCase":  json.RawMessage(`1`),
	}
	// The same fields with other JSON types. A store that derives a type from the first item
	// would reject these.
	swapped := item("business-2", "Business, other types")
	swapped.Business = map[string]json.RawMessage{
		"yes": json.RawMessage(`{"now":"an object"}`), "zero": json.RawMessage(`"not a number"`), "big": json.RawMessage(`[false]`),
		"text": json.RawMessage(`7`), "list": json.RawMessage(`"2026-03-06"`), "object": json.RawMessage(`"flat"`),
	}
	put(t, c, it, swapped)
	got := docs(t, c, it.ID, swapped.ID)
	requireItem(t, it, got[0])
	requireItem(t, swapped, got[1])
}

func bigItems(t *testing.T, c catalog.Catalog) {
	const size = 200 << 10
	summary := item("big-1", "A long summary")
	summary.Summary = strings.Repeat("wörd ", size/6)
	business := item("big-2", "A long business field")
	business.Business = map[string]json.RawMessage{"body": json.RawMessage(`"` + strings.Repeat("x", size) + `"`)}
	many := item("big-3", "Many business fields")
	many.Business = map[string]json.RawMessage{}
	for i := range 3000 {
		many.Business[fmt.Sprintf("field_%d", i)] = json.RawMessage(fmt.Sprint(i))
	}
	put(t, c, summary, business, many)
	got := docs(t, c, summary.ID, business.ID, many.ID)
	requireItem(t, summary, got[0])
	requireItem(t, business, got[1])
	requireItem(t, many, got[2])
}

func bigBatch(t *testing.T, c catalog.Catalog) {
	items := make([]feed.Item, 2000)
	for i := range items {
		items[i] = item(fmt.Sprintf("batch-%04d", i), fmt.Sprintf("Item %d", i))
		items[i].UpdateTime += int64(i)
	}
	put(t, c, items...)
	for start := 0; start < len(items); start += 500 {
		part := items[start : start+500]
		ids := make([]string, len(part))
		for i := range part {
			ids[i] = part[len(part)-1-i].ID
		}
		for i, d := range docs(t, c, ids...) {
			requireItem(t, part[len(part)-1-i], d)
		}
	}
}

func remove(t *testing.T, c catalog.Catalog) {
	a, b := item("remove-1", "Goes"), item("remove-2", "Stays")
	put(t, c, a, b)
	docs(t, c, a.ID, b.ID)

	require.NoError(t, c.Remove(t.Context(), a.ID))
	got := docs(t, c, a.ID, b.ID)
	require.True(t, got[0].Missing())
	requireItem(t, b, got[1])

	require.ErrorIs(t, c.Remove(t.Context(), a.ID), feed.ErrNotFound)
	require.ErrorIs(t, c.Remove(t.Context(), "remove-never"), feed.ErrNotFound)

	again := item(a.ID, "Back")
	put(t, c, again)
	requireItem(t, again, docs(t, c, a.ID)[0])
}

func hydrate(t *testing.T, c catalog.Catalog) {
	a, b := item("hydrate-1", "A"), item("hydrate-2", "B")
	put(t, c, a, b)
	profile := feed.Profile{Interests: map[string]float64{"go": 2.5}, MutedTags: []string{"ads"}}
	require.NoError(t, PutProfile(t.Context(), c, "hydrated", profile))

	// Twice, so that a cache answers once from the catalog and once from memory.
	for range 2 {
		got, p, err := c.Hydrate(t.Context(), "hydrated", []string{b.ID, "hydrate-none", a.ID, b.ID})
		require.NoError(t, err)
		require.Len(t, got, 4)
		requireItem(t, b, got[0])
		require.Equal(t, feed.Doc{ID: "hydrate-none"}, got[1])
		requireItem(t, a, got[2])
		requireItem(t, b, got[3])
		require.Equal(t, profile, p)

		got, p, err = c.Hydrate(t.Context(), "unhydrated", []string{a.ID})
		require.NoError(t, err, "an agent without a profile is no error")
		requireItem(t, a, got[0])
		require.Equal(t, feed.Profile{}, p)

		got, p, err = c.Hydrate(t.Context(), "hydrated", nil)
		require.NoError(t, err)
		require.Empty(t, got)
		require.Equal(t, profile, p)
	}

	require.NoError(t, c.Remove(t.Context(), a.ID))
	require.NoError(t, c.RemoveProfile(t.Context(), "hydrated"))
	got, p, err := c.Hydrate(t.Context(), "hydrated", []string{a.ID, b.ID})
	require.NoError(t, err)
	require.True(t, got[0].Missing())
	requireItem(t, b, got[1])
	require.Equal(t, feed.Profile{}, p)
}
