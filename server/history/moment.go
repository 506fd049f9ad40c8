package history

import (
	"strconv"
	"strings"
	"time"

	"github.com/freshet/freshet/engine/offline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/signals/coread"
)

// Moment holds what the scores of a reader's candidates are made of, just before the reader opens one
// of them. Each list has an entry for each candidate, newest first; a list is nil if it would have no
// effect.
type Moment struct {
	At      int64 // Unix seconds
	Reader  string
	Clicked int // index of the candidate that is opened
	Of      int // number of candidates; more than are listed if there were too many

	Ages      []int32                 // seconds
	Declared  []float32               // Σ weights of the matching interests, and of keywords in the title
	Summaries []float32               // Σ weights of keywords that are only in the summary
	Learned   [learnedKinds][]float32 // Σ parts of matching learned features, by kind; see [feed.Learned.Effects]
	Readers   [][]float32             // log10(1 + readers), by [PopularityWeights]
	Near      []coread.Nearness

	totals [learnedKinds]float64 // Σ parts of all features of the reader, also of those that match nothing
}

// learned lists the parameters of learned interests, by kind.
var learned = []struct {
	Name string
	kind feed.FeatureKind
	of   func(*feed.LearnedWeights) float64
}{
	{"learned.tags", feed.FeatureTag, func(w *feed.LearnedWeights) float64 { return w.Tags }},
	{"learned.author", feed.FeatureAuthor, func(w *feed.LearnedWeights) float64 { return w.Author }},
	{"learned.lang", feed.FeatureLang, func(w *feed.LearnedWeights) float64 { return w.Lang }},
	{"learned.words", feed.FeatureWord, func(w *feed.LearnedWeights) float64 { return w.Words }},
}

const learnedKinds = 4

// LearnedParameters returns the names of the parameters of learned interests, in the order of
// [Moment.Learned].
func LearnedParameters() (names []string) {
	for _, l := range learned {
		names = append(names, l.Name)
	}
	return names
}

// PopularityWeight is a parameter that weights the readers of an item with a half-life.
type PopularityWeight struct {
	*feed.Parameter
	HalfLife time.Duration
}

// PopularityWeights returns all parameters of live popularity, such as weight_2h.
func PopularityWeights() (list []PopularityWeight) {
	for i := range feed.Parameters {
		p := &feed.Parameters[i]
		text, live := strings.CutPrefix(p.Path, "popularity.weight_")
		halfLife, ok := halfLifeOf(text)
		if live && ok {
			list = append(list, PopularityWeight{p, halfLife})
		}
	}
	return list
}

// halfLifeOf reads a number of hours or days, such as 2h or 7d.
func halfLifeOf(text string) (halfLife time.Duration, ok bool) {
	for unit, length := range map[string]time.Duration{"h": time.Hour, "d": 24 * time.Hour} {
		number, has := strings.CutSuffix(text, unit)
		n, err := strconv.Atoi(number)
		if has && err == nil && n > 0 {
			return time.Duration(n) * length, true
		}
	}
	return 0, false
}

// Scorer computes the scores of a ranking. It is not safe for concurrent use.
type Scorer struct {
	ranking feed.Ranking
	decay   *feed.DecayFunc
	readers []float64 // weights of Moment.Readers
	learned [learnedKinds]float64

	scores  []float32
	factors []float32
}

// Use sets the ranking, which must be valid.
func (s *Scorer) Use(r feed.Ranking) {
	s.ranking, s.decay = r, r.Decay.Func()
	s.readers = s.readers[:0]
	for _, w := range PopularityWeights() {
		s.readers = append(s.readers, w.Of(r))
	}
	for i, l := range learned {
		s.learned[i] = l.of(&r.Learned)
	}
}

// Scores returns the score of each candidate, as the engine computes it, but without uploaded
// popularity. The result is valid until the next call.
func (s *Scorer) Scores(m *Moment) []float32 {
	s.scores = s.scores[:0]
	base := s.ranking.Base
	var part [learnedKinds]float64
	sum := 0.0
	for k := range part {
		part[k] = s.learned[k] * base
		sum += part[k] * m.totals[k]
	}
	if sum > 1 { // as feed.Learned.Effects bounds them
		for k := range part {
			part[k] /= sum
		}
	}
	for i, age := range m.Ages {
		relevance, popularity := base, 1.0
		if m.Declared != nil {
			relevance += float64(m.Declared[i])
		}
		if m.Summaries != nil {
			relevance += s.ranking.KeywordsSummary * float64(m.Summaries[i])
		}
		for k := range m.Learned {
			if m.Learned[k] != nil {
				relevance += part[k] * float64(m.Learned[k][i])
			}
		}
		for h, logs := range m.Readers {
			if logs != nil {
				popularity += s.readers[h] * float64(logs[i])
			}
		}
		s.scores = append(s.scores, float32(relevance*s.decay.At(float64(age))*popularity))
	}
	if s.ranking.CoRead.On() && m.Near != nil {
		s.factors, _ = coread.Factors(s.ranking.CoRead, m.Near, s.factors)
		for i, factor := range s.factors {
			s.scores[i] *= factor
		}
	}
	return s.scores
}

// Depth is the k of [Scorer.NDCG].
const Depth = 20

// NDCG returns the nDCG at [Depth] of the candidate that is opened: see [offline.NDCG]. If not all
// candidates are listed, its rank is estimated from those that are.
func (s *Scorer) NDCG(m *Moment) float64 {
	scores := s.Scores(m)
	own, before := scores[m.Clicked], 0
	for i, score := range scores {
		if score > own || score == own && i < m.Clicked {
			before++
		}
	}
	if m.Of > len(scores) {
		before = (before*(m.Of-1) + (len(scores)-1)/2) / (len(scores) - 1)
	}
	return offline.NDCG(before+1, Depth)
}
