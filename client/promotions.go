package client

import (
	"context"
	"net/http"
	"net/url"
)

// PutPromotion calls PUT /v1/promoted/{id}: it promotes, in the place of what the
// promotion with this id has promoted. [ErrUnprocessable] where as many run as may. It
// needs the admin token, as all calls of promotions do.
func (c *Client) PutPromotion(ctx context.Context, id string, change PromotionChange) (Promotion, error) {
	return send[Promotion](ctx, c, Request{Method: http.MethodPut, Path: promotionPath(id), Repeatable: true}, change)
}

// Promotion calls GET /v1/promoted/{id}.
func (c *Client) Promotion(ctx context.Context, id string) (Promotion, error) {
	return call[Promotion](ctx, c, Request{Method: http.MethodGet, Path: promotionPath(id), Repeatable: true})
}

// DeletePromotion calls DELETE /v1/promoted/{id}. [ErrNotFound] where there is none;
// after a retry that may mean that the try before has removed it.
func (c *Client) DeletePromotion(ctx context.Context, id string) error {
	_, err := c.Do(ctx, Request{Method: http.MethodDelete, Path: promotionPath(id), Repeatable: true})
	return err
}

// Promotions calls GET /v1/promoted. after is the NextAfter of the page before, "" for
// the first; limit is 1 to 1,000, 0 for the server's 100.
func (c *Client) Promotions(ctx context.Context, after string, limit int) (PromotionPage, error) {
	return call[PromotionPage](ctx, c, Request{Method: http.MethodGet, Path: withPage("/v1/promoted", "after", after, limit), Repeatable: true})
}

func promotionPath(id string) string { return "/v1/promoted/" + url.PathEscape(id) }
