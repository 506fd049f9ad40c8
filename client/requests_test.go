package client_test

import (
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/feed"
)

// sends has the type that the client sends for each operation with a JSON body. A nil type is sent
// as the caller gives it, or as a map or struct whose fields are always written.
var sends = map[string]reflect.Type{
	"POST /v1/feed":                                reflect.TypeFor[client.Ask](),
	"POST /v1/events":                              reflect.TypeFor[client.Event](),
	"POST /v1/posts":                               reflect.TypeFor[client.NewPost](),
	"PATCH /v1/posts/{id}":                         reflect.TypeFor[client.PostEdit](),
	"PUT /v1/authors/{id}":                         reflect.TypeFor[client.AuthorCard](),
	"PUT /v1/circles/{id}":                         reflect.TypeFor[client.CircleChange](),
	"PUT /v1/agents/{agent_id}/profile":            reflect.TypeFor[feed.Profile](),
	"PATCH /v1/agents/{agent_id}/profile":          reflect.TypeFor[feed.Profile](),
	"POST /v1/items":                               reflect.TypeFor[feed.Item](),
	"POST /v1/explain":                             reflect.TypeFor[client.ExplainAsk](),
	"PUT /v1/ranking":                              reflect.TypeFor[client.RankingChange](),
	"PUT /v1/feeds/{name}":                         reflect.TypeFor[client.FeedChange](),
	"POST /v1/compare":                             reflect.TypeFor[client.CompareRequest](),
	"POST /v1/replay":                              reflect.TypeFor[client.ReplayRequest](),
	"PUT /v1/promoted/{id}":                        reflect.TypeFor[client.PromotionChange](),
	"POST /v1/impressions":                         nil, // Seen: ids
	"POST /v1/agents/{agent_id}/following":         nil, // FollowMany: authors
	"POST /v1/authors/cards":                       nil, // AuthorCards: authors
	"PATCH /v1/items/{id}":                         nil, // PatchItem: a map
	"PATCH /v1/authors/{id}":                       nil, // PatchAuthor: as given
	"PATCH /v1/circles/{id}":                       nil, // PatchCircle: as given
	"POST /v1/items/counts":                        nil, // IngestCounts: lines
	"POST /v1/ranking/revert":                      nil, // RevertRanking: version, by, why
	"POST /v1/jobs":                                nil, // DeriveAgain: post
	"POST /v1/jobs/rederive":                       nil, // Rederive: cursor, limit
	"POST /v1/moderation":                          reflect.TypeFor[client.Moderation](),
	"POST /v1/posts/{id}/report":                   nil, // ReportObject: reason, details
	"POST /v1/items/{id}/report":                   nil, // the same
	"POST /v1/authors/{id}/report":                 nil, // the same
	"POST /v1/circles/{id}/report":                 nil, // the same
	"PUT /v1/agents/{agent_id}/notifications/seen": nil, // SeeNotifications: marker
}

// whole are the operations whose body replaces or creates all of a thing: there a field that is
// left out and an empty one mean the same.
var whole = []string{
	"POST /v1/posts", "PUT /v1/authors/{id}", "PUT /v1/circles/{id}", "PUT /v1/agents/{agent_id}/profile", "POST /v1/items", "PUT /v1/promoted/{id}", "PUT /v1/feeds/{name}",
}

// unset are the fields of which a zero is documented to mean "not given", where the server takes
// the zero, too: it means nothing else there.
var unset = []string{
	"PUT /v1/ranking by", "PUT /v1/ranking why", "POST /v1/moderation reason", // texts about the change
	"POST /v1/moderation until",                     // no suspension
	"PATCH /v1/agents/{agent_id}/profile interests", // in a merge patch an empty map changes nothing
}

// TestRequestFieldsSent gives each field of each request, by the OpenAPI document, its empty,
// least and greatest value. The client sends it, unless the server would refuse the value or use
// it by default.
func TestRequestFieldsSent(t *testing.T) {
	t.Parallel()
	var known []string
	for op, schema := range bodies(t) {
		known = append(known, op)
		sent := sends[op]
		if sent == nil {
			continue
		}
		for name, property := range schema.Properties {
			if name == "images" || name == "learned" { // sent as parts of a form; never sent
				continue
			}
			field, ok := fieldNamed(sent, name)
			if !assert.True(t, ok, "%s: the client has no field for %s", op, name) {
				continue
			}
			for _, value := range edges(field.Type, property.Value) {
				body := reflect.New(sent).Elem()
				body.FieldByIndex(field.Index).Set(value)
				data, err := json.Marshal(body.Interface())
				require.NoError(t, err)
				var object map[string]json.RawMessage
				require.NoError(t, json.Unmarshal(data, &object))
				if raw, isSent := object[name]; isSent {
					back := reflect.New(field.Type)
					require.NoError(t, json.Unmarshal(raw, back.Interface()), "%s %s: %s", op, name, raw)
					assert.NotEqual(t, "null", string(raw), "%s %s", op, name)
					assert.EqualValues(t, value.Interface(), back.Elem().Interface(), "%s %s", op, name)
					continue
				}
				may := slices.Contains(whole, op) || slices.Contains(unset, op+" "+name) || isDefault(property.Value, value) || isRefused(property.Value, value)
				assert.True(t, may, "%s: the client leaves out %s = %#v", op, name, value.Interface())
			}
		}
	}
	var listed []string
	for op := range sends {
		listed = append(listed, op)
	}
	assert.ElementsMatch(t, listed, known, "every operation with a JSON body is listed")
}

