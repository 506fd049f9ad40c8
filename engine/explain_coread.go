package engine

import (
	"slices"

	"github.com/freshet/freshet/engine/arrange"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/signals/coread"
)

// noteNear notes how near the candidates of a portion are.
func (x *explaining) noteNear(r *rounds) {
	next := 0
	for i := range r.fresh {
		if len(r.coRead.fresh) > 0 && r.isScored(&r.fresh[i]) {
			x.near[r.fresh[i].ID] = r.coRead.fresh[next]
			next++
		}
	}
}

// coReaders multiplies the scores of the candidates by the factors of co-readers, as the page was
// ranked. Candidates that were seen get the factor that they would have beside the others.
func (x *explaining) coReaders(r *rounds) {
	if !r.coRead.some {
		return
	}
	by, mean := x.query.Ranking.CoRead, r.coRead.mean
	for i := range x.out.Candidates {
		c := &x.out.Candidates[i]
		near, asked := x.near[c.ID]
		if !asked || x.home() && arrange.HomeSource(c.Source) != feed.SourceDiscovery {
			continue
		}
		c.CoReaders = explainedCoReaders(by, mean, near)
		c.Score *= float32(c.CoReaders.Factor)
	}
	if x.home() { // ranked later
		return
	}
	slices.SortStableFunc(x.out.Candidates, func(a, b api.Explained) int { return compareExplained(&a, &b) })
	for i := range x.out.Candidates {
		x.out.Candidates[i].Rank = i + 1
	}
	n := len(x.out.Candidates)
	if n > 0 {
		x.last.Score = min(x.last.Score, x.out.Candidates[n-1].Score)
	}
}

func explainedCoReaders(by feed.CoRead, mean float64, near coread.Nearness) *api.CoReaders {
	own := by.Factor(near.X, near.Readers)
	out := &api.CoReaders{Factor: float64(float32(by.Damped(own, mean, near.Readers)))}
	if near.People >= coread.LeastPeople {
		out.Own, out.Mean = &own, &mean
	}
	return out
}
