package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// PutPromotion implements [social.Promotions].
func (s *Store) PutPromotion(ctx context.Context, p social.Promotion) error {
	if err := p.Validate(); err != nil {
		return err
	}
	return s.failed(ctx, "put promotion", s.write(ctx, func(t *Tx) {
		var others int
		t.row(into(&others), `SELECT count(*) FROM promotions WHERE ends > $1 AND id <> $2`, t.now.Unix(), p.ID)
		if others >= social.MaxPromotions && p.Until > t.now.Unix() {
			t.fail(fmt.Errorf("%w: %d promotions have not ended; delete some", feed.ErrLimit, others))
			return
		}
		t.exec(`INSERT INTO promotions (id, item, starts, ends, weight, tags, langs) VALUES ($1, $2, $3, $4, $5, $6, $7)
			ON CONFLICT (id) DO UPDATE SET item = excluded.item, starts = excluded.starts, ends = excluded.ends,
			weight = excluded.weight, tags = excluded.tags, langs = excluded.langs`,
			p.ID, p.ItemID, p.From, p.Until, p.Weight, p.Tags, p.Langs)
	}))
}

const promotionColumns = `SELECT id, item, starts, ends, weight, tags, langs FROM promotions`

// Promotion implements [social.Promotions].
func (s *Store) Promotion(ctx context.Context, id string) (p social.Promotion, err error) {
	list, err := s.promotions(ctx, promotionColumns+` WHERE id = $1`, id)
	if err == nil && len(list) == 0 {
		err = noPromotion(id)
	}
	if err != nil {
		return p, err
	}
	return list[0], nil
}

func noPromotion(id string) error { return fmt.Errorf("promotion %s: %w", id, feed.ErrNotFound) }

// DeletePromotion implements [social.Promotions].
func (s *Store) DeletePromotion(ctx context.Context, id string) error {
	return s.failed(ctx, "delete promotion", s.write(ctx, func(t *Tx) {
		deleted := t.exec(`DELETE FROM promotions WHERE id = $1`, id)
		if deleted == 0 {
			t.fail(noPromotion(id))
			return
		}
	}))
}

// Promotions implements [social.Promotions].
func (s *Store) Promotions(ctx context.Context, after string, n int) ([]social.Promotion, error) {
	return s.promotions(ctx, promotionColumns+` WHERE id > $1 ORDER BY id LIMIT $2`, after, n)
}

// PromotionsUntil implements [social.Promotions].
func (s *Store) PromotionsUntil(ctx context.Context, after time.Time) ([]social.Promotion, error) {
	return s.promotions(ctx, promotionColumns+` WHERE ends > $1 ORDER BY id`, after.Unix())
}

func (s *Store) promotions(ctx context.Context, text string, args ...any) (list []social.Promotion, err error) {
	err = s.read(ctx, func(q *Query) {
		list = rowsOf(q, func(p *social.Promotion) []any {
			return into(&p.ID, &p.ItemID, &p.From, &p.Until, &p.Weight, &p.Tags, &p.Langs)
		}, text, args...)
	})
	for i := range list {
		list[i].Normalize() // nil instead of an empty list
	}
	return list, s.failed(ctx, "read promotions", err)
}
