// Package catalogtest is the conformance suite of the catalog contract. Every
// backend, and every cache in front of one, passes it:
//
//	func TestConformance(t *testing.T) {
//		catalogtest.Run(t, func(t *testing.T) catalog.Catalog { return open(t) })
//	}
package catalogtest

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
)

// Run checks the whole contract. It opens one catalog, which must be empty, and each check uses
// separate ids in it.
func Run(t *testing.T, open func(t *testing.T) catalog.Catalog) {
	c := open(t)
	for _, check := range []struct {
		name string
		run  func(t *testing.T, c catalog.Catalog)
	}{
		{"Docs/order, missing and duplicates", docsInOrder},
		{"Docs/every id of the alphabet", oddIDs},
		{"Put/only newer ones", onlyNewer},
		{"Put/replaces by id", replaces},
		{"Put/later of a batch wins", laterWins},
		{"Put/nothing", putNothing},
		{"Put/every field", everyField},
		{"Put/business fields", businessFields},
		{"Put/hostile texts", hostileTexts},
		{"Put/big items", bigItems},
		{"Put/big batch", bigBatch},
		{"Update", update},
		{"Update/many", updateMany},
		{"Update/removes", updateRemoves},
		{"Update/at once", updatedAtOnce},
		{"Remove", remove},
		{"Profiles", profiles},
		{"Profiles/replaced whole", profileReplacedWhole},
		{"Profiles/largest", largestProfile},
		{"Profiles/many", manyProfiles},
		{"Profiles/edited", edited},
		{"Profiles/edited at once", editedAtOnce},
		{"Profiles/muted items", mutedItems},
		{"Profiles/muted items at once", mutedAtOnce},
		{"Learn/apart from the profile", learnedApart},
		{"Learn/most", mostLearned},
		{"Learn/at once", learnedAtOnce},
		{"Learn/erased", learnedErased},
		{"Learn/clock ahead", learnedAhead},
		{"Hydrate", hydrate},
		{"concurrent put and read", concurrentPutAndRead},
		{"concurrent profiles", concurrentProfiles},
		{"cancelled context", cancelled},
	} {
		t.Run(check.name, func(t *testing.T) { check.run(t, c) })
	}
}

// item returns a small valid item.
func item(id, title string) feed.Item {
	return feed.Item{ID: id, Title: title, UpdateTime: 1_772_000_000, Tags: []string{"go", "databases"}}
}

func put(t *testing.T, c catalog.Catalog, items ...feed.Item) {
	t.Helper()
	perItem, err := c.Put(t.Context(), items)
	require.NoError(t, err)
	require.Nil(t, perItem, "Put answers nil when every item is stored")
}

// docs calls Docs and checks the properties of every result.
func docs(t *testing.T, c catalog.Reader, ids ...string) []feed.Doc {
	t.Helper()
	got, err := c.Docs(t.Context(), ids)
	require.NoError(t, err)
	require.Len(t, got, len(ids), "one Doc per id")
	for i, d := range got {
		require.Equal(t, ids[i], d.ID, "Docs keeps the order of the ids")
	}
	return got
}

// requireItem compares decoded values, because a backend may store the same JSON with other
// whitespace or escapes.
func requireItem(t *testing.T, want feed.Item, d feed.Doc) {
	t.Helper()
	require.False(t, d.Missing(), "%s is missing", want.ID)
	got, err := d.Item()
	require.NoError(t, err)
	RequireEqual(t, want, got)
}

// RequireEqual fails the test unless the items are equal. Business fields are compared by
// value, their numbers digit for digit.
func RequireEqual(t testing.TB, want, got feed.Item) {
	t.Helper()
	require.Equal(t, business(t, want), business(t, got), "business fields of %s", want.ID)
	want.Business, got.Business = nil, nil
	if len(want.Tags) == 0 && len(got.Tags) == 0 {
		want.Tags, got.Tags = nil, nil
	}
	require.Equal(t, want, got)
}

func business(t testing.TB, it feed.Item) map[string]any {
	t.Helper()
	values := make(map[string]any, len(it.Business))
	for name, raw := range it.Business {
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		var v any
		require.NoError(t, dec.Decode(&v), "business field %q of %s", name, it.ID)
		values[name] = v
	}
	return values
}
