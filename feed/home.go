package feed

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
)

// Home is how the sources of home score what they propose; see [Home.Score]. The
// zero value is that of a ranking from before there was one, and counts as
// [DefaultHome].
type Home struct {
	Decay     float64 // λ, per hour of age; > 0
	Following float64 // base of posts by whom the reader follows; > 0
	Trending  float64 // base of what is trending; > 0
	Promoted  float64 // base of what is promoted; > 0
	Affinity  float64 // what the affinity to the author adds at most; 0 turns it off
}

// DefaultHome is a new system's.
var DefaultHome = Home{Decay: 0.02, Following: 1, Trending: 0.6, Promoted: 0.8, Affinity: 0.5}

// affinityHalf is the number of likes that make an affinity of one half.
const affinityHalf = 5

// Affinity returns n/(n+5), where n is how many posts of an author the reader has
// liked in the last 30 days.
func Affinity(likes int) float64 {
	n := float64(max(0, likes))
	return n / (n + affinityHalf)
}

// Reactions returns likes + 2·comments.
func Reactions(likes, comments int64) float64 {
	return float64(max(0, likes)) + 2*float64(max(0, comments))
}

// Score returns
//
//	base × exp(−Decay · hours old) × (1 + log10(reactions + 1)) × (1 + Affinity · affinity)
//
// with the base of the source. What is dated in the future is as good as new. For
// other sources it is 0: those have scores of their own.
func (h Home) Score(source Source, age time.Duration, reactions, affinity float64) float64 {
	return h.Explain(source, age, reactions, affinity).Total()
}

// HomeScore is the factors of a score of home.
type HomeScore struct {
	Base, Decay, Popularity, Affinity float64
}

// Total is the score.
func (s HomeScore) Total() float64 { return s.Base * s.Decay * s.Popularity * s.Affinity }

// Explain returns what [Home.Score] is made of.
func (h Home) Explain(source Source, age time.Duration, reactions, affinity float64) HomeScore {
	h = h.written()
	return HomeScore{
		Base: h.base(source), Decay: math.Exp(-h.Decay * max(0, age.Hours())), Popularity: 1 + LogCount(reactions), Affinity: 1 + h.Affinity*affinity,
	}
}

func (h *Home) base(source Source) float64 {
	switch source {
	case SourceFollowing:
		return h.Following
	case SourceTrending:
		return h.Trending
	case SourcePromoted:
		return h.Promoted
	}
	return 0
}

// written are the parameters as they count.
func (h Home) written() Home {
	if h == (Home{}) {
		return DefaultHome
	}
	return h
}

// AffinityOff reports whether the affinity to an author changes no score.
func (h Home) AffinityOff() bool { return h.written().Affinity == 0 }

// homeNames are the parameters as lists of changes name them.
var homeNames = [...]string{"home.decay", "home.following", "home.trending", "home.promoted", "home.affinity"}

// homeMost are the largest values. Only the affinity may be 0.
var homeMost = [len(homeNames)]float64{10, 1000, 1000, 1000, 1000}

// numbers are the parameters, in the order of homeNames.
func (h *Home) numbers() [len(homeNames)]*float64 {
	return [...]*float64{&h.Decay, &h.Following, &h.Trending, &h.Promoted, &h.Affinity}
}

// Validate says what is wrong with the parameters; the error wraps [ErrBadRanking].
func (h Home) Validate() error {
	h = h.written()
	for i, value := range h.numbers() {
		zero := homeNames[i] == "home.affinity"
		if most := homeMost[i]; !(*value > 0 && *value <= most || zero && *value == 0) {
			least := "greater than 0 and"
			if zero {
				least = "0 or more, and"
			}
			return fmt.Errorf("%w: %s must be %s at most %v, not %v", ErrBadRanking, homeNames[i], least, most, *value)
		}
	}
	return nil
}

// homeText is how the parameters are written in JSON.
type homeText struct {
	Decay     *float64 `json:"decay,omitempty"`
	Following *float64 `json:"following,omitempty"`
	Trending  *float64 `json:"trending,omitempty"`
	Promoted  *float64 `json:"promoted,omitempty"`
	Affinity  *float64 `json:"affinity,omitempty"`
}

// numbers are the fields, in the order of homeNames.
func (t *homeText) numbers() [len(homeNames)]**float64 {
	return [...]**float64{&t.Decay, &t.Following, &t.Trending, &t.Promoted, &t.Affinity}
}

// text is nil for the zero parameters: a ranking from before there were any is
// written as it was.
func (h Home) text() *homeText {
	if h == (Home{}) {
		return nil
	}
	t := &homeText{}
	for i, value := range h.numbers() {
		*t.numbers()[i] = value
	}
	return t
}

// apply changes the parameters that are named.
func (t *homeText) apply(h *Home) {
	if t == nil {
		return
	}
	*h = h.written()
	for i, to := range h.numbers() {
		setNumber(to, *t.numbers()[i])
	}
}

// setHome writes a number, by its name in homeNames.
func (t *rankingText) setHome(name string, x float64) {
	if t.Home == nil {
		t.Home = &homeText{}
	}
	*t.Home.numbers()[slices.Index(homeNames[:], name)] = &x
}

// list writes the parameters as lists of changes have them.
func (h Home) list() []string {
	h = h.written()
	var list []string
	for i, value := range h.numbers() {
		list = append(list, homeNames[i]+"="+strconv.FormatFloat(*value, 'g', -1, 64))
	}
	return list
}
