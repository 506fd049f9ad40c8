package catalog_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	catalogsqlite "github.com/freshet/freshet/catalog/sqlite"
	"github.com/freshet/freshet/feed"
)

func TestPatch(t *testing.T) {
	t.Parallel()
	items, err := catalogsqlite.Open(t.Context(), filepath.Join(t.TempDir(), "catalog.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, items.Close()) })
	in := catalog.NewIngest(items, catalog.IngestConfig{GroupByURL: true})
	const was = `{"id":"a","group_id":"g","title":"T","update_time":5,"summary":"S","tags":["x"],"likes":3,"o":{"k":1.50,"l":"<"}}`
	for _, tt := range []struct {
		name, id, patch, want string
		is                    error
	}{
		{"a field", "a", `{"likes":4}`, `{"id":"a","group_id":"g","title":"T","update_time":5,"summary":"S","tags":["x"],"likes":4,"o":{"k":1.50,"l":"<"}}`, nil},
		{"nothing", "a", `{}`, was, nil},
		{"the same id", "a", `{"id":"a"}`, was, nil},
		{"null removes", "a", `{"summary":null,"tags":null,"o":null}`, `{"id":"a","group_id":"g","title":"T","update_time":5,"likes":3}`, nil},
		{
			"objects are merged", "a", `{"o":{"k":null,"m":{"n":2.0,"p":null}}}`,
			`{"id":"a","group_id":"g","title":"T","update_time":5,"summary":"S","tags":["x"],"likes":3,"o":{"l":"<","m":{"n":2.0}}}`, nil,
		},
		{"another id", "a", `{"id":"b"}`, "cannot be changed", feed.ErrInvalid},
		{"a required field", "a", `{"title":null}`, "title is missing", feed.ErrInvalid},
		{"a wrong value", "a", `{"likes":-1}`, "must be 0 to 2^53", feed.ErrInvalid},
		{"a reserved name", "a", `{"in_feed":1}`, "in_feed", feed.ErrInvalid},
		{"twice", "a", `{"likes":1,"likes":2}`, "likes", feed.ErrInvalid},
		{"no object", "a", `[1]`, "must be a JSON object", feed.ErrInvalid},
		{"empty", "a", ``, "must be a JSON object", feed.ErrInvalid},
		{"cut", "a", `{"likes":`, "", feed.ErrInvalid},
		{"unknown", "b", `{"likes":1}`, "not found", feed.ErrNotFound},
		{"a post", "post:1", `{"likes":1}`, "PATCH /v1/posts", feed.ErrBadID},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before, err := feed.ParseItem([]byte(was))
			require.NoError(t, err)
			_, err = items.Put(t.Context(), []feed.Item{before})
			require.NoError(t, err)
			got, err := in.Patch(t.Context(), tt.id, []byte(tt.patch))
			docs, readErr := items.Docs(t.Context(), []string{"a"})
			require.NoError(t, readErr)
			if tt.is != nil {
				require.ErrorIs(t, err, tt.is)
				require.ErrorContains(t, err, tt.want)
				require.JSONEq(t, was, string(docs[0].JSON), "nothing is changed")
				return
			}
			require.NoError(t, err)
			require.JSONEq(t, tt.want, string(docs[0].JSON))
			returned, err := json.Marshal(got)
			require.NoError(t, err)
			require.JSONEq(t, tt.want, string(returned))
			if tt.patch == `{}` {
				require.Contains(t, string(docs[0].JSON), `"k":1.50`, "what is not touched keeps its digits")
			}
		})
	}
	t.Run("the group of a link follows the link", func(t *testing.T) {
		const first, second = "https://example.com/1", "https://example.com/2"
		_, err := items.Put(t.Context(), []feed.Item{{ID: "l", Title: "T", UpdateTime: 1, URL: first, GroupID: feed.URLGroup(first)}})
		require.NoError(t, err)
		got, err := in.Patch(t.Context(), "l", []byte(`{"url":"`+second+`"}`))
		require.NoError(t, err)
		require.Equal(t, feed.URLGroup(second), got.GroupID)
		got, err = in.Patch(t.Context(), "l", []byte(`{"url":"`+first+`","group_id":"own"}`))
		require.NoError(t, err)
		require.Equal(t, "own", got.GroupID)
	})
}
