package handler

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// Generators of clients need a type with every enum and const, a width for every number, and a
// name for every object. Otherwise they create untyped values, 32-bit times, and classes called
// InlineObject1.
func TestOpenAPIGeneratorRules(t *testing.T) {
	t.Parallel()
	for _, social := range []bool{false, true} {
		var doc map[string]any
		require.NoError(t, json.Unmarshal(describe("v1.2.3", social).data, &doc))
		assert.Empty(t, brokenRules("", doc))
		assert.Empty(t, clashingNames(doc))
	}
}

func TestOpenAPIGeneratorRulesFindBreaches(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, schema string
		want         []string
	}{
		{"typed enum", `{"type":"string","enum":["a"]}`, nil},
		{"enum", `{"enum":["a"]}`, []string{": an enum or const without a type"}},
		{"empty value", `{"type":"string","enum":["a",""]}`, []string{": an empty value in an enum, for which Kotlin has no name"}},
		{"const", `{"items":{"const":0}}`, []string{"/items: an enum or const without a type"}},
		{"integer", `{"type":"integer"}`, []string{": an integer without format: int64"}},
		{"narrow integer", `{"type":"integer","format":"int32"}`, []string{": an integer without format: int64"}},
		{"nullable integer", `{"type":["integer","null"]}`, []string{": an integer without format: int64"}},
		{"wide integer", `{"type":["integer","null"],"format":"int64"}`, nil},
		{"a property named const", `{"properties":{"const":{"type":"string"}}}`, nil},
		{"a property named example", `{"properties":{"example":{"enum":[1]}}}`, []string{"/properties/example: an enum or const without a type"}},
		{"wide const", `{"type":"integer","format":"int64","const":0}`, []string{": a const with format: int64, which generators compare with a wide type"}},
		{"integer const", `{"type":"integer","const":0}`, nil},
		{"number", `{"type":"number"}`, []string{": a number without format: double"}},
		{"an object in an object", `{"properties":{"a":{"properties":{}}}}`, []string{"/properties/a: an object inside another, without a name"}},
		{"an object in a list", `{"items":{"properties":{}}}`, []string{"/items: an object inside another, without a name"}},
		{"an example", `{"example":{"enum":[1]}}`, nil},
		{"in a list", `{"oneOf":[{"const":1}]}`, []string{"/oneOf/0: an enum or const without a type"}},
		{"anyOf", `{"anyOf":[{"type":"string"}]}`, []string{": anyOf, of which generators make one class with the fields of all; oneOf says it too"}},
		{"oneOf beside properties", `{"properties":{},"oneOf":[{}]}`, []string{": oneOf beside properties; say which of them are required with if, then and else"}},
		{"a link", `{"description":"see [that](#that)"}`, []string{": a link in a description, which /docs shows as it is written"}},
		{"boolean const", `{"type":"boolean","const":true}`, []string{": a boolean const, of which generators make an enum"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var schema map[string]any
			require.NoError(t, json.Unmarshal([]byte(tt.schema), &schema))
			assert.Equal(t, tt.want, brokenRules("", schema))
		})
	}
}

// Some generators use only the first type of a body: if it can be lines or a JSON array, the array
// must be first.
func TestOpenAPIJSONFirstBodyType(t *testing.T) {
	t.Parallel()
	var doc yaml.Node
	require.NoError(t, yaml.Unmarshal(describe("v1.2.3", true).data, &doc))
	checked := 0
	each(member(doc.Content[0], "paths"), func(path string, operations *yaml.Node) {
		each(operations, func(method string, operation *yaml.Node) {
			types := member(member(operation, "requestBody"), "content")
			if len(member(types, "application/x-ndjson").Content) > 0 && len(member(types, "application/json").Content) > 0 {
				assert.Equal(t, "application/json", types.Content[0].Value, "%s %s", method, path)
				checked++
			}
		})
	})
	assert.Positive(t, checked)
}

func TestOpenAPINameClashes(t *testing.T) {
	t.Parallel()
	var doc map[string]any
	require.NoError(t, json.Unmarshal([]byte(`{
		"components": {"schemas": {"ItemList": {}, "item_list": {}, "Item": {}}},
		"paths": {
			"/a": {"get": {"operationId": "getItem"}, "post": {"operationId": "get_item"}},
			"/b": {"get": {}, "parameters": []}
		}}`), &doc))
	assert.ElementsMatch(t, []string{
		"schemas: ItemList and item_list clash",
		"paths: getItem and get_item clash",
		"get /b: no operationId",
	}, clashingNames(doc))
}

