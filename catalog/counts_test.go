package catalog_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	catalogsqlite "github.com/freshet/freshet/catalog/sqlite"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/ndjson"
)

func TestCounts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, body string
		a, b       [2]int64 // likes and comments afterwards; before: 1, 2 and 3, 4
		rejected   []string // beginnings of "line id: reason"
	}{
		{name: "lines", body: `{"id":"a","likes":10,"comments":20}` + "\n" + `{"id":"b","likes":0,"comments":0}`, a: [2]int64{10, 20}},
		{name: "an array", body: `[{"id":"a","likes":10}, {"id":"b","comments":5}]`, a: [2]int64{10, 2}, b: [2]int64{3, 5}},
		{name: "null is left out", body: `{"id":"a","likes":null,"comments":7}`, a: [2]int64{1, 7}, b: [2]int64{3, 4}},
		{name: "the later holds", body: `[{"id":"a","likes":10,"comments":20},{"id":"b","likes":5},{"id":"a","likes":11}]`, a: [2]int64{11, 20}, b: [2]int64{5, 4}},
		{name: "a later batch holds", body: strings.Repeat(`{"id":"a","likes":10}`+"\n", 3) + `{"id":"a","likes":11}`, a: [2]int64{11, 2}, b: [2]int64{3, 4}},
		{name: "the largest", body: `{"id":"a","likes":9007199254740992,"comments":4503599627370496}`, a: [2]int64{1 << 53, 1 << 52}, b: [2]int64{3, 4}},
		{
			name: "bad entries between good ones", body: strings.Join([]string{
				`{"id":"a","likes":10}`, `{"id":"never","likes":1}`, `{"id":"a","likes":-1}`, `{"id":"a","comments":4503599627370497}`, `{"id":"a"}`,
				`{"likes":1}`, `{"id":"x y","likes":1}`, `{"id":"post:1","likes":1}`, `{"id":"a","likes":1.5}`, `{"id":"a","title":"T"}`,
				`{"id":"a","likes":1,"likes":2}`, `7`, `{"id":"b","likes":"5"}`, `{"id":"never","likes":2}`, `{"id":"b","comments":6}`,
			}, "\n"), a: [2]int64{10, 2}, b: [2]int64{3, 6},
			rejected: []string{
				"2 never: item never: not found", "3 a: likes must be 0 to 2^53", "4 a: likes must be 0 to 2^53", "5 a: likes and comments are missing",
				"6 : id is missing", "7 x y: bad id", "8 post:1: it is a post", "9 a: likes", `10 a: unknown field "title"`,
				`11 a: duplicate field "likes"`, "12 : the JSON must be an object", "13 b: likes", "14 never: item never: not found",
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			items, err := catalogsqlite.Open(t.Context(), filepath.Join(t.TempDir(), "catalog.db"))
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, items.Close()) })
			stored := []feed.Item{
				{ID: "a", Title: "A", UpdateTime: 1, Likes: 1, Comments: 2, Tags: []string{"x"}},
				{ID: "b", Title: "B", UpdateTime: 2, Likes: 3, Comments: 4},
			}
			_, err = items.Put(t.Context(), stored)
			require.NoError(t, err)
			in := catalog.NewIngest(items, catalog.IngestConfig{Config: ndjson.Config{Batch: 3}})
			for range 2 {
				report, err := in.Counts(t.Context(), strings.NewReader(tt.body))
				require.NoError(t, err)
				require.Equal(t, len(tt.rejected), report.Rejected, told(report))
				for i, want := range tt.rejected {
					require.True(t, strings.HasPrefix(told(report)[i], want), "%s is not %s", told(report)[i], want)
				}
				docs, err := items.Docs(t.Context(), []string{"a", "b"})
				require.NoError(t, err)
				for i, want := range [][2]int64{tt.a, tt.b} {
					it, err := docs[i].Item()
					require.NoError(t, err)
					expected := stored[i]
					expected.Likes, expected.Comments = want[0], want[1]
					expected.Sent = it.Sent
					require.Equal(t, expected, it)
				}
			}
		})
	}
}

// TestCountsCatalogDown has an unavailable catalog.
func TestCountsCatalogDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, countsThatCannotBeStored)
}

func countsThatCannotBeStored(t *testing.T) {
	in := catalog.NewIngest(&shelf{}, catalog.IngestConfig{})
	report, err := in.Counts(t.Context(), strings.NewReader(`{"id":"a","likes":1}`+"\n"+`{"id":"b"}`))
	require.ErrorIs(t, err, catalog.ErrUnavailable)
	require.Zero(t, report.Accepted)
	require.Equal(t, []string{"2 b: likes and comments are missing; send at least one of them"}, told(report))
	for _, body := range []string{"", " \n", `[{"id":"a","likes":1}`} {
		_, err := in.Counts(t.Context(), strings.NewReader(body))
		require.Error(t, err, fmt.Sprintf("%q", body))
	}
}
