package feed

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/freshet/freshet/internal/strictjson"
)

// rankingText is how the parameters are written in JSON; a field that is
// missing is nil.
type rankingText struct {
	Decay      *decayText      `json:"decay,omitempty"`
	Popularity *popularityText `json:"popularity,omitempty"`
	Base       *float64        `json:"base,omitempty"`
	Keywords   *keywordsText   `json:"keywords,omitempty"`
}

type decayText struct {
	Scale  *string  `json:"scale,omitempty"`
	Offset *string  `json:"offset,omitempty"`
	Decay  *float64 `json:"decay,omitempty"`
	Floor  *float64 `json:"floor,omitempty"`
}

// DefaultKeywordsSummary is a new system's [Ranking.KeywordsSummary], and that of
// a ranking that was stored before there was one.
const DefaultKeywordsSummary = 0.5

type keywordsText struct {
	Summary *float64 `json:"summary,omitempty"`
}

type popularityText struct {
	Weight   *float64 `json:"weight,omitempty"`
	Weight2h *float64 `json:"weight_2h,omitempty"`
	Weight2d *float64 `json:"weight_2d,omitempty"`
}

// MarshalJSON writes every parameter, durations as Go writes them:
//
//	{"decay":{"scale":"24h","offset":"1h","decay":0.5,"floor":1e-06},"popularity":{"weight":0,"weight_2h":0,"weight_2d":0},"base":0.1,"keywords":{"summary":0.5}}
func (r Ranking) MarshalJSON() ([]byte, error) {
	scale, offset := DurationText(r.Decay.Scale), DurationText(r.Decay.Offset)
	return json.Marshal(rankingText{
		Decay:      &decayText{Scale: &scale, Offset: &offset, Decay: &r.Decay.Decay, Floor: &r.Decay.Floor},
		Popularity: &popularityText{Weight: &r.PopularityWeight, Weight2h: &r.Popularity2h, Weight2d: &r.Popularity2d},
		Base:       &r.Base,
		Keywords:   &keywordsText{Summary: &r.KeywordsSummary},
	})
}

// UnmarshalJSON changes the parameters that are named and keeps the others, so
// that a proposal need only say what it changes. Unknown fields are errors;
// the result is not validated. Errors wrap [ErrBadRanking].
func (r *Ranking) UnmarshalJSON(data []byte) error {
	var text rankingText
	if err := strictjson.Unmarshal(data, &text, strictjson.Errors{"": ErrBadRanking}); err != nil {
		return err
	}
	if r.Base == 0 { // read from nothing: one that was stored, perhaps before keywords.summary
		r.KeywordsSummary = DefaultKeywordsSummary
	}
	if d := text.Decay; d != nil {
		if err := errors.Join(setDuration(&r.Decay.Scale, "decay.scale", d.Scale), setDuration(&r.Decay.Offset, "decay.offset", d.Offset)); err != nil {
			return err
		}
		setNumber(&r.Decay.Decay, d.Decay)
		setNumber(&r.Decay.Floor, d.Floor)
	}
	if text.Popularity != nil {
		setNumber(&r.PopularityWeight, text.Popularity.Weight)
		setNumber(&r.Popularity2h, text.Popularity.Weight2h)
		setNumber(&r.Popularity2d, text.Popularity.Weight2d)
	}
	setNumber(&r.Base, text.Base)
	if text.Keywords != nil {
		setNumber(&r.KeywordsSummary, text.Keywords.Summary)
	}
	return nil
}

func setDuration(to *time.Duration, name string, text *string) error {
	if text == nil {
		return nil
	}
	d, err := time.ParseDuration(*text)
	if err != nil {
		return fmt.Errorf("%w: %s must be a duration such as 90m or 24h, not %q", ErrBadRanking, name, *text)
	}
	*to = d
	return nil
}

func setNumber(to, from *float64) {
	if from != nil {
		*to = *from
	}
}

// With returns the parameters changed by a list such as
//
//	scale=72h,offset=2h,decay=0.5,floor=0,weight=0.2,weight_2h=1,weight_2d=0.2,base=0.1,summary=0.5
//
// and validated. An empty list changes nothing. Errors wrap [ErrBadRanking].
func (r Ranking) With(changes string) (Ranking, error) {
	for change := range strings.SplitSeq(changes, ",") {
		if change = strings.TrimSpace(change); change == "" {
			continue
		}
		name, value, _ := strings.Cut(change, "=")
		if err := r.set(strings.TrimSpace(name), strings.TrimSpace(value)); err != nil {
			return Ranking{}, err
		}
	}
	return r, r.Validate()
}

func (r *Ranking) set(name, value string) error {
	numbers := map[string]*float64{
		"decay": &r.Decay.Decay, "floor": &r.Decay.Floor, "weight": &r.PopularityWeight, "base": &r.Base,
		"summary": &r.KeywordsSummary, "weight_2h": &r.Popularity2h, "weight_2d": &r.Popularity2d,
	}
	switch name {
	case "scale":
		return setDuration(&r.Decay.Scale, name, &value)
	case "offset":
		return setDuration(&r.Decay.Offset, name, &value)
	}
	to, known := numbers[name]
	if !known {
		return fmt.Errorf("%w: there is no parameter %q; there are scale, offset, decay, floor, weight, weight_2h, weight_2d, base and summary", ErrBadRanking, name)
	}
	x, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return fmt.Errorf("%w: %s must be a number, not %q", ErrBadRanking, name, value)
	}
	*to = x
	return nil
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