// bodies returns the schemas of the objects that operations take, by operation.
func bodies(t *testing.T) map[string]*openapi3.Schema {
	t.Helper()
	h, stop := embedded(asShipped)
	t.Cleanup(stop)
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/openapi.json", nil))
	doc, err := openapi3.NewLoader().LoadFromData(answer.Body.Bytes())
	require.NoError(t, err)
	all := map[string]*openapi3.Schema{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if op.RequestBody == nil {
				continue
			}
			content := op.RequestBody.Value.Content.Get("application/json")
			if content == nil {
				continue // graph events
			}
			schema := content.Schema.Value
			switch {
			case len(schema.OneOf) > 0:
				schema = schema.OneOf[0].Value
			case schema.Type.Is("array"):
				schema = schema.Items.Value
			}
			all[method+" "+path] = schema
		}
	}
	return all
}

// fieldNamed finds the field with a name in JSON.
func fieldNamed(of reflect.Type, name string) (reflect.StructField, bool) {
	for _, field := range reflect.VisibleFields(of) {
		if called, _, _ := strings.Cut(field.Tag.Get("json"), ","); called == name {
			return field, true
		}
	}
	return reflect.StructField{}, false
}

// edges returns the values of a field to send: empty, and the bounds of a number. A pointer to a
// value is given, nil is not.
func edges(of reflect.Type, schema *openapi3.Schema) []reflect.Value {
	switch of.Kind() {
	case reflect.Pointer:
		var all []reflect.Value
		for _, value := range edges(of.Elem(), schema) {
			p := reflect.New(of.Elem())
			p.Elem().Set(value)
			all = append(all, p)
		}
		return all
	case reflect.Slice:
		if of == reflect.TypeFor[json.RawMessage]() {
			return []reflect.Value{reflect.ValueOf(json.RawMessage(`{}`))}
		}
		return []reflect.Value{reflect.MakeSlice(of, 0, 0)}
	case reflect.Map:
		return []reflect.Value{reflect.MakeMap(of)}
	case reflect.Struct:
		return edgesOf(reflect.Zero(of).Interface())
	}
	all := []reflect.Value{reflect.Zero(of)}
	for _, bound := range []*float64{schema.Min, schema.Max} {
		if bound != nil && *bound <= math.MaxInt32 {
			all = append(all, reflect.ValueOf(*bound).Convert(of))
		}
	}
	return all
}

// edgesOf returns the values to send of a struct. The zero time is no time that the server takes.
func edgesOf(zero any) []reflect.Value {
	first, last := time.Unix(1, 0).UTC(), time.Unix(feed.MaxItemTime, 0).UTC()
	switch zero.(type) {
	case time.Time:
		return []reflect.Value{reflect.ValueOf(first), reflect.ValueOf(last)}
	case feed.Moment:
		return []reflect.Value{reflect.ValueOf(feed.Moment{Time: first}), reflect.ValueOf(feed.Moment{Time: last})}
	case feed.Ranking:
		off := feed.DefaultRanking()
		off.Explore, off.PopularityWeight, off.Popularity2h, off.Popularity2d = feed.Explore{}, 0, 0, 0
		return []reflect.Value{reflect.ValueOf(off)}
	}
	return []reflect.Value{reflect.ValueOf(zero)}
}

// isDefault reports whether the server uses the value if the field is left out.
func isDefault(schema *openapi3.Schema, value reflect.Value) bool {
	data, _ := json.Marshal(value.Interface())
	used, _ := json.Marshal(schema.Default)
	return schema.Default != nil && string(data) == string(used)
}

// isRefused reports whether the description forbids the value.
func isRefused(schema *openapi3.Schema, value reflect.Value) bool {
	data, _ := json.Marshal(value.Interface())
	var v any
	_ = json.Unmarshal(data, &v)
	return schema.VisitJSON(v) != nil
}

