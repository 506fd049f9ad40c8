package feed

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
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
	Diversity  *diversityText  `json:"diversity,omitempty"`
	Explore    *exploreText    `json:"explore,omitempty"`
	Learned    *learnedText    `json:"learned,omitempty"`
	Home       *homeText       `json:"home,omitempty"`
}

type popularityText struct {
	Weight   *float64 `json:"weight,omitempty"`
	Weight2h *float64 `json:"weight_2h,omitempty"`
	Weight2d *float64 `json:"weight_2d,omitempty"`
}

// DefaultKeywordsSummary is a new system's [Ranking.KeywordsSummary], and that of
// a ranking that was stored before there was one.
const DefaultKeywordsSummary = 0.5

type keywordsText struct {
	Summary *float64 `json:"summary,omitempty"`
}

// MarshalJSON writes every parameter, durations as Go writes them:
//
//	{"decay":{"scale":"24h","offset":"1h","decay":0.5,"floor":1e-06},"popularity":{"weight":0,"weight_2h":0,"weight_2d":0},"base":0.1,"keywords":{"summary":0.5}}
//
// Where there are curves, "curves" is in the place of scale, offset and decay. The
// diversity, explore, the weights of what was learned and home follow, unless they are the zero ones.
func (r Ranking) MarshalJSON() ([]byte, error) {
	decay, err := r.Decay.text()
	if err != nil {
		return nil, err
	}
	return json.Marshal(rankingText{
		Decay: decay, Popularity: &popularityText{Weight: &r.PopularityWeight, Weight2h: &r.Popularity2h, Weight2d: &r.Popularity2d},
		Base: &r.Base, Keywords: &keywordsText{Summary: &r.KeywordsSummary}, Diversity: r.Diversity.text(),
		Explore: r.Explore.text(), Learned: r.Learned.text(), Home: r.Home.text(),
	})
}

// UnmarshalJSON changes the parameters that are named and keeps the others, so
// that a proposal need only say what it changes. scale, offset and decay replace
// curves by one Gaussian; decay.curves may be the name of a [Preset]. Unknown
// fields are errors; the result is not validated. Errors wrap [ErrBadRanking].
func (r *Ranking) UnmarshalJSON(data []byte) error {
	var text rankingText
	if err := strictjson.Unmarshal(data, &text, strictjson.Errors{"": ErrBadRanking}); err != nil {
		return err
	}
	if r.Base == 0 { // read from nothing: one that was stored, perhaps before keywords.summary
		r.KeywordsSummary = DefaultKeywordsSummary
	}
	return text.apply(r)
}

func (t *rankingText) apply(r *Ranking) error {
	if t.Decay != nil {
		if err := t.Decay.apply(&r.Decay); err != nil {
			return err
		}
	}
	if t.Popularity != nil {
		setNumber(&r.PopularityWeight, t.Popularity.Weight)
		setNumber(&r.Popularity2h, t.Popularity.Weight2h)
		setNumber(&r.Popularity2d, t.Popularity.Weight2d)
	}
	setNumber(&r.Base, t.Base)
	if t.Keywords != nil {
		setNumber(&r.KeywordsSummary, t.Keywords.Summary)
	}
	if t.Explore != nil {
		setNumber(&r.Explore.Share, t.Explore.Share)
	}
	if err := t.Learned.apply(&r.Learned); err != nil {
		return err
	}
	t.Home.apply(&r.Home)
	return t.Diversity.apply(&r.Diversity)
}

// With returns the parameters changed by a list such as
//
//	scale=72h,offset=2h,decay=0.5,floor=0,weight=0.2,weight_2h=1,weight_2d=0.2,base=0.1,summary=0.5,site.decay=0.7
//
// and validated. curves is a JSON array or the name of a [Preset]; scale, offset
// and decay replace curves by one Gaussian. An empty list changes nothing. Errors
// wrap [ErrBadRanking].
func (r Ranking) With(changes string) (Ranking, error) {
	text, err := parseChanges(changes)
	if err == nil {
		err = text.apply(&r)
	}
	if err != nil {
		return Ranking{}, err
	}
	return r, r.Validate()
}

