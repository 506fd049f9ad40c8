package configs

import (
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Where the value of a setting is from.
const (
	OriginDefault = "default"
	OriginSet     = "set"  // in the YAML file, the environment or a flag
	OriginFile    = "file" // in a file that a variable …_FILE names
)

// Setting is a key of the configuration with its value in force.
type Setting struct {
	Key    string
	Value  string // as in YAML, with secrets masked
	Origin string
	Help   string
}

// Settings lists all keys in the order of the shipped file, with every secret and the credentials in
// addresses masked, as [Print] does.
func Settings(c Config) []Setting {
	byDefault := Default()
	all := make([]Setting, len(schema))
	for i, f := range schema {
		all[i] = Setting{Key: f.key, Value: flat(f.node(&c)), Origin: OriginSet, Help: f.help}
		if reflect.DeepEqual(f.value(&c), f.value(&byDefault)) {
			all[i].Origin = OriginDefault
		}
		if _, inFile := c.Files[f.key]; inFile {
			all[i].Origin = OriginFile
		}
	}
	return all
}

// flat writes a value in one line.
func flat(n *yaml.Node) string {
	switch n.Kind {
	case yaml.ScalarNode:
		return n.Value
	case yaml.MappingNode:
		var pairs []string
		for i := 0; i+1 < len(n.Content); i += 2 {
			pairs = append(pairs, n.Content[i].Value+": "+flat(n.Content[i+1]))
		}
		return "{" + strings.Join(pairs, ", ") + "}"
	}
	var all []string
	for _, one := range n.Content {
		all = append(all, flat(one))
	}
	return strings.Join(all, ", ")
}
