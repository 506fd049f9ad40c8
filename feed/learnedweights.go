package feed

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// DefaultLearnedHalfLife is a new system's [LearnedWeights.HalfLife], and what a
// zero one stands for.
const DefaultLearnedHalfLife = 30 * 24 * time.Hour

// LearnedWeights is how much what was learned of a reader counts; see
// [Learned.Effects]. The zero value is off.
type LearnedWeights struct {
	// What a feature with much evidence adds to a relevance, as a share of
	// [Ranking.Base]; 0 turns the kind off, and what speaks against it, too.
	Tags, Author, Lang, Words float64
	// Negative is the part of a relevance that a feature with much evidence against
	// it takes away; 0 to 0.9.
	Negative float64
	// HalfLife is the time after which an act counts half; 0: the default. It counts
	// from when it changes: what was forgotten before stays so.
	HalfLife time.Duration
}

// maxNegative leaves a feature's items some of their relevance: what is never to be
// shown is muted.
const maxNegative = 0.9

// On reports whether what was learned changes anything.
func (w LearnedWeights) On() bool { return w.Tags > 0 || w.Author > 0 || w.Lang > 0 || w.Words > 0 }

// of is the weight of a kind of features.
func (w *LearnedWeights) of(kind FeatureKind) float64 {
	switch kind {
	case FeatureTag:
		return w.Tags
	case FeatureAuthor:
		return w.Author
	case FeatureLang:
		return w.Lang
	case FeatureWord:
		return w.Words
	}
	return 0
}

// Validate says what is wrong with the parameters; the error wraps
// [ErrBadRanking].
func (w LearnedWeights) Validate() error {
	for i, value := range w.numbers() {
		if most := learnedMost[i]; !(*value >= 0 && *value <= most) {
			return fmt.Errorf("%w: %s must be 0 to %v, not %v", ErrBadRanking, learnedNames[i], most, *value)
		}
	}
	if w.HalfLife != 0 && (w.HalfLife < time.Hour || w.HalfLife > 10*365*24*time.Hour) {
		return fmt.Errorf("%w: %s must be 1h to 87600h, not %s", ErrBadRanking, learnedHalfLife, DurationText(w.HalfLife))
	}
	return nil
}

// learnedNames are the numbers among the parameters as lists of changes name them.
var learnedNames = [...]string{"learned.tags", "learned.author", "learned.lang", "learned.words", "learned.negative"}

const learnedHalfLife = "learned.half_life"

// learnedMost are the largest values.
var learnedMost = [len(learnedNames)]float64{100, 100, 100, 100, maxNegative}

// numbers are the parameters, in the order of learnedNames.
func (w *LearnedWeights) numbers() [len(learnedNames)]*float64 {
	return [...]*float64{&w.Tags, &w.Author, &w.Lang, &w.Words, &w.Negative}
}

// learnedText is how the parameters are written in JSON.
type learnedText struct {
	Tags     *float64 `json:"tags,omitempty"`
	Author   *float64 `json:"author,omitempty"`
	Lang     *float64 `json:"lang,omitempty"`
	Words    *float64 `json:"words,omitempty"`
	Negative *float64 `json:"negative,omitempty"`
	HalfLife *string  `json:"half_life,omitempty"`
}

// numbers are the fields, in the order of learnedNames.
func (t *learnedText) numbers() [len(learnedNames)]**float64 {
	return [...]**float64{&t.Tags, &t.Author, &t.Lang, &t.Words, &t.Negative}
}

// text is nil for the zero parameters: a ranking from before there were any is
// written as it was.
func (w LearnedWeights) text() *learnedText {
	if w == (LearnedWeights{}) {
		return nil
	}
	life := DurationText(w.halfLife())
	t := &learnedText{HalfLife: &life}
	for i, value := range w.numbers() {
		*t.numbers()[i] = value
	}
	return t
}

// apply changes the parameters that are named.
func (t *learnedText) apply(w *LearnedWeights) error {
	if t == nil {
		return nil
	}
	for i, to := range w.numbers() {
		setNumber(to, *t.numbers()[i])
	}
	if t.HalfLife == nil {
		return nil
	}
	if err := setDuration(&w.HalfLife, learnedHalfLife, t.HalfLife); err != nil {
		return err
	}
	if w.HalfLife == 0 {
		return fmt.Errorf("%w: %s must be 1h to 87600h, not 0; learned.tags=0 and the others turn it off", ErrBadRanking, learnedHalfLife)
	}
	return nil
}

// setLearned writes a number, by its name in learnedNames.
func (t *rankingText) setLearned(name string, x float64) {
	*t.learned().numbers()[slices.Index(learnedNames[:], name)] = &x
}

// learned returns the learned parameters that are set, and creates them where there are none.
func (t *rankingText) learned() *learnedText {
	if t.Learned == nil {
		t.Learned = &learnedText{}
	}
	return t.Learned
}

// list writes the parameters as lists of changes have them.
func (w LearnedWeights) list() []string {
	var list []string
	for i, value := range w.numbers() {
		list = append(list, learnedNames[i]+"="+strconv.FormatFloat(*value, 'g', -1, 64))
	}
	return append(list, learnedHalfLife+"="+DurationText(w.halfLife()))
}

// learnedParameters names all of them, for people.
func learnedParameters() string { return strings.Join(learnedNames[:], ", ") + ", " + learnedHalfLife }
