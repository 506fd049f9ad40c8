package handler

import (
	"context"
	"fmt"
	"net/http"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall/promotion"
	"github.com/freshet/freshet/social"
)

// MaxPromotionBody is the largest accepted body of PUT /v1/promoted/{id}, in bytes.
const MaxPromotionBody = 256 << 10

func (s *server) promotionRoutes(route router) {
	const one = "/v1/promoted/:id"
	route(http.MethodGet, "/v1/promoted", s.admin(s.getPromotions))
	route(http.MethodGet, one, s.admin(s.getPromotion))
	route(http.MethodPut, one, s.admin(s.putPromotion))
	route(http.MethodDelete, one, s.admin(s.of(promotionID, s.deps.Social.Store.DeletePromotion)))
}

// promotionID is the promotion that the path names.
func promotionID(c *call) (string, error) {
	id := c.gin.Param("id")
	return id, social.CheckPromotionID(id)
}

// promotionView reads what one promotion promotes.
func (s *server) promotionView(ctx context.Context, p social.Promotion) (any, error) {
	states, err := promotion.States(ctx, s.deps.Items, []social.Promotion{p}, s.cfg.Clock())
	if err != nil {
		return nil, err
	}
	return states[0], nil
}

// getPromotion answers GET /v1/promoted/{id}.
func (s *server) getPromotion(c *call) error {
	id, err := promotionID(c)
	if err != nil {
		return err
	}
	return c.answer(s.gated, func(ctx context.Context) (any, error) {
		p, err := s.deps.Social.Store.Promotion(ctx, id)
		if err != nil {
			return nil, err
		}
		return s.promotionView(ctx, p)
	})
}

// putPromotion answers PUT /v1/promoted/{id} with the promotion as it is stored.
func (s *server) putPromotion(c *call) error {
	in := social.PromotionChange{Weight: 1}
	if err := c.readJSON(MaxPromotionBody, &in); err != nil {
		return err
	}
	if in.From.IsZero() || in.Until.IsZero() {
		return fmt.Errorf("%w: from and until are needed, each a time or Unix seconds", feed.ErrInvalid)
	}
	p := social.Promotion{
		ID: c.gin.Param("id"), ItemID: in.ItemID, From: in.From.Unix(), Until: in.Until.Unix(),
		Weight: in.Weight, Tags: in.Tags, Langs: in.Langs,
	}
	p.Normalize()
	return c.answer(s.gated, func(ctx context.Context) (any, error) {
		if err := s.deps.Social.Store.PutPromotion(ctx, p); err != nil {
			return nil, err
		}
		return s.promotionView(ctx, p)
	})
}

// getPromotions answers GET /v1/promoted with a page of the promotions, by id.
func (s *server) getPromotions(c *call) error {
	after, limit, err := c.page(social.CheckPromotionID)
	if err != nil {
		return err
	}
	return c.answer(s.gated, func(ctx context.Context) (any, error) {
		list, err := s.deps.Social.Store.Promotions(ctx, after, limit+1)
		if err != nil {
			return nil, err
		}
		var data social.PromotionPage
		list, data.NextAfter = firstPage(list, limit, func(p *social.Promotion) *string { return &p.ID })
		data.Promotions, err = promotion.States(ctx, s.deps.Items, list, s.cfg.Clock())
		return data, err
	})
}
