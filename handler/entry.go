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
	b = append(b, successHead+`{"items":[`...)
	first := true
	for i := range p.Posts {
		card := &p.Posts[i]
		if !card.Visible || len(card.Content) == 0 {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		if p.grid {
			b = card.AppendTile(b)
		} else {
			b = card.AppendEntry(b, p.reader, cmp.Or(p.source, sourceOf(card)))
		}
	}
	b = append(b, `],"next_cursor":`...)
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

// sendPage answers with a page of posts.
func (c *call) sendPage(p *entryPage) {
	c.without(p.Degraded)
	c.out = p.appendTo(c.out[:0])
	c.send(http.StatusOK, 0, c.out)
}

// sendEntry answers with one post, and what the answer lacks.
func (c *call) sendEntry(status int, reader string, card *social.Card, degraded ...string) {
	c.without(degraded)
	c.out = append(c.out[:0], successHead...)
	c.out = card.AppendEntry(c.out, reader, sourceOf(card))
	c.out = appendDegraded(c.out[:len(c.out)-1], degraded)
	c.out = append(c.out, "}}"...)
	c.send(status, 0, c.out)
}
