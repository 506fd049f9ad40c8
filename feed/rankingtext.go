package feed

import (
	"encoding/json"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"
)

// DefaultKeywordsSummary is the default of [Ranking.KeywordsSummary], also for a ranking stored
// before the parameter existed.
const DefaultKeywordsSummary = 0.5

// curvesName is the name of the curves in lists of changes, curvesPath their path in JSON.
const (
	curvesName = "curves"
	curvesPath = "decay.curves"
)

// change is a new value of a parameter; called is the name that the caller used, for errors.
type change struct {
	*Parameter
	called, text string
}

// set parses the value into a ranking.
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

// changes holds new values of parameters, of which the last one counts, and of the curves.
type changes struct {
	values []change
	curves json.RawMessage // nil if not changed
	stored bool            // they are of a stored ranking
}

// apply changes the ranking. Changing a part of the one Gaussian replaces curves by the Gaussian
// of [PresetSingle] with that change.
func (c *changes) apply(r *Ranking) error {
	simple := slices.ContainsFunc(c.values, func(value change) bool { return value.ofGaussian() })
	if c.curves != nil {
		given, err := parseCurves(string(c.curves), c.stored)
		if err != nil {
			return err
		}
		preset, several := c.curves[0] == '"', given.Curves.Len() > 0
		if simple && (several || preset) {
			return Errorf(ErrInvalid, "bad ranking parameters: decay.curves replaces decay.scale, decay.offset and decay.decay: set one or the other")
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
// and validates them. The names are those of [Parameters] and "curves", a JSON array or the
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

// ChangesJSON converts a list for [Ranking.With] to the JSON object that changes the same
// parameters. Errors wrap [ErrInvalid]; the values are not validated.
func ChangesJSON(list string) ([]byte, error) {
	var r Ranking
	c, err := parseChanges(list)
	if err == nil {
		err = c.apply(&r)
	}
	if err != nil {
		return nil, err
	}
	var changed []*Parameter
	for _, value := range c.values {
		changed = append(changed, value.Parameter)
	}
	return writeParameters(&r, c.curves, changed)
}

// parseChanges reads a list of changes.
func parseChanges(list string) (*changes, error) {
	c := &changes{}
	for one := range splitChanges(list) {
		one = strings.TrimSpace(one)
		if one == "" {
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
	return Errorf(ErrInvalid, "bad ranking parameters: unknown parameter %q; known are %s", name, strings.Join(names, ", "))
}

// splitChanges splits at commas outside brackets; those of curves are inside.
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

// curvesValue returns the JSON of curves given in a list of changes or a setting: JSON itself, or
// the bare name of a preset.
func curvesValue(text string) json.RawMessage {
	if strings.HasPrefix(text, "[") {
		return json.RawMessage(text)
	}
	name, _ := json.Marshal(text) // a string cannot fail
	return name
}

// DurationText formats a duration without trailing zero units: 24h where [time.Duration.String]
// returns 24h0m0s.
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

// Changes returns the parameters that differ from another ranking, in the form that
// [Ranking.With] reads: from.With(r.Changes(from)) is r. It is "" if none differs. A Gaussian
// that replaces curves is listed in full.
func (r Ranking) Changes(from Ranking) string {
	was := from.All()
	changed := slices.DeleteFunc(r.All(), func(one string) bool { return slices.Contains(was, one) })
	return strings.Join(changed, ",")
}

// String returns all parameters in the form that [Ranking.With] reads.
func (r Ranking) String() string { return strings.Join(r.All(), ",") }

// All returns all parameters, each in the form that [Ranking.With] reads. Curves replace scale,
// offset and decay.
func (r Ranking) All() (list []string) {
	if r.Decay.Curves != (Curves{}) {
		list = append(list, curvesName+"="+r.Decay.Curves.String())
	}
	all := r.written()
	for i := range Parameters {
		p := &Parameters[i]
		if !p.curved(&r) {
			list = append(list, p.Name+"="+p.write(&all))
		}
	}
	return list
}
