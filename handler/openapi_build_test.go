package handler

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

var update = flag.Bool("update", false, "write the descriptions in openapi/ anew")

// The server sends the description merged from the files openapi/*.yaml.
func TestOpenAPIBuilt(t *testing.T) {
	for name, social := range map[string]bool{"openapi/posts.json": true, "openapi/items.json": false} {
		want, err := buildDescription(social)
		require.NoError(t, err)
		if *update {
			require.NoError(t, os.WriteFile(name, want, 0o644))
		}
		got, err := os.ReadFile(name)
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, got), "%s is not what the files say: run go generate ./handler", name)
	}
}

// openapiParts lists the files of the description, in the order of its paths.
var openapiParts = []string{
	"openapi", "feed", "guest", "events", "timeline", "stream", "posts", "content-posts", "content-items", "authors", "follows", "circles", "notifications", "export", "moderation", "graph",
	"profiles", "items", "explain", "ranking", "feeds", "compare", "promotions", "jobs", "changes", "configuration", "pages", "operations", "shared",
}

// socialParts apply only with Deps.Social, otherParts only without.
var (
	socialParts = []string{"timeline", "stream", "posts", "content-posts", "authors", "follows", "circles", "notifications", "export", "moderation", "graph", "promotions", "jobs", "changes"}
	otherParts  = []string{"content-items"}
)

// buildDescription merges the files of the description for a server with or without the
// social routes.
func buildDescription(social bool) ([]byte, error) {
	whole := &yaml.Node{Kind: yaml.MappingNode}
	for _, part := range openapiParts {
		if !social && slices.Contains(socialParts, part) || social && slices.Contains(otherParts, part) {
			continue
		}
		data, err := os.ReadFile("openapi/" + part + ".yaml")
		if err != nil {
			return nil, err
		}
		var doc yaml.Node
		if err := yaml.Unmarshal(data, &doc); err != nil {
			return nil, fmt.Errorf("openapi/%s.yaml: %w", part, err)
		}
		if err := mergeYAML(whole, doc.Content[0]); err != nil {
			return nil, fmt.Errorf("openapi/%s.yaml: %w", part, err)
		}
	}
	dropUnusedTags(whole)
	nameSchemas(whole)
	var b bytes.Buffer
	err := writeLines(&b, whole, 3)
	b.WriteByte('\n')
	return b.Bytes(), err
}

// writeLines writes a YAML node as JSON, with a line for each member of the mappings of
// the first levels.
func writeLines(b *bytes.Buffer, n *yaml.Node, levels int) error {
	if levels == 0 || n.Kind != yaml.MappingNode {
		err := writeJSON(jsontext.NewEncoder(b), n)
		b.Truncate(b.Len() - 1) // a line feed
		return err
	}
	b.WriteByte('{')
	for i := 0; i < len(n.Content); i += 2 {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(b, "%q:", n.Content[i].Value)
		if err := writeLines(b, n.Content[i+1], levels-1); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

// mergeYAML merges a mapping into another, recursively. A value that both have is
// an error.
func mergeYAML(into, from *yaml.Node) error {
	if into.Kind != yaml.MappingNode || from.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: another file has this already", from.Line)
	}
	at := make(map[string]*yaml.Node, len(into.Content)/2)
	for i := 0; i < len(into.Content); i += 2 {
		at[into.Content[i].Value] = into.Content[i+1]
	}
	for i := 0; i < len(from.Content); i += 2 {
		name, value := from.Content[i], from.Content[i+1]
		have, ok := at[name.Value]
		if !ok {
			into.Content = append(into.Content, name, value)
			continue
		}
		if err := mergeYAML(have, value); err != nil {
			return fmt.Errorf("%s: %w", name.Value, err)
		}
	}
	return nil
}

func dropUnusedTags(whole *yaml.Node) {
	used := map[string]bool{}
	for _, path := range member(whole, "paths").Content {
		for _, operation := range path.Content {
			for _, tag := range member(operation, "tags").Content {
				used[tag.Value] = true
			}
		}
	}
	tags := member(whole, "tags")
	tags.Content = slices.DeleteFunc(tags.Content, func(tag *yaml.Node) bool { return !used[member(tag, "name").Value] })
}

// member returns a member of a mapping, or an empty node.
func member(n *yaml.Node, name string) *yaml.Node {
	if n.Kind == yaml.MappingNode {
		for i := 0; i < len(n.Content); i += 2 {
			if n.Content[i].Value == name {
				return n.Content[i+1]
			}
		}
	}
	return &yaml.Node{}
}

// writeJSON writes a YAML node as JSON. Members retain the order of the files, which the page /docs
// shows.
func writeJSON(to *jsontext.Encoder, n *yaml.Node) error {
	begin, end := jsontext.BeginObject, jsontext.EndObject
	switch n.Kind {
	case yaml.AliasNode:
		return writeJSON(to, n.Alias)
	case yaml.ScalarNode:
		var value any
		if err := n.Decode(&value); err != nil {
			return err
		}
		return jsonv2.MarshalEncode(to, value)
	case yaml.SequenceNode:
		begin, end = jsontext.BeginArray, jsontext.EndArray
	}
	err := to.WriteToken(begin)
	for i, entry := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 { // a key must be a string, also if YAML has a number
			err = errors.Join(err, to.WriteToken(jsontext.String(entry.Value)))
		} else {
			err = errors.Join(err, writeJSON(to, entry))
		}
	}
	return errors.Join(err, to.WriteToken(end))
}

