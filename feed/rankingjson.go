package feed

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/freshet/freshet/feed/strictjson"
)

// MarshalJSON writes every parameter, durations as Go writes them:
//
//	{"decay":{"scale":"24h","offset":"1h","decay":0.5,"floor":1e-06},"popularity":{"weight":0,"weight_2h":0,"weight_2d":0,"weight_1h":0,…},"base":0.1,"keywords":{"summary":0.5},…}
//
// If there are curves, "curves" replaces scale, offset and decay. Zero values are written, too:
// for [Ranking.Propose] a parameter that is left out keeps its value.
func (r Ranking) MarshalJSON() ([]byte, error) {
	var curves json.RawMessage
	if r.Decay.Curves.Len() > 0 {
		var err error
		if curves, err = r.Decay.Curves.MarshalJSON(); err != nil {
			return nil, err
		}
	}
	var list []*Parameter
	for i := range Parameters {
		if !Parameters[i].curved(&r) {
			list = append(list, &Parameters[i])
		}
	}
	all := r.written()
	return writeParameters(&all, curves, list)
}

// writeParameters writes the curves, if any, and parameters.
func writeParameters(r *Ranking, curves json.RawMessage, list []*Parameter) ([]byte, error) {
	into := reflect.New(rankingShape).Elem()
	if curves != nil {
		fieldAt(into, curvesPath).SetBytes(curves)
	}
	for _, p := range list {
		if p.IsDuration() {
			text := p.write(r)
			fieldAt(into, p.Path).Set(reflect.ValueOf(&text))
		} else {
			fieldAt(into, p.Path).Set(reflect.ValueOf(p.number(r)))
		}
	}
	return json.Marshal(into.Interface())
}

// Propose changes the parameters named in data and keeps the others. scale, offset and decay
// replace curves by one Gaussian; decay.curves may be the name of a [Preset]. Unknown fields are
// errors; the result is not validated. Errors wrap [ErrInvalid].
func (r *Ranking) Propose(data []byte) error { return r.read(data, false) }

// UnmarshalJSON reads a stored ranking like [Ranking.Propose], but ignores unknown fields, which
// a newer version may have written.
func (r *Ranking) UnmarshalJSON(data []byte) error { return r.read(data, true) }

// decodeRanking decodes a ranking or a part of it: a stored one, or strictly one from a caller.
func decodeRanking(data []byte, into any, stored bool) error {
	if !stored {
		return strictjson.Unmarshal(data, into, strictjson.Errors{"": Errorf(ErrInvalid, "bad ranking parameters")})
	}
	if err := strictjson.UnmarshalStored(data, into); err != nil {
		return Errorf(ErrInvalid, "bad ranking parameters: %w", err)
	}
	return nil
}

// read changes the parameters named in data, as [decodeRanking] decodes it.
func (r *Ranking) read(data []byte, stored bool) error {
	into := reflect.New(rankingShape)
	if err := decodeRanking(data, into.Interface(), stored); err != nil {
		return err
	}
	if r.Base == 0 { // the receiver is zero: a stored ranking, perhaps older than keywords.summary
		r.KeywordsSummary = DefaultKeywordsSummary
	}
	c := changes{stored: stored}
	curves := fieldAt(into.Elem(), curvesPath).Bytes()
	if string(curves) != "null" {
		c.curves = curves
	}
	for i := range Parameters {
		p := &Parameters[i]
		switch value := fieldAt(into.Elem(), p.Path); {
		case value.IsNil():
		case p.IsDuration():
			c.values = append(c.values, change{p, p.Path, value.Elem().String()})
		default:
			c.values = append(c.values, change{p, p.Path, strconv.FormatFloat(value.Elem().Float(), 'g', -1, 64)})
		}
	}
	changed := *r
	if err := c.apply(&changed); err != nil {
		return err
	}
	*r = changed
	return nil
}

// rankingShape is a struct type with the fields of a ranking's JSON, nested like its objects.
// Fields missing in the JSON are nil.
var rankingShape = shapeOf("")

// shapeOf returns the struct type of the paths below a prefix, which ends with a dot or is empty.
func shapeOf(below string) reflect.Type {
	paths := []string{}
	for i := range Parameters {
		paths = append(paths, Parameters[i].Path)
		if Parameters[i].Name == "decay" {
			paths = append(paths, curvesPath)
		}
	}
	var fields []reflect.StructField
	var names []string
	for _, path := range paths {
		rest, ok := strings.CutPrefix(path, below)
		name, _, group := strings.Cut(rest, ".")
		if !ok || slices.Contains(names, name) {
			continue
		}
		names = append(names, name)
		typ := reflect.TypeFor[*float64]()
		switch p, _ := ParameterOf(path); {
		case group:
			typ = shapeOf(below + name + ".")
		case path == curvesPath:
			typ = reflect.TypeFor[json.RawMessage]()
		case p.IsDuration():
			typ = reflect.TypeFor[*string]()
		}
		fields = append(fields, reflect.StructField{Name: fieldName(name), Type: typ, Tag: reflect.StructTag(`json:"` + name + `,omitzero"`)})
	}
	return reflect.StructOf(fields)
}

// fieldName returns the exported Go name of a field.
func fieldName(name string) string { return "F_" + name }

// fieldAt returns the field at a path.
func fieldAt(v reflect.Value, path string) reflect.Value {
	for name := range strings.SplitSeq(path, ".") {
		v = v.FieldByName(fieldName(name))
	}
	return v
}
