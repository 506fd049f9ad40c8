package configs

import (
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Where the value of a setting is from.
const (
	OriginDefault     = "default"
	OriginFile        = "file" // the YAML file
	OriginEnvironment = "environment"
	OriginFlag        = "flag"
	OriginProgram     = "program" // the program that opened the server has set it
)

// Setting is a key of the configuration with its value in force.
type Setting struct {
	Key    string
	Value  string // as in YAML, with secrets masked
	Origin string
	Source string // the file, the variable or the flag of the value; "" for others
	Help   string
}

// Settings lists all keys in the order of the shipped file, with every secret and the credentials in
// addresses masked, as [Print] does. A value that is set to the default has the origin that sets it.
func Settings(c Config) []Setting {
	byDefault := Default()
	all := make([]Setting, len(schema))
	for i, f := range schema {
		all[i] = Setting{Key: f.key, Value: flat(f.node(&c)), Origin: OriginProgram, Help: f.help}
		from, known := c.Origins[f.key]
		switch {
		case known:
			all[i].Origin, all[i].Source = from.Kind, from.Name
		case reflect.DeepEqual(f.value(&c), f.value(&byDefault)):
			all[i].Origin = OriginDefault
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
