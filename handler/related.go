package handler

import (
	"context"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
)

const (
	relatedSuffix  = "/related"
	defaultRelated = 10
)

// asksRelated reports whether a path of an item asks for those related to it. Of an id that ends in
// /related itself, the slash is escaped as %2F.
func asksRelated(c *gin.Context) bool {
	id := strings.TrimPrefix(c.Param("id"), "/")
	return id != strings.TrimPrefix(relatedSuffix, "/") && strings.HasSuffix(c.Request.URL.EscapedPath(), relatedSuffix)
}

// getRelated answers GET /v1/items/{id}/related with the items related to one.
func (s *server) getRelated(ctx context.Context, c *call, agent string, ask *limitQuery) (any, error) {
	id := strings.TrimSuffix(strings.TrimPrefix(c.gin.Param("id"), "/"), relatedSuffix)
	if err := feed.CheckItemID(id); err != nil {
		return nil, err
	}
	related, err := s.deps.Engine.Related(ctx, agent, id, ask.Limit)
	return relatedItems(related), err
}

type relatedItems engine.Related

// send answers with the items, each with its reason.
func (r relatedItems) send(c *call) error {
	c.without(r.Degraded)
	b := append(c.out[:0], itemsHead...)
	for i, doc := range r.Docs {
		b = appendInFeed(b, doc, inFeed{why: []api.Reason{r.Why[i]}}, feed.IsPost(doc.ID))
		b = append(b, ',')
	}
	b = appendDegraded(endItems(b), r.Degraded)
	c.out = append(b, "}}"...)
	return c.sendRaw(http.StatusOK, c.out)
}
