package social

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/terms"
)

// Bounds of promotions.
const (
	MaxPromotions      = 2000 // that have not ended: every server holds them in memory
	MaxPromotionTags   = 64
	MaxPromotionLangs  = 64
	MinPromotionWeight = 1e-9
	MaxPromotionWeight = 1e9
)

// Promotion places an item or a post in the promoted positions of home for a time.
type Promotion struct {
	ID     string  `json:"id"`
	ItemID string  `json:"item_id"` // of an item or a public post; it need not exist yet
	From   int64   `json:"from"`    // start, Unix seconds
	Until  int64   `json:"until"`   // end, exclusive, Unix seconds
	Weight float64 `json:"weight"`  // how often it is chosen, relative to the others
	// Tags restrict it to readers who are interested in any of them. Empty means everybody.
	Tags []string `json:"tags,omitempty"`
	// Langs restrict it to readers whose profile names any of these languages. Empty means
	// everybody.
	Langs []string `json:"langs,omitempty"`
}

// Runs reports whether it runs at a time: From is inclusive, Until exclusive.
func (p *Promotion) Runs(at time.Time) bool { return p.From <= at.Unix() && at.Unix() < p.Until }

// Normalize removes duplicates from the lists and preserves their order. It changes no slice in
// place.
func (p *Promotion) Normalize() { p.Tags, p.Langs = terms.Distinct(p.Tags), unique(p.Langs, "") }

// CheckPromotionID checks that id can name a promotion. The error wraps [feed.ErrBadID].
func CheckPromotionID(id string) error { return check("the id of a promotion", id) }

// Validate checks a promotion; the error wraps [feed.ErrInvalid], or [feed.ErrBadID].
func (p *Promotion) Validate() error {
	if err := CheckPromotionID(p.ID); err != nil {
		return err
	}
	err := feed.CheckItemID(p.ItemID)
	if err == nil && feed.IsPost(p.ItemID) {
		err = CheckPostID(p.ItemID)
	}
	if err != nil {
		return fmt.Errorf("item_id: %w", err)
	}
	if err := p.check(); err != nil {
		return fmt.Errorf("%w: %w", feed.ErrInvalid, err)
	}
	return nil
}

func (p *Promotion) check() error {
	for _, at := range []struct {
		name  string
		value int64
	}{{"from", p.From}, {"until", p.Until}} {
		if at.value < 1 || at.value > feed.MaxItemTime {
			return fmt.Errorf("%s must be a time between the years 1970 and 9999", at.name)
		}
	}
	if p.From >= p.Until {
		return errors.New("until must be after from by at least a second")
	}
	if !(p.Weight >= MinPromotionWeight && p.Weight <= MaxPromotionWeight) {
		return fmt.Errorf("weight must be %g to %g, not %v", MinPromotionWeight, float64(MaxPromotionWeight), p.Weight)
	}
	return cmp.Or(checkTerms("tags", "an entry of tags", p.Tags, MaxPromotionTags), checkTerms("langs", "an entry of langs", p.Langs, MaxPromotionLangs))
}

// Promotions stores promotions.
type Promotions interface {
	// PutPromotion stores a normalized promotion and replaces one with the same id. Errors: those
	// of [Promotion.Validate]; feed.ErrLimit if [MaxPromotions] others have not ended. Concurrent
	// calls may exceed that slightly.
	PutPromotion(ctx context.Context, p Promotion) error

	// Promotion returns one, or feed.ErrNotFound.
	Promotion(ctx context.Context, id string) (Promotion, error)

	// DeletePromotion removes one, or returns feed.ErrNotFound, also when it is repeated.
	DeletePromotion(ctx context.Context, id string) error

	// Promotions returns at most n promotions in the byte order of their ids, after the given id;
	// "" starts at the beginning. Fewer than n are the last.
	Promotions(ctx context.Context, after string, n int) ([]Promotion, error)

	// PromotionsUntil returns by id all that end after a time.
	PromotionsUntil(ctx context.Context, after time.Time) ([]Promotion, error)
}

// PromotionChange describes a promotion to create or to replace.
type PromotionChange struct {
	ItemID string      `json:"item_id"`
	From   feed.Moment `json:"from"`
	Until  feed.Moment `json:"until"`
	Weight float64     `json:"weight,omitempty"` // 0 means 1
	Tags   []string    `json:"tags,omitempty"`
	Langs  []string    `json:"langs,omitempty"`
}

// PromotionState is a promotion and whether it can be chosen at present.
type PromotionState struct {
	Promotion
	Runs bool   `json:"runs"`
	Why  string `json:"why,omitempty"` // why it does not run
}

// PromotionPage is a page of the promotions, by id.
type PromotionPage struct {
	Promotions []PromotionState `json:"promotions"`
	NextAfter  *string          `json:"next_after"` // for the next page; nil on the last page
}
