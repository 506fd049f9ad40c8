package handler_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/testenv"
)

// longInputs are longer than an error may be; one is longer than any field, and than some bodies.
var longInputs = []string{strings.Repeat("x", 3_000), strings.Repeat("x", 70_000)}

// longestMessage limits the text of an error, with the name of the call.
const longestMessage = 1100

// TestDescribedFields sends to every described field of a body what its description excludes: an
// empty text is not taken for a field that is left out, 1e-400 is no whole number, and an error
// does not repeat a long text.
func TestDescribedFields(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	dir := t.TempDir()
	c := openContract(t, func(cfg *configs.Config) { cfg.DataDir = dir })
	seedSocial(t, c.social)
	seedImage(t, c.social, dir)
	checked := 0
	for op, route := range contractCases() {
		description := c.operations()[op].Operation.RequestBody
		if description == nil || description.Value.Content["application/json"] == nil {
			continue
		}
		i := slices.IndexFunc(route.good, func(e exchange) bool { return strings.HasPrefix(e.body, "{") && e.kind == "" })
		if i < 0 {
			continue
		}
		fields := fieldsOf(description.Value.Content["application/json"].Schema.Value, 3)
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			for _, value := range []any{"", longInputs[0], longInputs[1], json.Number("1e-400")} {
				schema, e := fields[name], route.good[i]
				_, isNumber := value.(json.Number)
				excluded := isNumber && schema.Type.Is("integer") || !isNumber && schema.Type.Is("string") && schema.VisitJSON(value) != nil
				if !excluded {
					continue
				}
				e.body = setField(t, e.body, strings.Split(name, "."), value)
				got := c.call(t, op, e)
				assert.True(t, got.status >= 400 && got.status < 500, "%s answered %d to %s: %.40q", op, got.status, name, value)
				assert.Less(t, len(got.body), longestMessage, "%s %s", op, name)
				checked++
			}
		}
	}
	require.Greater(t, checked, 60)
}

// fieldsOf returns the fields of an object by their path, to some depth.
func fieldsOf(object *openapi3.Schema, depth int) map[string]*openapi3.Schema {
	fields := map[string]*openapi3.Schema{}
	for name, property := range object.Properties {
		fields[name] = property.Value
		if depth > 1 {
			for inner, schema := range fieldsOf(property.Value, depth-1) {
				fields[name+"."+inner] = schema
			}
		}
	}
	return fields
}

// setField returns a JSON object with a field set.
func setField(t *testing.T, body string, path []string, value any) string {
	t.Helper()
	members := map[string]json.RawMessage{}
	if body != "" && body != "null" {
		require.NoError(t, json.Unmarshal([]byte(body), &members))
	}
	if len(path) > 1 {
		value = json.RawMessage(setField(t, string(members[path[0]]), path[1:], value))
	}
	raw, err := json.Marshal(value)
	require.NoError(t, err)
	members[path[0]] = raw
	out, err := json.Marshal(members)
	require.NoError(t, err)
	return string(out)
}
