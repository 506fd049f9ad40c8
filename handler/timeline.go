package handler

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/engine/timeline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

func (s *server) timelineRoutes(route router) {
	route(http.MethodGet, "/v1/timeline", serveInput(s.work, s.member, query(pageQuery{Limit: engine.DefaultLimit}), s.getTimeline))
	route(http.MethodPost, "/v1/timeline/warm", s.of(s.member, s.deps.Social.Timelines.Warm))
	route(http.MethodGet, streamPath, s.getStream)
}

// getTimeline answers GET /v1/timeline.
func (s *server) getTimeline(ctx context.Context, c *call, agent string, ask *pageQuery) (any, error) {
	if err := s.auth.checkShown(c.gin.Request); err != nil {
		return nil, err
	}
	page, err := s.deps.Social.Timelines.Timeline(ctx, timeline.Request{Agent: agent, Below: ask.position, Limit: ask.Limit})
	return &entryPage{reader: agent, source: social.FromFollowing, Page: page}, err
}

// repliesQuery are the parameters of GET /v1/posts/{id}/replies.
type repliesQuery struct {
	pageQuery
	Order queryText `json:"order"`
}

func (q *repliesQuery) check() error {
	if err := q.pageQuery.check(); err != nil {
		return err
	}
	if q.Order != "" && q.Order != "newest" && q.Order != "oldest" {
		return fmt.Errorf("%w: order must be newest or oldest, not %.80q", feed.ErrInvalid, string(q.Order))
	}
	return nil
}

// getReplies answers GET /v1/posts/{id}/replies.
func (s *server) getReplies(ctx context.Context, c *call, reader string, ask *repliesQuery) (any, error) {
	page, err := s.deps.Social.Timelines.Replies(ctx, timeline.RepliesRequest{
		Reader: reader, Post: c.gin.Param("id"), After: ask.position, Limit: ask.Limit, Oldest: ask.Order == "oldest",
	})
	return &entryPage{reader: reader, Page: page}, err
}

// sourceOf returns the source of a requested post: following if it is in the reader's timeline,
// else "".
func sourceOf(card *social.Card) string {
	if card.Reason != social.NoReason {
		return social.FromFollowing
	}
	return ""
}

// entryPage is an answer with a page of posts.
type entryPage struct {
	timeline.Page
	reader string
	source string // source of all posts; "" derives it from each post's reason
	grid   bool   // the posts are grid cards
}

// appendTo writes the whole answer. Posts that are invisible or have no content are omitted.
func (p *entryPage) appendTo(b []byte) []byte {
	b = append(b, itemsHead...)
	for i := range p.Posts {
		switch card := &p.Posts[i]; {
		case !card.Readable():
			continue
		case p.grid:
			b = card.AppendGridCard(b)
		default:
			b = card.AppendEntry(b, p.reader, cmp.Or(p.source, sourceOf(card)))
		}
		b = append(b, ',')
	}
	b = endItems(b)
	b = append(b, `,"next_cursor":`...)
	if p.Next.Zero() {
		b = append(b, "null"...)
	} else {
		b = feed.AppendString(b, cursorOf(p.Next))
	}
	b = append(b, `,"has_more":`...)
	b = strconv.AppendBool(b, p.HasMore)
	b = appendNewReader(b, p.NewReader)
	b = appendDegraded(b, p.Degraded)
	return append(b, "}}"...)
}

func (p *entryPage) send(c *call) error {
	c.without(p.Degraded)
	return c.sendRaw(http.StatusOK, p.appendTo(c.out[:0]))
}

// postAnswer is an answer with one post.
type postAnswer struct {
	status   int
	reader   string
	card     social.Card
	degraded []string // degraded parts of the answer
}

func (e *postAnswer) send(c *call) error {
	c.without(e.degraded)
	b := append(c.out[:0], successHead...)
	b = e.card.AppendEntry(b, e.reader, sourceOf(&e.card))
	b = appendDegraded(b[:len(b)-1], e.degraded)
	return c.sendRaw(e.status, append(b, "}}"...))
}
