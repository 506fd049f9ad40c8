package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/freshet/freshet/social"
)

// PutPromotion implements [social.Promotions].
func (s *Store) PutPromotion(ctx context.Context, p social.Promotion) error {
	if err := p.Validate(); err != nil {
		return err
	}
	return failed(ctx, "put promotion", s.write(ctx, func(t *tx) error {
		var others int
		if err := t.row(`SELECT count(*) FROM promotions WHERE ends > ? AND id <> ?`, t.now.Unix(), p.ID).Scan(&others); err != nil {
			return err
		}
		if others >= social.MaxPromotions && p.Until > t.now.Unix() {
			return fmt.Errorf("%w: %d promotions have not ended; delete some", social.ErrLimit, others)
		}
		_, err := t.exec(`INSERT INTO promotions (id, item, starts, ends, weight, tags, langs) VALUES (?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET item = excluded.item, starts = excluded.starts, ends = excluded.ends,
			weight = excluded.weight, tags = excluded.tags, langs = excluded.langs`,
			p.ID, p.ItemID, p.From, p.Until, p.Weight, array(p.Tags), array(p.Langs))
		return err
	}))
}

const promotionColumns = `SELECT id, item, starts, ends, weight, tags, langs FROM promotions`

func scanPromotion(scan func(...any) error) (p social.Promotion, err error) {
	var tags, langs []byte
	if err := scan(&p.ID, &p.ItemID, &p.From, &p.Until, &p.Weight, &tags, &langs); err != nil {
		return p, err
	}
	if err := json.Unmarshal(tags, &p.Tags); err != nil {
		return p, err
	}
	return p, json.Unmarshal(langs, &p.Langs)
}

// Promotion implements [social.Promotions].
func (s *Store) Promotion(ctx context.Context, id string) (p social.Promotion, err error) {
	list, err := s.promotions(ctx, promotionColumns+` WHERE id = ?`, id)
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("promotion %s: %w", id, social.ErrNotFound)
	}
	if err != nil {
		return p, err
	}
	return list[0], nil
}

// DeletePromotion implements [social.Promotions].
func (s *Store) DeletePromotion(ctx context.Context, id string) error {
	return failed(ctx, "delete promotion", s.write(ctx, func(t *tx) error {
		n, err := t.exec(`DELETE FROM promotions WHERE id = ?`, id)
		if err == nil && n == 0 {
			err = fmt.Errorf("promotion %s: %w", id, social.ErrNotFound)
		}
		return err
	}))
}

// Promotions implements [social.Promotions].
func (s *Store) Promotions(ctx context.Context, after string, n int) ([]social.Promotion, error) {
	return s.promotions(ctx, promotionColumns+` WHERE id > ? ORDER BY id LIMIT +?`, after, n)
}

// PromotionsUntil implements [social.Promotions].
func (s *Store) PromotionsUntil(ctx context.Context, after time.Time) ([]social.Promotion, error) {
	return s.promotions(ctx, promotionColumns+` WHERE ends > ? ORDER BY id`, after.Unix())
}

func (s *Store) promotions(ctx context.Context, text string, args ...any) (list []social.Promotion, err error) {
	err = s.readers.read(ctx, func(q *reading) error {
		return q.each(func(rows *sql.Rows) error {
			p, err := scanPromotion(rows.Scan)
			list = append(list, p)
			return err
		}, text, args...)
	})
	return list, failed(ctx, "read promotions", err)
}
