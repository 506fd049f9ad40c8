package feed

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// curveText is the JSON form of a curve; a missing field is nil.
type curveText struct {
	Shape  *string  `json:"shape,omitempty"`
	Scale  *string  `json:"scale,omitempty"`
	Offset *string  `json:"offset,omitempty"`
	Decay  *float64 `json:"decay,omitempty"`
	Weight *float64 `json:"weight,omitempty"`
}

// parseCurves reads the value of decay.curves: a JSON array such as
//
//	[{"shape":"exp","scale":"12m","decay":0.5,"weight":0.6},{"shape":"constant","weight":0.02}]
//
// or the name of a [Preset], with or without quotes. A curve's shape must be given,
// and its scale unless it is a constant. The defaults are offset 0, decay 0.5 and weight 1.
// An array sets only the curves of the result; an empty one sets none. The result is not
// validated; errors wrap [ErrInvalid].
func parseCurves(value string, stored bool) (Decay, error) {
	if !strings.HasPrefix(value, "[") {
		return Preset(strings.Trim(value, `"`))
	}
	// Nested as in a ranking, so that errors contain the full path.
	var text struct {
		Decay struct {
			Curves []curveText `json:"curves"`
		} `json:"decay"`
	}
	data := fmt.Appendf(nil, `{"decay":{"curves":%s}}`, value)
	if err := decodeRanking(data, &text, stored); err != nil {
		return Decay{}, err
	}
	list := text.Decay.Curves
	if len(list) > MaxCurves {
		return Decay{}, Errorf(ErrInvalid, "bad ranking parameters: decay.curves must be at most %d curves, not %d", MaxCurves, len(list))
	}
	var d Decay
	for i := range list {
		var err error
		if d.Curves[i], err = list[i].curve(fmt.Sprintf("decay.curves[%d]", i)); err != nil {
			return Decay{}, err
		}
	}
	return d, nil
}

// curve converts one curve; at is its path, for errors.
func (t curveText) curve(at string) (Curve, error) {
	if t.Shape == nil {
		return Curve{}, Errorf(ErrInvalid, "bad ranking parameters: %s.shape is missing; give gauss, exp, linear or constant", at)
	}
	c := Curve{Shape: Shape(*t.Shape), Weight: 1}
	setNumber(&c.Weight, t.Weight)
	if c.Shape != Constant {
		c.Decay = 0.5
		if t.Scale == nil {
			return c, Errorf(ErrInvalid, `bad ranking parameters: %s.scale is missing; give a duration such as "12m" or "120h"`, at)
		}
	} else if t.Scale != nil || t.Offset != nil || t.Decay != nil {
		return c, Errorf(ErrInvalid, "bad ranking parameters: %s is a constant, which takes only a weight", at)
	}
	setNumber(&c.Decay, t.Decay)
	return c, errors.Join(setDuration(&c.Scale, at+".scale", t.Scale), setDuration(&c.Offset, at+".offset", t.Offset))
}

// MarshalJSON writes a curve with all its fields.
func (c Curve) MarshalJSON() ([]byte, error) {
	shape := string(c.Shape)
	text := curveText{Shape: &shape, Weight: &c.Weight}
	if c.Shape != Constant {
		scale, offset := DurationText(c.Scale), DurationText(c.Offset)
		text.Scale, text.Offset, text.Decay = &scale, &offset, &c.Decay
	}
	return json.Marshal(text)
}

// MarshalJSON writes the curves as an array, [] if there are none.
func (c Curves) MarshalJSON() ([]byte, error) { return json.Marshal(c[:c.Len()]) }

// String returns the name of a [Preset] with these curves, or their JSON.
func (c Curves) String() string {
	if c == presets[PresetTwo].Curves {
		return PresetTwo
	}
	text, err := c.MarshalJSON()
	if err != nil {
		return "[" + err.Error() + "]" // a number that JSON cannot represent
	}
	return string(text)
}

func setDuration(to *time.Duration, name string, text *string) error {
	if text == nil {
		return nil
	}
	d, err := time.ParseDuration(*text)
	if err != nil {
		return Errorf(ErrInvalid, "bad ranking parameters: %s must be a duration such as 90m or 24h, not %q", name, clipped(*text))
	}
	*to = d
	return nil
}

func setNumber(to, from *float64) {
	if from != nil {
		*to = *from
	}
}
