package engine

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/freshet/freshet/engine/degraded"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/recall"
	"github.com/freshet/freshet/signals/coread"
)

// MaxReasons is the maximum number of reasons of an item.
const MaxReasons = 3

var reasonOrder = []api.ReasonType{api.ReasonInterest, api.ReasonKeyword, api.ReasonLearned, api.ReasonFresh, api.ReasonPopular, api.ReasonCoRead}

const (
	// notable is the least factor by which freshness or popularity must raise a score to be a
	// reason.
	notable = 1.5
	// freshAgainst is the age of the item that a fresh one is compared with.
	freshAgainst = 24 * time.Hour
	// freshLeast is the minimum share of a new item's decay factor that a fresh item has: where
	// scores fall within minutes, an item hours old is not fresh.
	freshLeast = 0.5
)

// reasons returns the components of an item's score, the largest first, [MaxReasons] at most. The
// size of a component is the share of the score that would be missing without it:
//
//	an interest, keyword or learned feature:  gain / relevance
//	fresh:                   1 − decay factor of an item a day old / decay factor
//	popular:                 1 − 1 / popularity factor
//	co-read:                 1 − 1 / coRead
func reasons(f *recall.Factors, decay *feed.DecayFunc, coRead float64) []api.Reason {
	if !f.Known {
		return nil
	}
	all := make([]weighted, 0, len(f.Tags)+len(f.Keywords)+len(f.Learned)+2)
	relevance := f.Relevance / f.LearnedFactor()
	for _, g := range f.Tags {
		all = append(all, weighted{api.Reason{Type: api.ReasonInterest, Value: g.Name}, g.Score / relevance})
	}
	for _, g := range f.Keywords {
		all = append(all, weighted{api.Reason{Type: api.ReasonKeyword, Value: g.Name}, g.Score / relevance})
	}
	for _, g := range f.Learned {
		if g.Score > 0 {
			all = append(all, weighted{api.Reason{Type: api.ReasonLearned, Value: g.Value, Kind: g.Kind}, g.Score / relevance})
		}
	}
	old := decay.At(freshAgainst.Seconds())
	if f.Decay > 0 && f.Decay >= notable*old && f.Decay >= freshLeast*decay.At(0) {
		all = append(all, weighted{api.Reason{Type: api.ReasonFresh}, 1 - old/f.Decay})
	}
	if f.PopularityFactor >= notable {
		all = append(all, weighted{api.Reason{Type: api.ReasonPopular}, 1 - 1/f.PopularityFactor})
	}
	if coRead >= notable {
		all = append(all, weighted{api.Reason{Type: api.ReasonCoRead}, 1 - 1/coRead})
	}
	slices.SortFunc(all, weighted.compare)
	out := make([]api.Reason, min(len(all), MaxReasons))
	for i := range out {
		out[i] = all[i].Reason
	}
	return out
}

// weighted is a reason with its share of the score.
type weighted struct {
	api.Reason
	share float64
}

// compare orders by share. Shares are rounded, because one source computes them in float64 and
// another one in float32.
func (w weighted) compare(other weighted) int {
	return cmp.Or(
		cmp.Compare(math.Round(other.share*1e6), math.Round(w.share*1e6)),
		cmp.Compare(slices.Index(reasonOrder, w.Type), slices.Index(reasonOrder, other.Type)),
		cmp.Compare(w.Value, other.Value), cmp.Compare(w.Kind, other.Kind),
	)
}

// why adds to an answer the reasons for its items, by the profile they were read with and the
// present ranking and origin: a page of a session may have been ranked by earlier ones. It never
// fails the answer: if the source does not respond in time, there are no reasons and the answer
// says so.
func (e *Engine) why(ctx context.Context, r Request, ahead *coread.Ahead, profile *feed.Profile, a *Answer) {
	if len(a.Docs) == 0 || profile == nil {
		return
	}
	ctx, timed := e.cfg.enter(ctx, whyStage)
	defer timed.end()
	if e.cfg.RoundsFor > 0 {
		inTime, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer time.AfterFunc(e.cfg.RoundsFor, func() { cancel(fmt.Errorf("%w: computing reasons timed out", context.Canceled)) }).Stop()
		ctx = inTime
	}
	ids := convert.Each(a.Docs, func(doc feed.Doc) string { return doc.ID })
	q, _, err := e.stages.query(r.Agent, r.Feed, *profile)
	near := e.nearAhead(ctx, r.Agent, ahead, &q, ids)
	var factors []recall.Factors
	if err == nil {
		factors, err = e.stages.factors(ctx, q, ids)
	}
	coRead := near()
	if err != nil {
		e.cfg.Log.WarnContext(ctx, "an answer was sent without reasons", "agent", r.Agent, "error", err)
		degraded.Why.Count()
		a.Degraded = append(a.Degraded, degraded.Why.Names()...)
		return
	}
	decay := q.Ranking.Decay.Func()
	a.Why = make([][]api.Reason, len(factors))
	for i := range factors {
		a.Why[i] = reasons(&factors[i], decay, coRead(i))
		if len(a.Refs) > 0 && a.Refs[i].Source == feed.SourceExplore {
			a.Why[i] = append([]api.Reason{{Type: api.ReasonExplore}}, a.Why[i][:min(len(a.Why[i]), MaxReasons-1)]...)
		}
	}
}
