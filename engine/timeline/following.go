package timeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/freshet/freshet/engine/degraded"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/terms"
	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/recall"
	"github.com/freshet/freshet/social"
)

// Propose proposes the next posts of an agent's timeline to home, newest first, as the timeline
// would show them. While the social store is unavailable, it proposes cached public posts.
func (t *Timelines) Propose(ctx context.Context, q feed.Query) (out recall.Proposals, missing degraded.Parts, err error) {
	read := &pageRead{t: t, agent: q.Agent, profile: q.Profile, heads: map[string]postHead{}}
	req := Request{Agent: q.Agent, Limit: q.N}
	if q.After != "" {
		if req.Below, err = parsePosition(q.After); err != nil {
			return out, 0, err
		}
	}
	page, err := read.proposals(ctx, req, q.Since)
	if t.stores.CachedCards != nil && ctx.Err() == nil && errors.Is(err, social.ErrUnavailable) {
		page, err = read.keptPage(ctx, req, err)
	}
	if err != nil {
		return out, 0, err
	}
	out.Proposals = convert.Each(page.Posts, read.proposal)
	if page.HasMore {
		out.Next = formatPosition(page.Next)
	}
	return out, read.missing, nil
}

const (
	// inTurn is how many posts of one author count towards a round of home: authors take turns on
	// a page, which requires several of them.
	inTurn = 20
	// readsOn is the maximum number of reads in a round, if a few authors have most of it.
	readsOn = 3
)

// proposals reads a page of the timeline in one step: it does not replace posts lost to the
// visibility query, because the next round continues below. While posts beyond the first [inTurn]
// of their authors take more than [inTurn] places from others, it reads on, at most [readsOn]
// times in all and not past since, and proposes everything that it has read.
func (r *pageRead) proposals(ctx context.Context, req Request, since time.Time) (page Page, err error) {
	ctx = social.BeginRead(ctx)
	if r.unlisted, err = r.t.stores.Posts.Celebrities(ctx, r.agent); err != nil {
		return page, err
	}
	page.Next = req.Below
	crowd, of := 0, map[string]int{}
	for range readsOn {
		found, more, err := r.propose(ctx, page.Next, req.Limit)
		before := len(page.Posts)
		if err == nil {
			_, err = r.show(ctx, &page, found, before+req.Limit, r.proposes)
		}
		if err != nil && before > 0 {
			return page, nil // propose the posts read before; the next round retries
		}
		page.HasMore = more
		past := !since.IsZero() && page.Next.At <= since.Unix()
		if err != nil || !more || past {
			return page, err
		}
		for i := range page.Posts[before:] {
			author := page.Posts[before+i].Author.ID
			of[author]++
			if of[author] > inTurn {
				crowd++
			}
		}
		missing := req.Limit - (len(page.Posts) - crowd)
		if min(crowd, missing) <= inTurn {
			break
		}
	}
	return page, nil
}

// proposes reports whether home shows a post of the timeline. One by an author who does not want to be
// recommended it shows only to those who have chosen to read it.
func (r *pageRead) proposes(c *social.Card, at social.Position) bool {
	return r.shows(c, at) && (!c.NotRecommended || c.Subscribed)
}

func (r *pageRead) proposal(c social.Card) recall.Proposal {
	p := recall.Proposal{Reactions: feed.Reactions(c.Likers, c.Commenters), Mention: byStranger(&c)}
	p.ID, p.Group, p.UpdateTime, p.Author = c.ID, c.ID, c.CreatedAt, c.Author.ID
	head := r.head(&c)
	p.Story = head.story
	if len(head.tags) > 0 {
		p.Tag = terms.Fold(head.tags[0])
	}
	return p
}

// rememberedHeads is how many posts' heads are cached.
const rememberedHeads = 20_000

// postHead is the part of a post's content that home uses. It is the same for every reader.
type postHead struct {
	version int64
	tags    []string
	story   string
}

// known returns a post with the version of its cached content; 0 if none is cached, or if its whole
// content is needed.
func (r *pageRead) known(post social.Position) social.PostVersion {
	if r.heads == nil || len(r.profile.MutedWords) > 0 {
		return social.PostVersion{ID: post.ID}
	}
	head, ok := r.t.heads.Get(post.ID)
	if ok {
		r.heads[post.ID] = head
	}
	return social.PostVersion{ID: post.ID, Version: head.version}
}

// head returns the head of a card, which has content only if that was not known.
func (r *pageRead) head(c *social.Card) postHead {
	head, ok := r.heads[c.ID]
	if ok && head.version == c.Version {
		return head
	}
	var content struct {
		Caption string   `json:"caption"`
		Tags    []string `json:"tags"`
	}
	if json.Unmarshal(c.Content, &content) != nil {
		return postHead{}
	}
	head = postHead{c.Version, content.Tags, feed.Sketch(feed.PostTitle(content.Caption, nil))}
	r.heads[c.ID] = head
	r.t.heads.Add(c.ID, head)
	return head
}

// tags returns the tags of a card.
func (r *pageRead) tags(c *social.Card) []string {
	if r.heads == nil {
		return c.Tags()
	}
	return r.head(c).tags
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
