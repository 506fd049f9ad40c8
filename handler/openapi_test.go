package handler

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/freshet/freshet/internal/testenv"
)

func loadDescription(t *testing.T, social bool) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(describe("v1.2.3", social).data)
	require.NoError(t, err)
	return doc
}

// The validator also checks every example against its schema.
func TestOpenAPIValid(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	doc := loadDescription(t, true)
	require.NoError(t, doc.Validate(t.Context(), openapi3.EnableExamplesValidation()))
	tags := map[string]bool{}
	for _, tag := range doc.Tags {
		tags[tag.Name] = true
	}
	ids := map[string]bool{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			where := method + " " + path
			assert.NotEmpty(t, op.Summary, where)
			assert.Len(t, op.Tags, 1, where)
			assert.True(t, tags[op.Tags[0]], where)
			assert.False(t, ids[op.OperationID], "%s: the operationId is taken", where)
			ids[op.OperationID] = true
			assert.NotNil(t, op.Security, "%s: say who may call, with [] for everybody", where)
		}
	}
}

// Every described component is referenced somewhere.
func TestOpenAPINoUnusedComponents(t *testing.T) {
	t.Parallel()
	for _, social := range []bool{false, true} {
		withoutLeftovers(t, social)
	}
}

func withoutLeftovers(t *testing.T, social bool) {
	text := string(describe("v1.2.3", social).data)
	var parts struct {
		Components map[string]map[string]json.RawMessage `json:"components"`
	}
	require.NoError(t, json.Unmarshal([]byte(text), &parts))
	for kind, byName := range parts.Components {
		for name := range byName {
			if kind != "securitySchemes" {
				assert.True(t, strings.Contains(text, `"#/components/`+kind+`/`+name+`"`), "nothing refers to %s/%s", kind, name)
			}
		}
	}
}

// The description of a server without the social routes omits them.
func TestOpenAPIWithoutSocialRoutes(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	doc := loadDescription(t, false)
	require.NoError(t, doc.Validate(t.Context(), openapi3.EnableExamplesValidation()))
	require.NotNil(t, doc.Paths.Value("/v1/feed"))
	require.Nil(t, doc.Paths.Value("/v1/posts"))
	require.Nil(t, doc.Tags.Get("Posts"))
	require.NotNil(t, doc.Tags.Get("Profiles"))
	require.NotNil(t, loadDescription(t, true).Tags.Get("Posts"))
}

// The code of an error begins with its status.
func TestOpenAPICodesBeginWithStatus(t *testing.T) {
	t.Parallel()
	for path, item := range loadDescription(t, true).Paths.Map() {
		for method, op := range item.Operations() {
			for status, response := range op.Responses.Map() {
				if status < "400" {
					continue
				}
				examples := response.Value.Content["application/json"].Examples
				assert.NotEmpty(t, examples, "%s %s %s", method, path, status)
				for code, example := range examples {
					value := example.Value.Value.(map[string]any)
					assert.EqualValues(t, code, strconv.FormatFloat(value["code"].(float64), 'f', -1, 64))
					assert.True(t, strings.HasPrefix(code, status), "%s %s: %s under %s", method, path, code, status)
				}
			}
		}
	}
}

func TestOpenAPIServed(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	get := func(ifNoneMatch string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("GET", "/openapi.json", nil)
		r.Header.Set("If-None-Match", ifNoneMatch)
		w := httptest.NewRecorder()
		f.handler.ServeHTTP(w, r)
		return w
	}
	got := get(`"other"`)
	require.Equal(t, http.StatusOK, got.Code)
	require.Equal(t, "application/json; charset=utf-8", got.Header().Get("Content-Type"))
	require.True(t, json.Valid(got.Body.Bytes()))
	require.True(t, strings.HasPrefix(got.Body.String(), `{"openapi":"3.1.0"`), "in the order it is written in")
	etag := got.Header().Get("ETag")
	require.NotEmpty(t, etag)

	again := get(etag)
	require.Equal(t, http.StatusNotModified, again.Code)
	require.Empty(t, again.Body.String())
}

func TestOpenAPIParts(t *testing.T) {
	t.Parallel()
	node := func(text string) *yaml.Node {
		var doc yaml.Node
		require.NoError(t, yaml.Unmarshal([]byte(text), &doc))
		return doc.Content[0]
	}
	whole := &yaml.Node{Kind: yaml.MappingNode}
	require.NoError(t, mergeYAML(whole, node("z: {b: 1, a: &x [1.5, null, true]}\n")))
	require.NoError(t, mergeYAML(whole, node("z: {c: \"2\"}\ny: {d: 'a\"b'}\n")))
	require.ErrorContains(t, mergeYAML(whole, node("z: {b: 2}\n")), "z: b: line 1: another file has this already")
	require.NoError(t, mergeYAML(whole, node("v: &w {q: 1}\nu: *w\n")))
	var b bytes.Buffer
	require.NoError(t, writeJSON(jsontext.NewEncoder(&b), whole))
	require.Equal(t, `{"z":{"b":1,"a":[1.5,null,true],"c":"2"},"y":{"d":"a\"b"},"v":{"q":1},"u":{"q":1}}`+"\n", b.String())
}
