package handler

import (
	"context"
	"fmt"
	"net/http"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall/promotion"
	"github.com/freshet/freshet/social"
)

const (
	// MaxPromotionBody is the largest accepted body of PUT /v1/promoted/{id}, in bytes.
	MaxPromotionBody = 256 << 10
	// MaxPromotionPage is the largest limit of a list of promotions.
	MaxPromotionPage     = 1000
	defaultPromotionPage = 100
)

func (s *server) promotionRoutes(route router) {
	const one, name = "/v1/promoted/:id", "/v1/promoted/{id}"
	route(http.MethodGet, "/v1/promoted", "/v1/promoted", s.getPromotions)
	route(http.MethodGet, one, name, s.getPromotion)
	route(http.MethodPut, one, name, s.putPromotion)
	route(http.MethodDelete, one, name, s.deletePromotion)
}

// promotionBody is the body of PUT /v1/promoted/{id}.
type promotionBody struct {
	ItemID string      `json:"item_id"`
	From   feed.Moment `json:"from"`
	Until  feed.Moment `json:"until"`
	Weight float64     `json:"weight"`
	Tags   []string    `json:"tags"`
	Langs  []string    `json:"langs"`
}

// promotionView is a promotion, and whether it is chosen from at the moment.
type promotionView struct {
	social.Promotion
	Runs bool   `json:"runs"`
	Why  string `json:"why,omitempty"` // it does not run
}

// promotionViews reads what the promotions promote.
func (s *server) promotionViews(ctx context.Context, list []social.Promotion) ([]promotionView, error) {
	states, err := promotion.States(ctx, s.deps.Items, list, s.cfg.Clock())
	if err != nil {
		return nil, err
	}
	views := make([]promotionView, len(list))
	for i, p := range list {
		views[i] = promotionView{p, states[i].Runs, states[i].Why}
	}
	return views, nil
}

// sendPromotion answers with one promotion.
func (s *server) sendPromotion(ctx context.Context, c *call, p social.Promotion) error {
	views, err := s.promotionViews(ctx, []social.Promotion{p})
	if err != nil {
		return err
	}
	return c.succeed(views[0])
}

// getPromotion answers GET /v1/promoted/{id}.
func (s *server) getPromotion(c *call) error {
	if err := s.auth.admin(c.gin.Request); err != nil {
		return err
	}
	id := c.gin.Param("id")
	if err := social.CheckPromotionID(id); err != nil {
		return err
	}
	ctx, cancel := s.deadline(c)
	defer cancel()
	p, err := s.deps.Social.Store.Promotion(ctx, id)
	if err != nil {
		return err
	}
	return s.sendPromotion(ctx, c, p)
}

// putPromotion answers PUT /v1/promoted/{id} with the promotion as it is stored.
func (s *server) putPromotion(c *call) error {
	if err := s.auth.admin(c.gin.Request); err != nil {
		return err
	}
	in := promotionBody{Weight: 1}
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
	ctx, cancel := s.deadline(c)
	defer cancel()
	if err := s.deps.Social.Store.PutPromotion(ctx, p); err != nil {
		return err
	}
	return s.sendPromotion(ctx, c, p)
}

// deletePromotion answers DELETE /v1/promoted/{id}.
func (s *server) deletePromotion(c *call) error {
	if err := s.auth.admin(c.gin.Request); err != nil {
		return err
	}
	id := c.gin.Param("id")
	if err := social.CheckPromotionID(id); err != nil {
		return err
	}
	ctx, cancel := s.deadline(c)
	defer cancel()
	if err := s.deps.Social.Store.DeletePromotion(ctx, id); err != nil {
		return err
	}
	return c.succeed(empty{})
}

// promotionList is the data of GET /v1/promoted.
type promotionList struct {
	Promotions []promotionView `json:"promotions"`
	Next       *string         `json:"next_after"` // null: no more
}

// getPromotions answers GET /v1/promoted with a page of the promotions, by id.
func (s *server) getPromotions(c *call) error {
	if err := s.auth.admin(c.gin.Request); err != nil {
		return err
	}
	ask := struct {
		After queryText `json:"after"`
		Limit int       `json:"limit"`
	}{Limit: defaultPromotionPage}
	if err := c.decodeQuery(&ask); err != nil {
		return err
	}
	if err := feed.CheckLimit(ask.Limit, MaxPromotionPage); err != nil {
		return err
	}
	if err := social.CheckPromotionID(string(ask.After)); ask.After != "" && err != nil {
		return fmt.Errorf("after: %w", err)
	}
	ctx, cancel := s.deadline(c)
	defer cancel()
	list, err := s.deps.Social.Store.Promotions(ctx, string(ask.After), ask.Limit+1)
	if err != nil {
		return err
	}
	var data promotionList
	if len(list) > ask.Limit {
		list = list[:ask.Limit]
		data.Next = &list[ask.Limit-1].ID
	}
	if data.Promotions, err = s.promotionViews(ctx, list); err != nil {
		return err
	}
	return c.succeed(data)
}
