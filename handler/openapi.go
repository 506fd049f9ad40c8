package handler

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

//go:embed openapi/*.yaml
var openapiFiles embed.FS

// openapiParts are the files of the description, in the order of its paths.
var openapiParts = []string{
	"openapi", "feed", "guest", "events", "timeline", "stream", "posts", "content-posts", "content-items", "authors", "follows", "circles", "graph",
	"profiles", "items", "explain", "ranking", "compare", "promotions", "jobs", "pages", "operations", "shared",
}

// socialParts are those that hold with Deps.Social only, otherParts without.
var (
	socialParts = []string{"timeline", "stream", "posts", "content-posts", "authors", "follows", "circles", "graph", "promotions", "jobs"}
	otherParts  = []string{"content-items"}
)

// describe merges the files of the description for a server of this version,
// with or without the social routes.
func describe(version string, social bool) (static, error) {
	whole := &yaml.Node{Kind: yaml.MappingNode}
	for _, part := range openapiParts {
		if !social && slices.Contains(socialParts, part) || social && slices.Contains(otherParts, part) {
			continue
		}
		data, err := openapiFiles.ReadFile("openapi/" + part + ".yaml")
		if err != nil {
			return static{}, err
		}
		var doc yaml.Node
		if err := yaml.Unmarshal(data, &doc); err != nil {
			return static{}, fmt.Errorf("openapi/%s.yaml: %w", part, err)
		}
		if err := mergeYAML(whole, doc.Content[0]); err != nil {
			return static{}, fmt.Errorf("openapi/%s.yaml: %w", part, err)
		}
	}
	var stated yaml.Node
	if err := stated.Encode(map[string]any{"info": map[string]string{"version": version}}); err != nil {
		return static{}, err
	}
	if err := mergeYAML(whole, &stated); err != nil {
		return static{}, err
	}
	dropUnusedTags(whole)
	nameSchemas(whole)
	var b bytes.Buffer
	if err := writeJSON(jsontext.NewEncoder(&b), whole); err != nil {
		return static{}, err
	}
	return newStatic(b.Bytes(), jsonType[0])
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

// dropUnusedTags leaves out the tags that no operation has.
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

// member is a member of a mapping, or an empty node.
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

// writeJSON writes a YAML node as JSON. Members keep the order of the files, which
// the page /docs shows.
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
		if n.Kind == yaml.MappingNode && i%2 == 0 { // a name, also where YAML has a number
			err = errors.Join(err, to.WriteToken(jsontext.String(entry.Value)))
		} else {
			err = errors.Join(err, writeJSON(to, entry))
		}
	}
	return errors.Join(err, to.WriteToken(end))
}

// getOpenAPI answers GET /openapi.json.
func (s *server) getOpenAPI(c *call) error {
	d, err := s.openapi()
	if err != nil {
		return err
	}
	s.sendStatic(c, d)
	return nil
}
