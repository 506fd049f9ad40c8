package promotion

import (
	"context"
	"slices"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// States tells of each of some promotions whether it is chosen from at a time, and if
// not, why. It reads what they promote; the errors are those of [Items.Docs].
func States(ctx context.Context, items Items, list []social.Promotion, at time.Time) ([]social.PromotionState, error) {
	states := make([]social.PromotionState, len(list))
	ids := make([]string, len(list))
	for i, p := range list {
		ids[i], states[i].Promotion = p.ItemID, p
	}
	for from := 0; from < len(ids); from += itemBatch {
		to := min(from+itemBatch, len(ids))
		docs, err := items.Docs(ctx, slices.Clone(ids[from:to]))
		if err != nil {
			return nil, err
		}
		for i := range docs {
			states[from+i].Why = whyNot(&list[from+i], docs[i], at)
			states[from+i].Runs = states[from+i].Why == ""
		}
	}
	return states, nil
}

func whyNot(p *social.Promotion, doc feed.Doc, at time.Time) string {
	switch {
	case at.Unix() >= p.Until:
		return "it has ended"
	case doc.Missing() && feed.IsPost(p.ItemID):
		return "there is no public post with this id"
	case doc.Missing():
		return "there is no item with this id"
	case at.Unix() < p.From:
		return "it has not begun"
	}
	if _, dated, err := doc.Head(); err == nil && dated > at.Unix() {
		return "its item is dated in the future"
	}
	return ""
}
