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

// change is a new value of a parameter; called is its name where it was given, for errors.
type change struct {
	*Parameter
	called, text string
}

// set reads the value into a ranking.
func (c *change) set(r *Ranking) (err error) {
	if c.IsDuration() {
		err = setDuration(c.duration(r), c.called, &c.text)
	} else if *c.number(r), err = strconv.ParseFloat(c.text, 64); err != nil {
		err = Errorf(ErrInvalid, "bad ranking parameters: %s must be a number, not %q", c.called, c.text)
	}
	if err == nil && c.unset && c.at(r) == 0 {
		err = Errorf(ErrInvalid, "bad ranking parameters: %s must be %s, not 0", c.called, c.Bounds())
	}
	return err
}

// changes are new values of parameters, of which the last one counts, and of the curves.
type changes struct {
	values []change
	curves json.RawMessage // nil: not among them
	decode func(data []byte, into any) error
}

// names reports whether a parameter is among them.
func (c *changes) names(p *Parameter) bool {
	return slices.ContainsFunc(c.values, func(value change) bool { return value.Parameter == p })
}

// apply changes the ranking. What names a part of the one Gaussian replaces curves
// by it: by that of [PresetSingle], with the parts named changed.
func (c *changes) apply(r *Ranking) error {
	simple := slices.ContainsFunc(c.values, func(value change) bool { return value.ofGaussian() })
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
	for i := range c.values {
		if strings.HasPrefix(c.values[i].Name, "home.") {
			r.Home = r.Home.written()
		}
		if err := c.values[i].set(r); err != nil {
			return err
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
	var r Ranking
	c, err := parseChanges(list)
	if err == nil {
		err = c.apply(&r)
	}
	if err != nil {
		return nil, err
	}
	return writeParameters(&r, c.curves, func(p *Parameter) bool { return !c.names(p) })
}

// parseChanges reads a list of changes.
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
			continue
		}
		at := slices.IndexFunc(Parameters, func(p Parameter) bool { return p.Name == name })
		if at < 0 {
			return nil, errNoParameter(name)
		}
		c.values = append(c.values, change{&Parameters[at], name, value})
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