// ChangesJSON writes a list that [Ranking.With] reads as the JSON object that
// changes the same parameters and no others. Errors wrap [ErrBadRanking]; the
// values are not validated.
func ChangesJSON(list string) ([]byte, error) {
	text, err := parseChanges(list)
	if err != nil {
		return nil, err
	}
	return json.Marshal(text)
}

// parseChanges reads a list of changes. Of a parameter that is there twice the
// last value counts.
func parseChanges(list string) (*rankingText, error) {
	var text rankingText
	for change := range splitChanges(list) {
		if change = strings.TrimSpace(change); change == "" {
			continue
		}
		name, value, _ := strings.Cut(change, "=")
		if err := text.set(strings.TrimSpace(name), strings.TrimSpace(value)); err != nil {
			return nil, err
		}
	}
	return &text, nil
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

func (t *rankingText) set(name, value string) error {
	decay := t.Decay
	if decay == nil {
		decay = new(decayText)
	}
	popularity := t.Popularity
	if popularity == nil {
		popularity = new(popularityText)
	}
	var keywords keywordsText
	var explore exploreText
	var scratch time.Duration
	numbers := map[string]**float64{
		"decay": &decay.Decay, "floor": &decay.Floor, "weight": &popularity.Weight, "base": &t.Base,
		"weight_2h": &popularity.Weight2h, "weight_2d": &popularity.Weight2d, "summary": &keywords.Summary,
		"explore.share": &explore.Share,
	}
	switch name {
	case "scale":
		decay.Scale, t.Decay = &value, decay
		return setDuration(&scratch, name, &value)
	case "offset":
		decay.Offset, t.Decay = &value, decay
		return setDuration(&scratch, name, &value)
	case learnedHalfLife:
		t.learned().HalfLife = &value
		return setDuration(&scratch, name, &value)
	case "curves":
		decay.Curves, t.Decay = curvesValue(value), decay
		_, err := ParseCurves(value)
		return err
	}
	x, err := strconv.ParseFloat(value, 64)
	to, known := numbers[name]
	if !known {
		return t.setOther(name, value, x, err)
	}
	if err != nil {
		return errNoNumber(name, value)
	}
	*to = &x
	switch name {
	case "weight", "weight_2h", "weight_2d":
		t.Popularity = popularity
	case "summary":
		t.Keywords = &keywords
	case "explore.share":
		t.Explore = &explore
	case "decay", "floor":
		t.Decay = decay
	}
	return nil
}

// setOther sets a number of diversity, of what was learned or of home; bad is why the
// value is none.
func (t *rankingText) setOther(name, value string, x float64, bad error) error {
	varies, learned, home := slices.Contains(diversityNames[:], name), slices.Contains(learnedNames[:], name), slices.Contains(homeNames[:], name)
	switch {
	case !varies && !learned && !home:
		return errNoParameter(name)
	case bad != nil:
		return errNoNumber(name, value)
	case varies:
		return t.diversity(name, x)
	case learned:
		t.setLearned(name, x)
	default:
		t.setHome(name, x)
	}
	return nil
}

func errNoNumber(name, value string) error {
	return fmt.Errorf("%w: %s must be a number, not %q", ErrBadRanking, name, value)
}

func errNoParameter(name string) error {
	return fmt.Errorf("%w: there is no parameter %q; there are scale, offset, decay, curves, floor, weight, weight_2h, weight_2d, base, summary, explore.share, %s, %s, %s",
		ErrBadRanking, name, strings.Join(diversityNames[:], ", "), learnedParameters(), strings.Join(homeNames[:], ", "))
}

func (t *rankingText) diversity(name string, x float64) error {
	if x == 0 && strings.HasSuffix(name, ".decay") {
		return errZeroDecay(name)
	}
	if t.Diversity == nil {
		t.Diversity = &diversityText{}
	}
	t.Diversity.set(name, &x)
	return nil
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
