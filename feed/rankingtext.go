package feed

import (
	"encoding/json"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"
)

// DefaultKeywordsSummary is a new system's [Ranking.KeywordsSummary], and that of
// a ranking that was stored before there was one.
const DefaultKeywordsSummary = 0.5

// curvesName is the name of the curves in lists of changes, curvesPath that in JSON.
const (
	curvesName = "curves"
	curvesPath = "decay.curves"
)

// change is a new value of a parameter.
type change struct {
	*Parameter
	number   float64
	duration time.Duration
}

// changes are new values of parameters and of the curves.
type changes struct {
	values map[string]change // by name
	curves json.RawMessage   // nil: not among them
	decode func(data []byte, into any) error
}

// set reads a value. called is the parameter's name where it was given, for errors.
func (c *changes) set(p *Parameter, called, text string) (err error) {
	value := change{Parameter: p}
	if p.IsDuration() {
		err = setDuration(&value.duration, called, &text)
	} else if value.number, err = strconv.ParseFloat(text, 64); err != nil {
		err = Errorf(ErrInvalid, "bad ranking parameters: %s must be a number, not %q", called, text)
	}
	if err == nil && p.unset && value.number == 0 && value.duration == 0 {
		err = Errorf(ErrInvalid, "bad ranking parameters: %s must be %s, not 0", called, p.Bounds())
	}
	if c.values == nil {
		c.values = map[string]change{}
	}
	c.values[p.Name] = value
	return err
}

// apply changes the ranking. What names a part of the one Gaussian replaces curves
// by it: by that of [PresetSingle], with the parts named changed.
func (c *changes) apply(r *Ranking) error {
	simple := false
	for _, name := range []string{"scale", "offset", "decay"} {
		_, ok := c.values[name]
		simple = simple || ok
	}
	if c.curves != nil {
		given, err := parseCurves(string(c.curves), c.decode)
		if err != nil {
			return err
		}
		preset, several := c.curves[0] == '"', given.Curves.Len() > 0
		if simple && (several || preset) {
			return Errorf(ErrInvalid, "bad ranking parameters: decay.curves stand in the place of decay.scale, decay.offset and decay.decay: give one or the other")
		}
		switch {
		case preset:
			r.Decay = given
		case several:
			r.Decay = Decay{Curves: given.Curves, Floor: r.Decay.Floor}
		default:
			simple = true
		}
	}
	if simple && r.Decay.Curves.Len() > 0 {
		single := presets[PresetSingle]
		r.Decay = Decay{Scale: single.Scale, Offset: single.Offset, Decay: single.Decay, Floor: r.Decay.Floor}
	}
	for name, value := range c.values {
		if strings.HasPrefix(name, "home.") {
			r.Home = r.Home.written()
		}
		if value.IsDuration() {
			*value.Parameter.duration(r) = value.duration
		} else {
			*value.Parameter.number(r) = value.number
		}
	}
	return nil
}

// With returns the parameters changed by a list such as
//
//	scale=72h,offset=2h,decay=0.5,floor=0,weight=0.2,weight_2h=1,weight_2d=0.2,base=0.1,summary=0.5,site.decay=0.7
//
// and validated. The names are those of [Parameters], and curves, which is a JSON array or the
// name of a [Preset]; scale, offset and decay replace curves by one Gaussian. An empty list
// changes nothing. Errors wrap [ErrInvalid].
func (r Ranking) With(list string) (Ranking, error) {
	c, err := parseChanges(list)
	if err == nil {
		err = c.apply(&r)
	}
	if err != nil {
		return Ranking{}, err
	}
	return r, r.Validate()
}

// ChangesJSON writes a list that [Ranking.With] reads as the JSON object that
// changes the same parameters and no others. Errors wrap [ErrInvalid]; the
// values are not validated.
func ChangesJSON(list string) ([]byte, error) {
	c, err := parseChanges(list)
	if err != nil {
		return nil, err
	}
	var r Ranking
	if err := (&changes{values: c.values, decode: readStrictly}).apply(&r); err != nil {
		return nil, err
	}
	return writeParameters(&r, c.curves, func(p *Parameter) bool {
		_, ok := c.values[p.Name]
		return !ok
	})
}

// parseChanges reads a list of changes. Of a parameter that is there twice the
// last value counts.
func parseChanges(list string) (*changes, error) {
	c := &changes{decode: readStrictly}
	for one := range splitChanges(list) {
		if one = strings.TrimSpace(one); one == "" {
			continue
		}
		name, value, _ := strings.Cut(one, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if name == curvesName {
			c.curves = curvesValue(value)
			if _, err := ParseCurves(value); err != nil {
				return nil, err
			}
			continue
		}
		at := slices.IndexFunc(Parameters, func(p Parameter) bool { return p.Name == name })
		if at < 0 {
			return nil, errNoParameter(name)
		}
		if err := c.set(&Parameters[at], name, value); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func errNoParameter(name string) error {
	var names []string
	for i := range Parameters {
		names = append(names, Parameters[i].Name)
	}
	names = append(names, curvesName)
	return Errorf(ErrInvalid, "bad ranking parameters: there is no parameter %q; there are %s", name, strings.Join(names, ", "))
}

// splitChanges yields the parts between commas that are not in brackets, as those
// of curves are.
func splitChanges(list string) iter.Seq[string] {
	return func(yield func(string) bool) {
		depth, from := 0, 0
		for i, c := range []byte(list) {
			switch c {
			case '[', '{':
				depth++
			case ']', '}':
				depth--
			case ',':
				if depth > 0 {
					continue
				}
				if !yield(list[from:i]) {
					return
				}
				from = i + 1
			}
		}
		yield(list[from:])
	}
}

// curvesValue is the JSON of curves as a list of changes or a setting has them:
// as JSON, or as the bare name of a preset.
func curvesValue(text string) json.RawMessage {
	if strings.HasPrefix(text, "[") {
		return json.RawMessage(text)
	}
	name, _ := json.Marshal(text) // a string has no error
	return name
}

// DurationText writes 24h where [time.Duration.String] writes 24h0m0s.
func DurationText(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

// Changes lists the parameters that differ from others, in the form that
// [Ranking.With] reads: from.With(r.Changes(from)) is r. It is "" where none
// differs. A Gaussian that replaces curves is listed whole.
func (r Ranking) Changes(from Ranking) string {
	was := from.All()
	changed := slices.DeleteFunc(r.All(), func(one string) bool { return slices.Contains(was, one) })
	return strings.Join(changed, ",")
}

// String lists all parameters, in the form that [Ranking.With] reads, but for those that
// there were not when the ranking was made.
func (r Ranking) String() string { return strings.Join(r.list(r.lacks), ",") }

// All lists all parameters, each in the form that [Ranking.With] reads.
func (r Ranking) All() []string { return r.list(func(*Parameter) bool { return false }) }

// list lists the parameters that are not left out. Curves are in the place of those that
// they replace.
func (r Ranking) list(leftOut func(*Parameter) bool) []string {
	var list []string
	if r.Decay.Curves != (Curves{}) {
		list = append(list, curvesName+"="+r.Decay.Curves.String())
	}
	all := r.written()
	for i := range Parameters {
		if p := &Parameters[i]; !p.curved(&r) && !leftOut(p) {
			list = append(list, p.Name+"="+p.write(&all))
		}
	}
	return list
}
