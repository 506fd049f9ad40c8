// Package fit fits the parameters of a ranking to what the readers of a community have clicked: to the
// mean over readers of the nDCG of what each opened next. The fit is judged by later clicks that it has
// not seen ([Propose]).
package fit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/freshet/freshet/engine/offline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/server/history"
)

// Config bounds a fit. Its memory is at most about 100 bytes for each candidate of each scored click:
// 250 MB with the largest Clicks and 500 candidates each. It uses one core.
type Config struct {
	Evaluations int      // rankings that are tried in all
	Keep        []string // parameters that are not fitted
	// Also names weights of live popularity that are fitted although they are 0 in the ranking in force
	// and by default: servers must keep what they weight.
	Also []string
	// Progress, if not nil, is called with the number of rankings tried so far.
	Progress func(evaluations int)
}

// Fewest is the smallest number of readers, of those in the judged clicks, for a verdict.
const Fewest = 20

// parts is the number of parts of equal size, in order of time, that the clicks are divided into: the
// fit to all parts before one is judged by it.
const parts = 4

// Verdicts.
const (
	Change   = "change"
	NoChange = "no change"
)

// Proposal is the result of a fit.
type Proposal struct {
	Verdict string       `json:"verdict"` // [Change] or [NoChange]
	Ranking feed.Ranking `json:"ranking"` // in force
	// Fitted is the ranking fitted to all clicks, and Changes how it differs from the one in force: the
	// proposal, if the verdict is [Change].
	Fitted     feed.Ranking `json:"fitted"`
	Changes    string       `json:"changes"`
	Parameters []Changed    `json:"parameters"`
	// NDCG is the mean over readers of the nDCG@20 that the ranking in force has on the judged clicks.
	// Gain is how much more the fits have that had not seen them; its 95 % interval is Gain ± Margin.
	NDCG   float64 `json:"ndcg"`
	Gain   float64 `json:"gain"`
	Margin float64 `json:"gain_margin"`
	Judges int     `json:"judged_readers"` // readers of the judged clicks
	Folds  []Fold  `json:"folds"`
	// Evaluations is the number of rankings tried; Exhausted says that there were no more, so that a
	// larger number might find a better one.
	Evaluations int  `json:"evaluations"`
	Exhausted   bool `json:"exhausted"`
}

// Changed is a parameter with its values as in a list of changes.
type Changed struct {
	Parameter string `json:"parameter"`
	From      string `json:"from"`
	To        string `json:"to"`
}

// Fold is a part of the clicks, judged by a fit to all parts before it.
type Fold struct {
	From    time.Time `json:"from"`
	Until   time.Time `json:"until"`
	Clicks  int       `json:"clicks"`
	Readers int       `json:"readers"`
	NDCG    float64   `json:"ndcg"` // mean over readers
	Fitted  float64   `json:"ndcg_fitted"`
	Changes string    `json:"changes"` // of the fit
}

// Propose fits the ranking in force to moments, which must be in order of time. The verdict is [Change]
// if the 95 % interval of the gain on unseen clicks is above zero. It is deterministic.
func Propose(ctx context.Context, inForce feed.Ranking, moments []history.Moment, c Config) (Proposal, error) {
	p := Proposal{Verdict: NoChange, Ranking: inForce, Fitted: inForce, Parameters: []Changed{}}
	cuts, err := cut(moments)
	if err != nil {
		return p, err
	}
	f := &fitter{inForce: inForce, keep: c.Keep, also: c.Also, progress: c.Progress}
	var before, gains means
	for i := 1; i < parts; i++ {
		f.left = c.Evaluations / parts
		fitted, err := f.fit(ctx, moments[:cuts[i]])
		if err != nil {
			return p, err
		}
		unseen := moments[cuts[i]:cuts[i+1]]
		p.Folds = append(p.Folds, judge(unseen, inForce, fitted, &before, &gains))
	}
	f.left = c.Evaluations / parts
	if p.Fitted, err = f.fit(ctx, moments); err != nil {
		return p, err
	}
	p.Changes, p.Parameters = p.Fitted.Changes(inForce), changed(inForce, p.Fitted)
	p.Evaluations, p.Exhausted = f.tried, f.exhausted
	of := gains.paired()
	p.NDCG, p.Gain, p.Judges = before.mean(), gains.mean(), len(gains.readers)
	margin, known := of.Margin()
	if !known || p.Judges < Fewest {
		return p, fmt.Errorf("the number of readers with clicks that judge the fit is %d, but at least %d are needed: give clicks of more readers, or of a longer time", p.Judges, Fewest)
	}
	p.Margin = margin
	if p.Gain > margin && p.Changes != "" {
		p.Verdict = Change
	}
	return p, nil
}

