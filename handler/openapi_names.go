package handler

import (
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// naming gives objects that stand inside of others names of their own. Generators of
// clients make a class of each, and without a name each makes up another one.
type naming struct {
	schemas *yaml.Node
	taken   map[string]bool
}

// nameSchemas names the objects of a description: <operation>Answer and
// <operation>Request for those of a call, <schema><property> for one inside a schema, and
// with Entry behind it for the entries of a list.
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
					name += status // a call with two kinds of success
				}
				n.content(response, name)
			})
		})
	})
}

// content names the schema of a body, of whichever type the body is.
func (n *naming) content(body *yaml.Node, name string) {
	each(member(body, "content"), func(_ string, media *yaml.Node) { n.name(member(media, "schema"), name) })
}

// name makes an object with properties a component, and a reference of what it was.
func (n *naming) name(schema *yaml.Node, name string) {
	if schema.Kind != yaml.MappingNode {
		return // there is none
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

// within names what a schema is made of.
func (n *naming) within(schema *yaml.Node, name string) {
	each(member(schema, "properties"), func(property string, value *yaml.Node) { n.name(value, name+camel(property)) })
	n.name(member(schema, "items"), name+"Entry")
	n.name(member(schema, "additionalProperties"), name+"Value")
	for _, option := range member(schema, "oneOf").Content {
		n.name(option, name+"Object")
	}
	for _, part := range member(schema, "allOf").Content {
		n.within(part, name) // parts are merged, so they are none by themselves
	}
}

// each calls do with the members of a mapping.
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

// camel writes a name as classes are named: next_cursor is NextCursor.
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
