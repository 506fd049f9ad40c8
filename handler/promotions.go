package handler

import (
	"context"
	"fmt"
	"net/http"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/promotion"
)

// MaxPromotionBody is the largest accepted body of PUT /v1/promoted/{id}, in bytes.
const MaxPromotionBody = 256 << 10

func (s *server) promotionRoutes(route router) {
	const one = "/v1/promoted/:id"
	list := query(listQuery{Limit: defaultList, id: social.CheckPromotionID})
	route(http.MethodGet, "/v1/promoted", s.admin(serveInput(s.gated, nobody, list, s.getPromotions)))
	route(http.MethodGet, one, s.admin(serve(s.gated, promotionID, s.getPromotion)))
	route(http.MethodPut, one, s.admin(serveInput(s.gated, nobody, body(MaxPromotionBody, social.PromotionChange{Weight: 1}), s.putPromotion)))
	route(http.MethodDelete, one, s.admin(s.of(promotionID, s.deps.Social.Store.DeletePromotion)))
}

// promotionID returns the promotion id in the path.
func promotionID(c *call) (string, error) {
	id := c.gin.Param("id")
	return id, social.CheckPromotionID(id)
}

// promotionView returns a promotion with the state of its item.
func (s *server) promotionView(ctx context.Context, p social.Promotion, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	states, err := promotion.States(ctx, s.deps.Items, []social.Promotion{p}, s.cfg.Clock())
	if err != nil {
		return nil, err
	}
	return states[0], nil
}

// getPromotion answers GET /v1/promoted/{id}.
func (s *server) getPromotion(ctx context.Context, _ *call, id string) (any, error) {
	p, err := s.deps.Social.Store.Promotion(ctx, id)
	return s.promotionView(ctx, p, err)
}

// putPromotion answers PUT /v1/promoted/{id} with the stored promotion.
func (s *server) putPromotion(ctx context.Context, c *call, _ string, in *social.PromotionChange) (any, error) {
	if in.From.IsZero() || in.Until.IsZero() {
		return nil, fmt.Errorf("%w: from and until are required, each a time or Unix seconds", feed.ErrInvalid)
	}
	p := social.Promotion{
		ID: c.gin.Param("id"), ItemID: in.ItemID, From: in.From.Unix(), Until: in.Until.Unix(),
		Weight: in.Weight, Tags: in.Tags, Langs: in.Langs,
	}
	p.Normalize()
	return s.promotionView(ctx, p, s.deps.Social.Store.PutPromotion(ctx, p))
}

// getPromotions answers GET /v1/promoted with a page of the promotions, by id.
func (s *server) getPromotions(ctx context.Context, _ *call, _ string, ask *listQuery) (any, error) {
	list, err := s.deps.Social.Store.Promotions(ctx, string(ask.After), ask.Limit+1)
	if err != nil {
		return nil, err
	}
	var data social.PromotionPage
	list, last := firstPage(list, ask.Limit)
	if last != nil {
		data.NextAfter = &last.ID
	}
	data.Promotions, err = promotion.States(ctx, s.deps.Items, list, s.cfg.Clock())
	return data, err
}
