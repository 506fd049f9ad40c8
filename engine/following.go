package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
	"github.com/freshet/freshet/social"
)

// propose proposes the next posts of an agent's timeline to home, newest first, as the
// timeline would show them. While the social store cannot be asked, that is what is kept of
// public posts.
func (t *Timelines) propose(ctx context.Context, q feed.Query) (proposed, error) {
	read := &timelineRead{t: t, agent: q.Agent, profile: q.Profile}
	req := TimelineRequest{Agent: q.Agent, Limit: q.N}
	if q.After != "" {
		var err error
		if req.Below, err = parsePosition(q.After); err != nil {
			return proposed{}, err
		}
	}
	page, err := read.proposals(ctx, req)
	if t.stores.Kept != nil && ctx.Err() == nil && errors.Is(err, social.ErrUnavailable) {
		page, err = read.keptPage(ctx, req, err)
	}
	if err != nil {
		return proposed{}, err
	}
	out := proposed{lacks: read.lacks}
	out.Proposals.Proposals = make([]recall.Proposal, len(page.Posts))
	for i := range page.Posts {
		out.Proposals.Proposals[i] = proposalOf(&page.Posts[i])
	}
	if page.HasMore {
		out.Next = formatPosition(page.Next)
	}
	return out, nil
}

// proposals is a page of the timeline in one step: what it loses to the truth query is not
// filled up, because the next round goes on below.
func (r *timelineRead) proposals(ctx context.Context, req TimelineRequest) (page TimelinePage, err error) {
	if r.authors, r.server, err = r.t.stores.Posts.Celebrities(ctx, r.agent); err != nil {
		return page, err
	}
	page.Next = req.Below
	found, more, err := r.propose(ctx, req.Below, req.Limit)
	if err != nil {
		return page, err
	}
	_, err = r.show(ctx, &page, found, req.Limit)
	page.HasMore = more
	return page, err
}

func proposalOf(c *social.Card) recall.Proposal {
	p := recall.Proposal{Reactions: feed.Reactions(c.Likes, c.Comments)}
	p.ID, p.Group, p.UpdateTime, p.Author = c.ID, c.ID, c.CreatedAt, c.Author.ID
	var content struct {
		Caption string   `json:"caption"`
		Tags    []string `json:"tags"`
	}
	if json.Unmarshal(c.Content, &content) == nil {
		p.Story = feed.Sketch(feed.PostTitle(content.Caption, nil))
		if len(content.Tags) > 0 {
			p.Tag = content.Tags[0]
		}
	}
	return p
}

func formatPosition(p social.Position) string { return strconv.FormatInt(p.At, 10) + " " + p.ID }

func parsePosition(text string) (social.Position, error) {
	at, id, _ := strings.Cut(text, " ")
	n, err := strconv.ParseInt(at, 10, 64)
	if err != nil || id == "" {
		return social.Position{}, fmt.Errorf("%w: %q", recall.ErrBadCursor, text)
	}
	return social.Position{At: n, ID: id}, nil
}