// TestZeroValuesRoundTrip sends zeros, empty lists and bounds to a real server, and reads them
// back.
func TestZeroValuesRoundTrip(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	reader, admin := newPair(t, asShipped)

	for _, count := range []int64{0, 1 << 52} {
		item := feed.Item{ID: "i", Title: "T", UpdateTime: 1, Likes: count, Comments: count / 2}
		require.NoError(t, admin.PutItem(ctx, item))
		got, err := admin.Item(ctx, "i")
		require.NoError(t, err)
		require.Equal(t, item, got)
	}
	item, err := admin.PatchItem(ctx, "i", map[string]any{"likes": 0, "tags": []string{}, "summary": ""})
	require.NoError(t, err)
	require.Zero(t, item.Likes)

	want := feed.Profile{
		Interests: map[string]float64{"none": 0, "all": 100}, Keywords: []feed.Keyword{{Term: "none"}, {Term: "all", Weight: 100}},
		Langs: []string{"en"}, MutedAuthors: []string{"a"}, MutedTags: []string{"t"}, MutedItems: []string{"i"},
	}
	got, err := reader.PutProfile(ctx, "u_1", want)
	require.NoError(t, err)
	require.Equal(t, want, got)
	patched, err := reader.PatchProfile(ctx, "u_1", feed.Profile{Keywords: []feed.Keyword{}, Langs: []string{}, MutedAuthors: []string{}, MutedItems: []string{}})
	require.NoError(t, err)
	require.Equal(t, feed.Profile{Interests: want.Interests, MutedTags: want.MutedTags, MutedItems: []string{}}, patched.Profile)

	post, err := reader.CreatePost(ctx, client.NewPost{Caption: "A #tag", Tags: []string{"more"}, Audience: &client.Audience{}})
	require.NoError(t, err)
	require.Equal(t, client.Audience{}, post.Audience, "only its author sees it")
	var none []string
	post, err = reader.EditPost(ctx, post.ID, client.PostEdit{Caption: new(string), Tags: &none})
	require.ErrorIs(t, err, client.ErrUnprocessable, "a post without a caption and without an image")
	caption := "Nothing"
	post, err = reader.EditPost(ctx, postID(t, reader), client.PostEdit{Caption: &caption, Tags: &none})
	require.NoError(t, err)
	require.Empty(t, post.Tags, "an empty list removes all tags, nil or not")

	circle, err := reader.PutCircle(ctx, "c", client.CircleChange{Name: "Friends", Members: []string{"a", "b"}})
	require.NoError(t, err)
	require.Equal(t, 2, circle.Size)
	circle, err = reader.PutCircle(ctx, "c", client.CircleChange{Members: []string{}})
	require.NoError(t, err)
	require.Zero(t, circle.Size)
	require.Empty(t, circle.Name)
	_, err = reader.PutCircle(ctx, "c", client.CircleChange{Name: "Friends", Members: []string{"a", "b"}})
	require.NoError(t, err)
	circle, err = reader.PatchCircle(ctx, "c", map[string]any{"name": ""})
	require.NoError(t, err)
	require.Equal(t, 2, circle.Size, "members that a patch leaves out stay")
	require.Empty(t, circle.Name)
	circle, err = reader.PatchCircle(ctx, "c", map[string]any{"members": []string{}})
	require.NoError(t, err)
	require.Zero(t, circle.Size)

	require.NoError(t, reader.PutAuthor(ctx, "u_1", client.AuthorCard{Name: "Ann", Bio: "b"}))
	require.NoError(t, reader.PutAuthor(ctx, "u_1", client.AuthorCard{}))
	author, err := reader.Author(ctx, "u_1")
	require.NoError(t, err)
	require.Empty(t, author.Name+author.Bio)
	require.NoError(t, reader.PutAuthor(ctx, "u_1", client.AuthorCard{Name: "Ann", Bio: "b"}))
	card, err := reader.PatchAuthor(ctx, "u_1", map[string]any{"bio": ""})
	require.NoError(t, err)
	require.Equal(t, client.AuthorCard{Name: "Ann"}, card)

	for _, weight := range []float64{1e-9, 1e9} {
		change := client.PromotionChange{ItemID: "i", From: feed.Moment{Time: time.Unix(1, 0)}, Until: feed.Moment{Time: time.Unix(feed.MaxItemTime, 0)}, Weight: weight}
		promotion, err := admin.PutPromotion(ctx, "p", change)
		require.NoError(t, err)
		require.InDelta(t, weight, promotion.Weight, 0)
		require.Equal(t, int64(1), promotion.From)
		require.Equal(t, int64(feed.MaxItemTime), promotion.Until)
	}
}

// postID returns the id of a new post with tags.
func postID(t *testing.T, c *client.Client) string {
	t.Helper()
	post, err := c.CreatePost(t.Context(), client.NewPost{Caption: "A #tag", Tags: []string{"more"}})
	require.NoError(t, err)
	return post.ID
}