// naming gives nested objects names of their own. Generators of clients create a class for each,
// and invent a different name for each if it has none.
type naming struct {
	schemas *yaml.Node
	taken   map[string]bool
}

// nameSchemas names the objects of a description: <operation>Answer and <operation>Request for the
// bodies of a call, <schema><property> for an object inside a schema, and with the suffix Entry for
// the entries of a list.
func nameSchemas(whole *yaml.Node) {
	components := member(whole, "components")
	n := &naming{schemas: member(components, "schemas"), taken: map[string]bool{}}
	known := n.schemas.Content
	for i := 0; i < len(known); i += 2 {
		n.taken[known[i].Value] = true
	}
	for i := 0; i < len(known); i += 2 {
		n.within(known[i+1], known[i].Value)
	}
	each(member(components, "responses"), func(name string, response *yaml.Node) { n.content(response, name+"Answer") })
	each(member(whole, "paths"), func(_ string, path *yaml.Node) {
		each(path, func(_ string, operation *yaml.Node) {
			call := camel(member(operation, "operationId").Value)
			n.content(member(operation, "requestBody"), call+"Request")
			each(member(operation, "responses"), func(status string, response *yaml.Node) {
				name := call + "Answer"
				if n.taken[name] {
					name += status // a call with two success responses
				}
				n.content(response, name)
			})
		})
	})
}

// content names the schema of a body of any type.
func (n *naming) content(body *yaml.Node, name string) {
	each(member(body, "content"), func(_ string, media *yaml.Node) { n.name(member(media, "schema"), name) })
}

// name turns an object with properties into a component, and the node into a reference to it.
func (n *naming) name(schema *yaml.Node, name string) {
	if schema.Kind != yaml.MappingNode {
		return // the node is missing
	}
	n.within(schema, name)
	if len(member(schema, "properties").Content) == 0 || n.taken[name] {
		return
	}
	n.taken[name] = true
	object := *schema
	object.Anchor = ""
	n.schemas.Content = append(n.schemas.Content, text(name), &object)
	*schema = yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{text("$ref"), text("#/components/schemas/" + name)}}
}

// within names the objects inside a schema.
func (n *naming) within(schema *yaml.Node, name string) {
	each(member(schema, "properties"), func(property string, value *yaml.Node) { n.name(value, name+camel(property)) })
	n.name(member(schema, "items"), name+"Entry")
	n.name(member(schema, "additionalProperties"), name+"Value")
	for _, option := range member(schema, "oneOf").Content {
		n.name(option, name+"Object")
	}
	for _, part := range member(schema, "allOf").Content {
		n.within(part, name) // parts are merged, so they get no name
	}
}

func each(mapping *yaml.Node, do func(name string, value *yaml.Node)) {
	if mapping.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i < len(mapping.Content); i += 2 {
		do(mapping.Content[i].Value, mapping.Content[i+1])
	}
}

func text(value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
}

// camel returns a name in the style of a class: next_cursor becomes NextCursor.
func camel(name string) string {
	var b strings.Builder
	upper := true
	for _, r := range name {
		switch {
		case r == '_' || r == '-' || r == '.':
			upper = true
		case upper:
			b.WriteRune(unicode.ToUpper(r))
			upper = false
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
