package handler

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"gopkg.in/yaml.v3"
)

//go:embed openapi/*.yaml
var openapiFiles embed.FS

// openapiParts are the files the description is put together from; their order
// is that of the paths in it.
var openapiParts = []string{
	"openapi", "feed", "events", "profiles", "items",
	"explain", "ranking", "compare", "pages", "operations", "shared",
}

// description is the OpenAPI description of all routes as it is served.
type description struct {
	json []byte
	etag string
}

// describe puts the description together, once for all servers of a process.
var describe = sync.OnceValues(func() (description, error) {
	whole := &yaml.Node{Kind: yaml.MappingNode}
	for _, part := range openapiParts {
		data, err := openapiFiles.ReadFile("openapi/" + part + ".yaml")
		if err != nil {
			return description{}, err
		}
		var doc yaml.Node
		if err := yaml.Unmarshal(data, &doc); err != nil {
			return description{}, fmt.Errorf("openapi/%s.yaml: %w", part, err)
		}
		if err := mergeYAML(whole, doc.Content[0]); err != nil {
			return description{}, fmt.Errorf("openapi/%s.yaml: %w", part, err)
		}
	}
	var b bytes.Buffer
	if err := writeJSON(&b, whole); err != nil {
		return description{}, err
	}
	sum := sha256.Sum256(b.Bytes())
	return description{json: b.Bytes(), etag: `"` + hex.EncodeToString(sum[:12]) + `"`}, nil
})

// mergeYAML adds the members of a mapping to those of another, and so on
// inside. Nothing may be said twice.
func mergeYAML(into, from *yaml.Node) error {
	if into.Kind != yaml.MappingNode || from.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: this is in another file already", from.Line)
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

// writeJSON writes a YAML node as JSON, its members in the order they are
// written in: the page that is made of it follows the files.
func writeJSON(b *bytes.Buffer, n *yaml.Node) error {
	switch n.Kind {
	case yaml.AliasNode:
		return writeJSON(b, n.Alias)
	case yaml.MappingNode:
		b.WriteByte('{')
		for i := 0; i < len(n.Content); i += 2 {
			if i > 0 {
				b.WriteByte(',')
			}
			b.Write(appendString(nil, n.Content[i].Value))
			b.WriteByte(':')
			if err := writeJSON(b, n.Content[i+1]); err != nil {
				return err
			}
		}
		b.WriteByte('}')
	case yaml.SequenceNode:
		b.WriteByte('[')
		for i, entry := range n.Content {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeJSON(b, entry); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	case yaml.ScalarNode:
		var value any
		if err := n.Decode(&value); err != nil {
			return err
		}
		scalar, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("line %d: %w", n.Line, err)
		}
		b.Write(scalar)
	default:
		return errors.New("the description holds something that is not YAML")
	}
	return nil
}

// getOpenAPI answers GET /openapi.json.
func (s *server) getOpenAPI(c *call) error {
	d, err := describe()
	if err != nil {
		return err
	}
	h := c.gin.Writer.Header()
	h["Content-Type"], h["X-Content-Type-Options"] = jsonType, noSniff
	h.Set("Cache-Control", "no-cache") // asked for each time, sent only when it has changed
	h.Set("ETag", d.etag)
	http.ServeContent(c.gin.Writer, c.gin.Request, "", time.Time{}, bytes.NewReader(d.json))
	return nil
}
