package configs

import (
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/freshet/freshet/feed"
)

const masked = "******"

// passwordParam matches a password among the parameters of a URL, including PostgreSQL's
// sslpassword.
var passwordParam = regexp.MustCompile(`([?&]\w*password=)[^&]+`)

// mask hides user and password in an address. They end at the last @, because a password may
// contain any character.
func mask(s string) string {
	s = passwordParam.ReplaceAllString(s, "${1}"+masked)
	end := strings.LastIndex(s, "@")
	if end < 0 {
		return s
	}
	start := 0
	scheme, _, ok := strings.Cut(s[:end], "://")
	if ok && !strings.Contains(scheme, "@") {
		start = len(scheme) + len("://")
	}
	return s[:start] + masked + s[end:]
}

// Print writes the configuration as YAML that [Load] reads, with every secret
// and the credentials in addresses masked.
func Print(w io.Writer, c Config) error {
	root := &yaml.Node{Kind: yaml.MappingNode}
	for _, f := range schema {
		parts := strings.Split(f.key, delimiter)
		parent := root
		for _, section := range parts[:len(parts)-1] {
			parent = child(parent, section)
		}
		parent.Content = append(parent.Content, scalar(parts[len(parts)-1]), f.node(&c))
	}
	enc := yaml.NewEncoder(w)
	enc.SetIndent(2)
	if err := enc.Encode(root); err != nil {
		return err
	}
	return enc.Close()
}

// child returns the map under a name, adding it if necessary.
func child(parent *yaml.Node, name string) *yaml.Node {
	for i := 0; i < len(parent.Content); i += 2 {
		if parent.Content[i].Value == name {
			return parent.Content[i+1]
		}
	}
	node := &yaml.Node{Kind: yaml.MappingNode}
	parent.Content = append(parent.Content, scalar(name), node)
	return node
}

func scalar(text string) *yaml.Node {
	node := &yaml.Node{}
	node.SetString(text)
	return node
}

// node returns the field's value as YAML.
func (f field) node(c *Config) *yaml.Node {
	value := f.value(c)
	switch v := value.(type) {
	case string:
		if f.secret && v != "" {
			v = masked
		}
		if strings.Contains(v, "://") { // an address, not a name with an @
			v = mask(v)
		}
		return scalar(v)
	case []string:
		list := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, one := range v {
			list.Content = append(list.Content, scalar(mask(one)))
		}
		return list
	case feed.Ranking:
		return rankingNode(v)
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Value: text(value)}
}
