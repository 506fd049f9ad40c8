package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// zeros returns the zero value of each optional field of the item's schema, from the description of
// the routes.
func zeros(t *testing.T, a *App) map[string]json.RawMessage {
	t.Helper()
	w := httptest.NewRecorder()
	a.Handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/openapi.json", nil))
	var described struct {
		Components struct {
			Schemas struct {
				Item struct {
					Required   []string
					Properties map[string]struct{ Type string }
				}
			}
		}
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &described))
	schema, all := described.Components.Schemas.Item, map[string]json.RawMessage{}
	for name, property := range schema.Properties {
		all[name] = map[string]json.RawMessage{"string": []byte(`""`), "integer": []byte(`0`), "array": []byte(`[]`)}[property.Type]
	}
	for _, name := range schema.Required {
		delete(all, name)
	}
	require.Len(t, all, 9, "a new field of an item belongs in optionalFields of feed/itemsent.go")
	return all
}

// itemFields are the fields of an item in an answer, without in_feed.
type itemFields map[string]json.RawMessage

// TestZeroFieldsReturned sends the zero value of each field of an item, and of all of them: every
// route that returns items returns what was sent, and nothing that was not.
func TestZeroFieldsReturned(t *testing.T) {
	t.Parallel()
	for _, mode := range modes {
		t.Run(mode.name, func(t *testing.T) {
			t.Parallel()
			cfg := mode.config(t)
			cfg.Auth.AdminToken = "test-admin-token-of-enough-length"
			a := open(t, cfg, WithClock(at(noon).Now))
			all, want := zeros(t, a), map[string]itemFields{}
			text := func(value any) json.RawMessage { return json.RawMessage(asJSON(t, value)) }
			add := func(id string, fields map[string]json.RawMessage) {
				want[id] = itemFields{"id": text(id), "title": text("Title " + id), "update_time": text(noon.Unix() - 60)}
				maps.Copy(want[id], fields)
			}
			add("none", nil)
			add("all", all)
			for name, value := range all {
				add(name, map[string]json.RawMessage{name: value})
			}
			askAdmin[struct{}](t, a, http.MethodPost, "/v1/items", itemList(t, want))
			refreshIndex(t, a)

			type page struct{ Items []itemFields }
			equal := func(where string, it itemFields) {
				t.Helper()
				delete(it, "in_feed")
				var id string
				require.NoError(t, json.Unmarshal(it["id"], &id))
				assert.Equal(t, asJSON(t, want[id]), asJSON(t, it), where)
			}
			check := func(where string, got page) {
				t.Helper()
				require.Len(t, got.Items, len(want), where)
				for _, it := range got.Items {
					equal(where, it)
				}
			}
			everywhere := func(reader string) {
				t.Helper()
				check("a list", askAdmin[page](t, a, http.MethodGet, "/v1/items", ""))
				for id := range want {
					equal("one item", askAdmin[itemFields](t, a, http.MethodGet, "/v1/items/"+id, ""))
				}
				for _, feed := range []string{"for_you", "home"} {
					var answer struct{ Data page }
					callJSON(t, a, http.MethodPost, "/v1/feed", reader+feed, fmt.Sprintf(`{"action":"refresh","feed":%q,"limit":50}`, feed), &answer)
					check(feed, answer.Data)
				}
			}
			everywhere("a")
			var guest struct{ Data page }
			callJSON(t, a, http.MethodGet, "/v1/feed/guest?limit=50", "u_1", "", &guest)
			check("guest", guest.Data)

			// A patch sets and removes them, and a report of counts sets its own.
			patched := askAdmin[itemFields](t, a, http.MethodPatch, "/v1/items/none", asJSON(t, all))
			maps.Copy(want["none"], all)
			assert.Equal(t, asJSON(t, want["none"]), asJSON(t, patched))
			add("all", nil)
			patched = askAdmin[itemFields](t, a, http.MethodPatch, "/v1/items/all", asJSON(t, nulls(all)))
			assert.Equal(t, asJSON(t, want["all"]), asJSON(t, patched))
			askAdmin[struct{}](t, a, http.MethodPost, "/v1/items/counts", `[{"id":"lang","likes":0,"comments":0},{"id":"likes","likes":5},{"id":"comments","likes":5}]`)
			askAdmin[struct{}](t, a, http.MethodPost, "/v1/items/counts", `[{"id":"comments","likes":0}]`)
			want["lang"]["likes"], want["lang"]["comments"], want["likes"]["likes"], want["comments"]["likes"] = text(0), text(0), text(5), text(0)
			refreshIndex(t, a)
			everywhere("b")
		})
	}
}

func itemList(t *testing.T, items map[string]itemFields) string {
	t.Helper()
	var list []itemFields
	for _, it := range items {
		list = append(list, it)
	}
	return asJSON(t, list)
}

func nulls(fields map[string]json.RawMessage) map[string]any {
	all := map[string]any{}
	for name := range fields {
		all[name] = nil
	}
	return all
}
