package handler

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
)

// postFeed answers POST /v1/feed.
func (s *server) postFeed(c *call) error {
	agent, err := s.member(c)
	if err != nil {
		return err
	}
	if err := c.noQuery(); err != nil {
		return err
	}
	body, err := c.readBody(MaxFeedBody)
	if err != nil {
		return err
	}
	req, err := decodeFeed(body, agent)
	if err != nil {
		return err
	}
	if err := idempotencyKey(c.gin.Request, &req); err != nil {
		return err
	}
	ctx, err := s.work(c)
	if err != nil {
		return err
	}
	answer, err := s.deps.Engine.Feed(ctx, req)
	c.done()
	if err != nil {
		return err
	}
	c.without(answer.Degraded)
	return c.sendRaw(http.StatusOK, appendPage(c.out[:0], &req, &answer))
}

// feedBody is the body of POST /v1/feed.
type feedBody struct {
	Action    engine.Action `json:"action"`
	Limit     int           `json:"limit"`
	Silent    bool          `json:"silent"`
	RequestID *string       `json:"request_id"`
	Why       bool          `json:"why"`
	Feed      feed.Name     `json:"feed"`
}

// decodeFeed reads the body of an agent's call.
func decodeFeed(body []byte, agent string) (engine.Request, error) {
	in := feedBody{Limit: engine.DefaultLimit}
	if err := decode(body, &in, "feed"); err != nil {
		return engine.Request{}, err
	}
	req := engine.Request{Agent: agent, Action: in.Action, Limit: in.Limit, Silent: in.Silent, Why: in.Why, Feed: in.Feed}
	if in.RequestID == nil {
		return req, req.Validate()
	}
	req.RequestID = *in.RequestID
	return req, cmp.Or(req.Validate(), feed.CheckRequestID(req.RequestID)) // the engine treats "" as no request id
}

// idempotencyKey reads the request id from the header; it must equal that of the body, if any.
func idempotencyKey(r *http.Request, req *engine.Request) error {
	for _, key := range r.Header["Idempotency-Key"] {
		if err := feed.CheckRequestID(key); err != nil {
			return fmt.Errorf("header Idempotency-Key: %w", err)
		}
		if req.RequestID != "" && req.RequestID != key {
			return fmt.Errorf("%w: request_id and Idempotency-Key differ; send one of them", feed.ErrInvalid)
		}
		req.RequestID = key
	}
	return nil
}

// Guest answers the feed of anonymous readers. The method is that of [engine.Guest].
type Guest interface {
	Page(ctx context.Context, limit int) (engine.GuestPage, error)
}

// getGuestFeed answers GET /v1/feed/guest. It does not identify the caller: the answer is the
// same for all, so that caches may share it.
func (s *server) getGuestFeed(ctx context.Context, _ *call, _ string, ask *limitQuery) (any, error) {
	page, err := s.deps.Guest.Page(ctx, ask.Limit)
	return guestPage(page), err
}

type guestPage engine.GuestPage

// send answers with the shared, cacheable page, or 304 if the client has it. The ETag is computed
// from the uncompressed body.
func (p guestPage) send(c *call) error {
	c.without(p.Degraded)
	c.out = p.appendTo(c.out[:0])
	sum := sha256.Sum256(c.out)
	tag := `"` + hex.EncodeToString(sum[:12]) + `"`
	if known, ok := noneMatch(c.gin.Request, tag); ok {
		c.gin.Writer.Header()["Cache-Control"] = forAll
		return notModified(known).send(c)
	}
	c.shared = true
	c.gin.Writer.Header()["Etag"] = []string{tag}
	return c.sendRaw(http.StatusOK, c.out)
}

// appendTo writes the whole answer.
func (p guestPage) appendTo(b []byte) []byte {
	b = append(b, itemsHead...)
	for i := range p.Items {
		it := &p.Items[i]
		b = appendInFeed(b, it.Doc, inFeed{source: it.Source.String(), trend: it.Trend.Mark()}, false)
		b = append(b, ',')
	}
	b = endItems(b)
	b = appendDegraded(b, p.Degraded)
	return append(b, "}}"...)
}