// cut returns the indices at which the parts begin, and the end.
func cut(moments []history.Moment) ([parts + 1]int, error) {
	var cuts [parts + 1]int
	for i := range cuts {
		cuts[i] = i * len(moments) / parts
		for cuts[i] > 0 && cuts[i] < len(moments) && moments[cuts[i]].At == moments[cuts[i]-1].At {
			cuts[i]++ // clicks of one second belong together
		}
		if i > 0 && cuts[i] <= cuts[i-1] {
			return cuts, errors.New("there are too few clicks at different times: the fit to earlier clicks is judged by later ones")
		}
	}
	return cuts, nil
}

// changed lists the parameters that differ.
func changed(from, to feed.Ranking) []Changed {
	values := func(r feed.Ranking) (names []string, of map[string]string) {
		of = map[string]string{}
		for _, one := range r.All() {
			name, value, _ := cutChange(one)
			names, of[name] = append(names, name), value
		}
		return names, of
	}
	names, after := values(to)
	more, before := values(from)
	list := []Changed{}
	for _, name := range more {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		if before[name] != after[name] {
			list = append(list, Changed{name, before[name], after[name]})
		}
	}
	return list
}

// judge compares a fit with the ranking in force, by clicks that it has not seen, and adds to the means
// of all folds.
func judge(unseen []history.Moment, inForce, fitted feed.Ranking, before, gains *means) Fold {
	var was, is history.Scorer
	was.Use(inForce)
	is.Use(fitted)
	var old, now means
	for i := range unseen {
		m := &unseen[i]
		a, b := was.NDCG(m), is.NDCG(m)
		old.add(m.Reader, a)
		now.add(m.Reader, b)
		before.add(m.Reader, a)
		gains.add(m.Reader, b-a)
	}
	moment := func(m *history.Moment) time.Time { return time.Unix(m.At, 0).UTC() }
	return Fold{
		From: moment(&unseen[0]), Until: moment(&unseen[len(unseen)-1]), Clicks: len(unseen), Readers: len(old.readers),
		NDCG: old.mean(), Fitted: now.mean(), Changes: fitted.Changes(inForce),
	}
}

// means collects figures by reader: each reader counts the same, however many figures they have.
type means struct{ readers map[string]mean }

type mean struct {
	sum float64
	n   int
}

func (m *means) add(reader string, figure float64) {
	if m.readers == nil {
		m.readers = map[string]mean{}
	}
	of := m.readers[reader]
	m.readers[reader] = mean{of.sum + figure, of.n + 1}
}

// paired returns the means of the readers as differences to estimate.
func (m *means) paired() *offline.Paired {
	var p offline.Paired
	for _, reader := range m.names() {
		of := m.readers[reader]
		p.Add(reader, of.sum/float64(of.n))
	}
	return &p
}

func (m *means) mean() float64 { return m.paired().Mean() }

// names returns the readers in a fixed order, so that sums are the same in every run.
func (m *means) names() []string {
	names := make([]string, 0, len(m.readers))
	for name := range m.readers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// finite reports whether a figure is a number: a ranking whose scores overflow is none to propose.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
