package offline

import "cmp"

// Standing is how one of several rankings has done on clicks.
type Standing struct {
	Scores Scores `json:"scores"`
	// Of the clicks, how many it places higher and lower than the first ranking.
	Higher int `json:"higher"`
	Lower  int `json:"lower"`
	// Gain is its NDCG less that of the first ranking, and lies within Gain ±
	// Margin (95 %); a nil Margin says that there are too few agents to tell.
	Gain   float64  `json:"ndcg_gain"`
	Margin *float64 `json:"ndcg_gain_margin"`
}

// Scoreboard scores rankings by the places they give to clicked items, each
// compared with the first of them.
type Scoreboard struct {
	k       int
	agents  map[string]struct{}
	clicks  int
	entries []entry
}

type entry struct {
	sums          Scores
	gains         Paired
	higher, lower int
}

// NewScoreboard begins one of so many rankings, for scores at k.
func NewScoreboard(rankings, k int) *Scoreboard {
	return &Scoreboard{k: k, agents: map[string]struct{}{}, entries: make([]entry, rankings)}
}

// Add counts one click of an agent, with the rank of its item by each ranking.
func (s *Scoreboard) Add(agent string, ranks []int) {
	s.clicks++
	s.agents[agent] = struct{}{}
	for i, rank := range ranks {
		e := &s.entries[i]
		e.sums.HitRate += Hit(rank, s.k)
		e.sums.NDCG += NDCG([]int{rank}, s.k)
		e.sums.MRR += ReciprocalRank(rank)
		e.gains.Add(agent, NDCG([]int{rank}, s.k)-NDCG(ranks[:1], s.k))
		switch cmp.Compare(ReciprocalRank(rank), ReciprocalRank(ranks[0])) {
		case 1:
			e.higher++
		case -1:
			e.lower++
		}
	}
}

// Counted is how many clicks of how many agents were added.
func (s *Scoreboard) Counted() (clicks, agents int) { return s.clicks, len(s.agents) }

// Standings are the rankings' so far, in their order.
func (s *Scoreboard) Standings() []Standing {
	out := make([]Standing, len(s.entries))
	for i := range s.entries {
		e := &s.entries[i]
		out[i] = Standing{Higher: e.higher, Lower: e.lower, Gain: e.gains.Mean()}
		if n := float64(s.clicks); n > 0 {
			out[i].Scores = Scores{HitRate: e.sums.HitRate / n, NDCG: e.sums.NDCG / n, MRR: e.sums.MRR / n}
		}
		if margin, ok := e.gains.Margin(); ok {
			out[i].Margin = &margin
		}
	}
	return out
}
