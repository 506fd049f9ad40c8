package handler

import (
	"cmp"
	"net/http"
	"strconv"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/social"
)

// sourceOf returns the source of a requested post: for one that is in the reader's
// timeline, that.
func sourceOf(card *social.Card) string {
	if card.Reason != social.NoReason {
		return social.FromFollowing
	}
	return ""
}

// entryPage is an answer with a page of posts.
type entryPage struct {
	engine.TimelinePage
	reader string
	source string // of all of them; "": as their reasons say
	grid   bool   // the posts are tiles
}

// appendTo writes the whole answer. What is not visible, or has no content, is
// left out.
func (p *entryPage) appendTo(b []byte) []byte {
	b = appendItems(b, len(p.Posts), func(b []byte, i int) []byte {
		switch card := &p.Posts[i]; {
		case !card.Visible || len(card.Content) == 0:
			return b
		case p.grid:
			return card.AppendTile(b)
		default:
			return card.AppendEntry(b, p.reader, cmp.Or(p.source, sourceOf(card)))
		}
	})
	b = append(b, `,"next_cursor":`...)
	if p.Next.Zero() {
		b = append(b, "null"...)
	} else {
		b = appendString(b, cursorOf(p.Next))
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
	degraded []string // what the answer lacks
}

func (e *postAnswer) send(c *call) error {
	c.without(e.degraded)
	b := append(c.out[:0], successHead...)
	b = e.card.AppendEntry(b, e.reader, sourceOf(&e.card))
	b = appendDegraded(b[:len(b)-1], e.degraded)
	return c.sendRaw(e.status, append(b, "}}"...))
}
