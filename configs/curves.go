package configs

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"

	"github.com/freshet/freshet/feed"
)

var curvesType = reflect.TypeFor[feed.Curves]()

const curvesKey = "ranking.decay.curves"

// replacesCurves reports whether a layer says what the one Gaussian is and nothing
// of curves: then those of the layers before do not count any more.
func replacesCurves(layer map[string]any) bool {
	if layer[curvesKey] != nil {
		return false
	}
	for _, name := range []string{"scale", "offset", "decay"} {
		if layer["ranking.decay."+name] != nil {
			return true
		}
	}
	return false
}

// setCurves sets the curves as YAML, an environment variable or a flag gives them.
// A preset sets the whole decay; keys of the same layer are set after it.
func setCurves(c *Config, raw any, source string) Problems {
	text, ok := raw.(string)
	if !ok {
		data, err := json.Marshal(raw)
		if _, list := raw.([]any); err != nil || !list {
			return Problems{{Key: curvesKey, Source: source, Message: "must be a list of curves or the name of a preset, single or two"}}
		}
		text = string(data)
	}
	d, err := feed.ParseCurves(strings.TrimSpace(text))
	if err != nil {
		return Problems{rankingProblem(err, source)}
	}
	if strings.HasPrefix(strings.TrimSpace(text), "[") {
		c.Ranking.Decay.Curves = d.Curves
	} else {
		c.Ranking.Decay.become(d)
	}
	return nil
}

// rankingProblem turns an error about a parameter of the ranking into a problem. Package
// feed names parameters as the configuration does.
func rankingProblem(err error, source string) Problem {
	text := mask(strings.TrimPrefix(err.Error(), feed.ErrBadRanking.Error()+": "))
	if key, message, ok := strings.Cut(text, " "); ok && errors.Is(err, feed.ErrBadRanking) && strings.HasPrefix(key, "decay.") {
		return Problem{Key: "ranking." + key, Source: source, Message: message}
	}
	return Problem{Key: curvesKey, Source: source, Message: "cannot be read: " + text}
}
