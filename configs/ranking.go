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

// The ranking is a section with the names that [feed.Ranking.With] reads, or, in a variable or a
// flag, a single text with all of them.
const rankingKey = "ranking"

// cutRanking removes the parameters of the ranking from a layer and returns them as a list of
// changes.
func (l layer) cutRanking() (changes string, all Problems) {
	var list []string
	for _, key := range slices.Sorted(maps.Keys(l.values)) {
		name, inSection := strings.CutPrefix(key, rankingKey+delimiter)
		if !inSection && key != rankingKey {
			continue
		}
		raw := l.values[key]
		delete(l.values, key)
		change, is, err := changeOf(raw)
		switch {
		case err != nil:
			all = append(all, Problem{Key: key, Source: l.source(key), Message: err.Error()})
			continue
		case !is:
			continue
		case inSection:
			change = name + "=" + change
		}
		if name == "curves" { // settings given together with a preset are applied after it
			list = slices.Insert(list, 0, change)
		} else {
			list = append(list, change)
		}
	}
	return strings.Join(slices.DeleteFunc(list, func(one string) bool { return one == "" }), ","), all
}

// changeOf converts a value of the section to the syntax of change lists, if there is one.
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

// setRanking applies a layer's changes to the ranking.
func setRanking(c *Config, changes, source string) Problems {
	changed, err := c.Ranking.With(changes)
	if err != nil {
		return Problems{rankingProblem(err, source)}
	}
	c.Ranking = changed
	return nil
}

// rankingProblem converts an error about a parameter of the ranking to a problem. The error uses
// the parameter's JSON name.
func rankingProblem(err error, source string) Problem {
	text := mask(strings.TrimPrefix(err.Error(), "bad ranking parameters: "))
	path, message, ok := strings.Cut(text, " must ")
	if ok && !strings.Contains(path, " ") {
		path, within, _ := strings.Cut(path, "[") // as in decay.curves[1].scale
		name := path
		p, known := feed.ParameterOf(path)
		if known {
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

// rankingNode returns the ranking as YAML.
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