// brokenRules lists the schemas below a node that violate the rules, by path.
func brokenRules(where string, node any) []string {
	var broken []string
	switch node := node.(type) {
	case map[string]any:
		if !strings.HasSuffix(where, "/properties") {
			broken = brokenBySchema(where, node)
		}
		for _, name := range sortedNames(node) {
			if strings.HasSuffix(where, "/properties") || !slices.Contains([]string{"example", "examples", "default", "enum", "const"}, name) {
				broken = append(broken, brokenRules(where+"/"+name, node[name])...)
			}
		}
	case []any:
		for i, entry := range node {
			broken = append(broken, brokenRules(fmt.Sprintf("%s/%d", where, i), entry)...)
		}
	}
	return broken
}

func brokenBySchema(where string, schema map[string]any) []string {
	var broken []string
	values, enum := schema["enum"].([]any)
	_, constant := schema["const"]
	if (enum || constant) && schema["type"] == nil {
		broken = append(broken, where+": an enum or const without a type")
	}
	if slices.Contains(values, any("")) {
		broken = append(broken, where+": an empty value in an enum, for which Kotlin has no name")
	}
	text, _ := schema["description"].(string)
	if strings.Contains(text, "](") {
		broken = append(broken, where+": a link in a description, which /docs shows as it is written")
	}
	if schema["anyOf"] != nil {
		broken = append(broken, where+": anyOf, of which generators make one class with the fields of all; oneOf says it too")
	}
	options, _ := schema["oneOf"].([]any)
	for _, option := range options {
		broken = append(broken, nested(where, option)...)
	}
	if schema["oneOf"] != nil && schema["properties"] != nil {
		broken = append(broken, where+": oneOf beside properties; say which of them are required with if, then and else")
	}
	if lines, ok := schema["application/x-ndjson"].(map[string]any); ok {
		if body, _ := lines["schema"].(map[string]any); body["format"] != "binary" {
			broken = append(broken, where+": lines without format: binary, which generators send as a JSON string")
		}
	}
	if schema["const"] == true {
		broken = append(broken, where+": a boolean const, of which generators make an enum")
	}
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range sortedNames(properties) {
		broken = append(broken, nested(where+"/properties/"+name, properties[name])...)
	}
	for _, name := range []string{"items", "additionalProperties"} {
		broken = append(broken, nested(where+"/"+name, schema[name])...)
	}
	if schema["type"] == "number" && schema["format"] != "double" {
		broken = append(broken, where+": a number without format: double")
	}
	if constant && schema["format"] == "int64" {
		broken = append(broken, where+": a const with format: int64, which generators compare with a wide type")
	}
	types, _ := schema["type"].([]any)
	if !constant && (schema["type"] == "integer" || slices.Contains(types, any("integer"))) && schema["format"] != "int64" {
		broken = append(broken, where+": an integer without format: int64")
	}
	return broken
}

// nested reports an object with properties inside another schema.
func nested(where string, node any) []string {
	if schema, ok := node.(map[string]any); ok && schema["properties"] != nil {
		return []string{where + ": an object inside another, without a name"}
	}
	return nil
}

// clashingNames lists the names of schemas and operations that become the same when a generator
// converts their case.
func clashingNames(doc map[string]any) []string {
	components, _ := doc["components"].(map[string]any)
	schemas, _ := components["schemas"].(map[string]any)
	clashes := clashesOf("schemas", sortedNames(schemas))
	var ids []string
	paths, _ := doc["paths"].(map[string]any)
	for _, path := range sortedNames(paths) {
		methods, _ := paths[path].(map[string]any)
		for _, method := range sortedNames(methods) {
			operation, ok := methods[method].(map[string]any)
			if !ok {
				continue
			}
			id, _ := operation["operationId"].(string)
			if id == "" {
				clashes = append(clashes, method+" "+path+": no operationId")
				continue
			}
			ids = append(ids, id)
		}
	}
	return append(clashes, clashesOf("paths", ids)...)
}

func clashesOf(kind string, names []string) []string {
	var clashes []string
	taken := map[string]string{}
	for _, name := range names {
		plain := strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "").Replace(name))
		if other, ok := taken[plain]; ok {
			clashes = append(clashes, kind+": "+other+" and "+name+" clash")
		}
		taken[plain] = name
	}
	return clashes
}

func sortedNames(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
