package handler

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
)

// Guest answers the feed of readers who are not known. The method is that of [engine.Guest].
type Guest interface {
	Page(ctx context.Context, limit int) (engine.GuestPage, error)
}

// getGuestFeed answers GET /v1/feed/guest. Nobody is asked who they are: the answer
// is one for all, so that caches may share it.
func (s *server) getGuestFeed(c *call) error {
	ask := struct {
		Limit int `json:"limit"`
	}{engine.DefaultLimit}
	if err := c.decodeQuery(&ask); err != nil {
		return err
	}
	if err := feed.CheckLimit(ask.Limit, engine.MaxLimit); err != nil {
		return err
	}
	page, err := result(c, s.work, func(ctx context.Context) (engine.GuestPage, error) { return s.deps.Guest.Page(ctx, ask.Limit) })
	if err != nil {
		return err
	}
	c.without(page.Degraded)
	c.out = appendGuestPage(c.out[:0], &page)
	sum := sha256.Sum256(c.out)
	c.sendShared(`"`+hex.EncodeToString(sum[:12])+`"`, c.out)
	return nil
}

// sendShared answers what everybody gets and caches may keep, or that the client has
// it. tag is of the body as it is before it is compressed.
func (c *call) sendShared(tag string, body []byte) {
	if known, ok := noneMatch(c.gin.Request, tag); ok {
		c.gin.Writer.Header()["Cache-Control"] = forAll
		c.sendNotModified(known)
		return
	}
	c.shared = true
	c.gin.Writer.Header()["Etag"] = []string{tag}
	c.send(http.StatusOK, 0, body)
}

// appendGuestPage writes the whole answer.
func appendGuestPage(b []byte, page *engine.GuestPage) []byte {
	b = append(b, successHead+`{"items":[`...)
	for i := range page.Items {
		if i > 0 {
			b = append(b, ',')
		}
		it := &page.Items[i]
		b = appendInFeed(b, it.Doc, inFeed{source: it.Source.String(), trend: it.Trend.Mark()}, false)
	}
	b = append(b, ']')
	b = appendDegraded(b, page.Degraded)
	return append(b, "}}"...)
}
