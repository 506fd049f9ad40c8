package social

import "github.com/freshet/freshet/feed"

// CircleChange is a change of a circle, or a new one.
type CircleChange struct {
	Name  string `json:"name,omitempty"`
	Owner string `json:"owner,omitempty"` // an admin names it for a new circle
	// Members replace those that there are; nil: they stay.
	Members []string `json:"members,omitzero"`
	CircleTerms
	Until feed.Moment `json:"until,omitzero"` // an event ends then
}

// CirclePage is a page of an agent's circles, by id.
type CirclePage struct {
	Circles   []Circle `json:"circles"`
	NextAfter *string  `json:"next_after"` // for the next page; nil: this is the last
}

// PromotionChange describes a promotion to create or to replace.
type PromotionChange struct {
	ItemID string      `json:"item_id"`
	From   feed.Moment `json:"from"`
	Until  feed.Moment `json:"until"`
	Weight float64     `json:"weight,omitempty"` // 0: the server's 1
	Tags   []string    `json:"tags,omitempty"`
	Langs  []string    `json:"langs,omitempty"`
}

// PromotionState is a promotion, and whether it is among those that are chosen from.
type PromotionState struct {
	Promotion
	Runs bool   `json:"runs"`
	Why  string `json:"why,omitempty"` // it does not run
}

// PromotionPage is a page of the promotions, by id.
type PromotionPage struct {
	Promotions []PromotionState `json:"promotions"`
	NextAfter  *string          `json:"next_after"` // for the next page; nil: this is the last
}
