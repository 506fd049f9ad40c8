package events

import (
	"cmp"
	"slices"

	"github.com/freshet/freshet/feed/api"
)

// Promoted is that an agent was shown what a promotion promotes.
type Promoted struct {
	Promotion string
	Hash      uint64 // of promotion, agent and group: [PromotedHash]
}

// PromotedAct is that an agent has acted on what a promotion may have shown them. It
// counts for the promotion, once, if that has within the last [OnceDays] days.
type PromotedAct struct {
	Promoted
	Kind Kind   // Click or Like
	Hash uint64 // of it all
}

// PromotedHash stands for what a promotion has shown an agent of a group.
func PromotedHash(promotion, agent, group string) uint64 {
	return ActHash(Kind("promoted by "+promotion), agent, group)
}

// NewPromotedAct is an agent's act on a group, for a promotion.
func NewPromotedAct(kind Kind, promotion, agent, group string) PromotedAct {
	return PromotedAct{
		Promoted: Promoted{promotion, PromotedHash(promotion, agent, group)}, Kind: kind,
		Hash: ActHash(kind+" promoted by "+Kind(promotion), agent, group),
	}
}

// promotedRows sums up what was counted of promotions, by their ids.
func promotedRows(counted []Totals) (rows []api.ReportPromotion) {
	sums := map[string]Counts{}
	for i := range counted {
		for id, c := range counted[i].Promoted {
			sums[id] = sums[id].plus(c)
		}
	}
	for id, c := range sums {
		rows = append(rows, api.ReportPromotion{ID: id, Shown: shown(c.Impressions, c.Clicks), Likes: c.Likes})
	}
	slices.SortFunc(rows, func(a, b api.ReportPromotion) int { return cmp.Compare(a.ID, b.ID) })
	return rows
}
