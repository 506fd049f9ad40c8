package configs

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/freshet/freshet/feed"
)

// The ranking is a section of the names that [feed.Ranking.With] reads, or one text of
// them: in a variable or a flag.
const rankingKey = "ranking"

// cutRanking takes the parameters of the ranking out of a layer, as a list of changes.
func cutRanking(layer map[string]any, source func(string) string) (changes string, all Problems) {
	var list []string
	for _, key := range slices.Sorted(maps.Keys(layer)) {
		name, inSection := strings.CutPrefix(key, rankingKey+delimiter)
		if !inSection && key != rankingKey {
			continue
		}
		raw := layer[key]
		delete(layer, key)
		change, is, err := changeOf(raw)
		switch {
		case err != nil:
			all = append(all, Problem{Key: key, Source: source(key), Message: err.Error()})
			continue
		case !is:
			continue
		case inSection:
			change = name + "=" + change
		}
		if name == "curves" { // what is set beside a preset is set after it
			list = slices.Insert(list, 0, change)
		} else {
			list = append(list, change)
		}
	}
	return strings.Join(slices.DeleteFunc(list, func(one string) bool { return one == "" }), ","), all
}

// changeOf writes a value of the section as lists of changes have it, if there is one.
func changeOf(raw any) (change string, is bool, err error) {
	switch v := raw.(type) {
	case nil:
		return "", false, nil
	case string, int, float64:
		return text(v), true, nil
	case map[string]any: // an empty one
		return "", false, nil
	case []any:
		data, err := json.Marshal(v)
		if err != nil {
			return "", true, errors.New("must be a list of curves")
		}
		return string(data), true, nil
	}
	return "", true, fmt.Errorf("must be a number, a duration or curves, not %v", raw)
}

// setRanking changes the ranking as a layer says.
func setRanking(c *Config, changes, source string) Problems {
	changed, err := c.Ranking.With(changes)
	if err != nil {
		return Problems{rankingProblem(err, source)}
	}
	c.Ranking = changed
	return nil
}

// rankingProblem turns an error about a parameter of the ranking into a problem. The error
// names the parameter as JSON has it.
func rankingProblem(err error, source string) Problem {
	text := mask(strings.TrimPrefix(err.Error(), "bad ranking parameters: "))
	if path, message, ok := strings.Cut(text, " must "); ok && !strings.Contains(path, " ") {
		path, within, _ := strings.Cut(path, "[") // as in decay.curves[1].scale
		name := path
		if p, known := feed.ParameterOf(path); known {
			name = p.Name
		} else if path == "decay.curves" {
			name = "curves"
		}
		if within != "" {
			name += "[" + within
		}
		return Problem{Key: rankingKey + delimiter + name, Source: source, Message: "must " + message}
	}
	return Problem{Key: rankingKey, Source: source, Message: "cannot be used: " + text}
}

// rankingNode is the ranking as YAML.
func rankingNode(r feed.Ranking) *yaml.Node {
	section := &yaml.Node{Kind: yaml.MappingNode}
	for _, change := range r.All() {
		name, value, _ := strings.Cut(change, "=")
		var node yaml.Node // JSON is YAML
		if err := yaml.Unmarshal([]byte(value), &node); err == nil && len(node.Content) == 1 {
			section.Content = append(section.Content, scalar(name), node.Content[0])
		}
	}
	return section
}
