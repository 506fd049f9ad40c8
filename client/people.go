package client

import (
	"bytes"
	"context"
	"errors"
	"mime/multipart"
	"net/http"

	"github.com/freshet/freshet/feed/api"
)

// Caller stands for the calling agent wherever a method of [Client] takes an agent for the path of its
// route, for programs that do not know the id, which a server may derive from a token.
const Caller = "~"

// Server is a pseudo-author: its followers get every public post.
const Server = "@server"

// Follow calls PUT /v1/agents/{agent_id}/following/{author} and reports whether anything changed.
// It returns [ErrForbidden] if either blocks the other or if only the app may do it, and
// [ErrUnprocessable] if the agent follows the maximum number of authors.
func (c *Client) Follow(ctx context.Context, agent, author string) (changed bool, err error) {
	return c.change(ctx, http.MethodPut, v1("agents", agent, "following", author))
}

// FollowMany calls POST /v1/agents/{agent_id}/following: it adds up to 100 authors to those that
// the agent follows. The result lists the refused ones with reasons.
func (c *Client) FollowMany(ctx context.Context, agent string, authors ...string) (Followed, error) {
	in := map[string][]string{"authors": authors}
	return send[Followed](ctx, c, Request{Method: http.MethodPost, Path: v1("agents", agent, "following"), Repeatable: true}, in)
}

// Unfollow calls DELETE /v1/agents/{agent_id}/following/{author}.
func (c *Client) Unfollow(ctx context.Context, agent, author string) (changed bool, err error) {
	return c.change(ctx, http.MethodDelete, v1("agents", agent, "following", author))
}

// Block calls PUT /v1/agents/{agent_id}/blocked/{agent}: it ends the follows in both directions,
// and neither sees the other's posts.
func (c *Client) Block(ctx context.Context, agent, other string) (changed bool, err error) {
	return c.change(ctx, http.MethodPut, v1("agents", agent, "blocked", other))
}

// Unblock calls DELETE /v1/agents/{agent_id}/blocked/{agent}.
func (c *Client) Unblock(ctx context.Context, agent, other string) (changed bool, err error) {
	return c.change(ctx, http.MethodDelete, v1("agents", agent, "blocked", other))
}

// change makes a call and returns whether it changed something. After a retry, an earlier attempt
// may have made the change.
func (c *Client) change(ctx context.Context, method, path string) (bool, error) {
	done, err := call[struct {
		Changed bool `json:"changed"`
	}](ctx, c, Request{Method: method, Path: path, Repeatable: true})
	return done.Changed, err
}

// Following calls GET /v1/agents/{agent_id}/following: the authors that the agent follows. after is
// the NextAfter of the previous page, "" for the first; limit is 1 to 1,000, 0 for the server's
// default of 100.
func (c *Client) Following(ctx context.Context, agent, after string, limit int) (AgentPage, error) {
	return c.agents(ctx, v1("agents", agent, "following"), after, limit)
}

// Suggestions calls GET /v1/agents/{agent_id}/suggestions: authors to follow, best first. limit is
// 1 to 100, 0 for the server's default of 20.
func (c *Client) Suggestions(ctx context.Context, agent string, limit int) ([]Suggestion, error) {
	path := withQuery(v1("agents", agent, "suggestions"), nil, map[string]int64{"limit": int64(limit)})
	list, err := call[api.Suggestions](ctx, c, Request{Method: http.MethodGet, Path: path, Repeatable: true})
	return list.Authors, err
}

// Followers calls GET /v1/agents/{agent_id}/followers: the agent's followers, paged as in
// [Client.Following].
func (c *Client) Followers(ctx context.Context, agent, after string, limit int) (AgentPage, error) {
	return c.agents(ctx, v1("agents", agent, "followers"), after, limit)
}

// Blocked calls GET /v1/agents/{agent_id}/blocked: the agents that the agent blocks, paged as in
// [Client.Following].
func (c *Client) Blocked(ctx context.Context, agent, after string, limit int) (AgentPage, error) {
	return c.agents(ctx, v1("agents", agent, "blocked"), after, limit)
}

func (c *Client) agents(ctx context.Context, path, after string, limit int) (AgentPage, error) {
	return call[AgentPage](ctx, c, Request{Method: http.MethodGet, Path: withPage(path, "after", after, limit), Repeatable: true})
}

// Author calls GET /v1/authors/{id}. The caller, "~", always gets itself. It returns [ErrNotFound]
// if another author is unknown or blocks the caller. If the caller blocks the author, only IsBlocked
// is set.
func (c *Client) Author(ctx context.Context, id string) (Author, error) {
	return call[Author](ctx, c, Request{Method: http.MethodGet, Path: v1("authors", id), Repeatable: true})
}

// AuthorCards calls POST /v1/authors/cards: a card for each of 1 to 100 ids, in their order.
func (c *Client) AuthorCards(ctx context.Context, ids []string) ([]AgentCard, error) {
	type asked struct {
		Authors []string `json:"authors"`
	}
	list, err := send[api.AgentCards](ctx, c, Request{Method: http.MethodPost, Path: v1("authors", "cards"), Repeatable: true}, asked{ids})
	return list.Cards, err
}

// PutAuthor calls PUT /v1/authors/{id}: the card replaces the previous one, with all fields.
func (c *Client) PutAuthor(ctx context.Context, id string, card AuthorCard) error {
	_, err := send[struct{}](ctx, c, Request{Method: http.MethodPut, Path: v1("authors", id), Repeatable: true}, card)
	return err
}

// PatchAuthor calls PATCH /v1/authors/{id} with a JSON merge patch (RFC 7396), which is encoded as
// JSON: fields replace those of the card, null removes one. Use a map to make
// a field empty: an [AuthorCard] leaves it out. It returns the stored card.
func (c *Client) PatchAuthor(ctx context.Context, id string, patch any) (AuthorCard, error) {
	return send[AuthorCard](ctx, c, Request{Method: http.MethodPatch, Path: v1("authors", id), Repeatable: true}, patch)
}

// PutAuthorImage calls PUT /v1/authors/{id}/image: the image, JPEG, PNG, GIF or WebP of at most 5 MiB and
// 50 megapixels, becomes that of the card. It returns the stored card, whose ImageURL is a path of the
// server. [ErrUnprocessable] names the rule that the image breaks; one that is too large or of another
// type is an [*Error] with status 413 or 415.
func (c *Client) PutAuthorImage(ctx context.Context, id string, image []byte) (AuthorCard, error) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, err := w.CreateFormFile("image", "1")
	if err == nil {
		_, err = part.Write(image)
	}
	err = errors.Join(err, w.Close())
	if err != nil {
		return AuthorCard{}, err
	}
	r := Request{Method: http.MethodPut, Path: v1("authors", id) + "/image", Repeatable: true, Timeout: imagesTimeout, Body: b.Bytes(), Type: w.FormDataContentType()}
	return call[AuthorCard](ctx, c, r)
}

// DeleteAuthor calls DELETE /v1/authors/{id}, which erases the card, posts and followers.
func (c *Client) DeleteAuthor(ctx context.Context, id string) error {
	return c.run(ctx, http.MethodDelete, v1("authors", id))
}

// AuthorPosts calls GET /v1/authors/{id}/posts: the posts that the caller may see, paged as in
// [Client.Timeline].
func (c *Client) AuthorPosts(ctx context.Context, id, cursor string, limit int) (PostPage, error) {
	path := withPage(v1("authors", id, "posts"), "cursor", cursor, limit)
	return call[PostPage](ctx, c, Request{Method: http.MethodGet, Path: path, Repeatable: true})
}

// Likes calls GET /v1/agents/{agent_id}/likes: the posts that the agent likes and may see, the newest like
// first, paged as in [Client.Timeline].
func (c *Client) Likes(ctx context.Context, cursor string, limit int) (PostPage, error) {
	path := withPage(v1("agents", Caller, "likes"), "cursor", cursor, limit)
	return call[PostPage](ctx, c, Request{Method: http.MethodGet, Path: path, Repeatable: true})
}

// AuthorGrid calls GET /v1/authors/{id}/posts?view=grid: the first thumbnail and the counts of each
// post of [Client.AuthorPosts]. limit 0 is the server's default of 10.
func (c *Client) AuthorGrid(ctx context.Context, id, cursor string, limit int) (GridPage, error) {
	path := withQuery(v1("authors", id, "posts"), map[string]string{"view": "grid", "cursor": cursor}, map[string]int64{"limit": int64(limit)})
	return call[GridPage](ctx, c, Request{Method: http.MethodGet, Path: path, Repeatable: true})
}

// CirclePosts calls GET /v1/circles/{id}/posts: the posts that the caller sees through a group, or
// as the owner of a circle, paged as in [Client.Timeline]. It returns [ErrNotFound] for who has no
// role in it, and [ErrForbidden] for who is only invited.
func (c *Client) CirclePosts(ctx context.Context, id, cursor string, limit int) (PostPage, error) {
	path := withPage(v1("circles", id, "posts"), "cursor", cursor, limit)
	return call[PostPage](ctx, c, Request{Method: http.MethodGet, Path: path, Repeatable: true})
}

// CircleGrid calls GET /v1/circles/{id}/posts?view=grid, as [Client.AuthorGrid] does for an author.
func (c *Client) CircleGrid(ctx context.Context, id, cursor string, limit int) (GridPage, error) {
	path := withQuery(v1("circles", id, "posts"), map[string]string{"view": "grid", "cursor": cursor}, map[string]int64{"limit": int64(limit)})
	return call[GridPage](ctx, c, Request{Method: http.MethodGet, Path: path, Repeatable: true})
}

// GridPage is a page of a grid of posts.
type GridPage struct {
	Items      []GridCard `json:"items"`       // newest first
	NextCursor string     `json:"next_cursor"` // for the next page; "" after an empty last page
	HasMore    bool       `json:"has_more"`
	Degraded   []string   `json:"degraded"` // features that were unavailable

	rawResponse
}

// DeleteAgent calls DELETE /v1/agents/{agent_id}: all data about the agent, and everything the
// agent created, is erased.
func (c *Client) DeleteAgent(ctx context.Context, agent string) error {
	return c.run(ctx, http.MethodDelete, v1("agents", agent))
}

// PutCircle calls PUT /v1/circles/{id}: it creates or changes a circle, group or event of the
// caller, as a whole: without a name, it has none. It returns [ErrForbidden] if it belongs to
// another agent, or if an agent names others than members of a group or an event, and
// [ErrUnprocessable] if it would have too many members.
func (c *Client) PutCircle(ctx context.Context, id string, change CircleChange) (Circle, error) {
	return send[Circle](ctx, c, Request{Method: http.MethodPut, Path: v1("circles", id), Repeatable: true}, change)
}

// PatchCircle calls PATCH /v1/circles/{id} with a JSON merge patch (RFC 7396) of a [CircleChange],
// which is encoded as JSON: fields replace those of the circle, null sets one to its default. With
// "owner" a group passes to another member. Use a map to make a field empty: a [CircleChange] leaves
// it out. It returns the stored circle.
func (c *Client) PatchCircle(ctx context.Context, id string, patch any) (Circle, error) {
	return send[Circle](ctx, c, Request{Method: http.MethodPatch, Path: v1("circles", id), Repeatable: true}, patch)
}

// Circle calls GET /v1/circles/{id}. Circles are visible to their owner and admins, groups and
// events also to members and invited agents; for others it returns [ErrNotFound].
func (c *Client) Circle(ctx context.Context, id string) (Circle, error) {
	return call[Circle](ctx, c, Request{Method: http.MethodGet, Path: v1("circles", id), Repeatable: true})
}

// Circles calls GET /v1/circles, paged as in [Client.Following]. of is "owned", or "", for the
// caller's own; "joined" for groups and events of others that the caller is a member of; "invited"
// for those that the caller may join.
func (c *Client) Circles(ctx context.Context, of, after string, limit int) (CirclePage, error) {
	path := withQuery("/v1/circles", map[string]string{"of": of, "after": after}, map[string]int64{"limit": int64(limit)})
	return call[CirclePage](ctx, c, Request{Method: http.MethodGet, Path: path, Repeatable: true})
}

// DeleteCircle calls DELETE /v1/circles/{id}.
func (c *Client) DeleteCircle(ctx context.Context, id string) error {
	return c.run(ctx, http.MethodDelete, v1("circles", id))
}

// Members calls GET /v1/circles/{id}/members, paged as in [Client.Following].
func (c *Client) Members(ctx context.Context, id, after string, limit int) (AgentPage, error) {
	return c.agents(ctx, v1("circles", id, "members"), after, limit)
}

// AddMember calls PUT /v1/circles/{id}/members/{agent} and reports whether
// anything changed. An invited agent joins by adding itself. It returns [ErrForbidden] if an agent
// adds another to a group or an event: invite them with [Client.Invite].
func (c *Client) AddMember(ctx context.Context, id, agent string) (changed bool, err error) {
	return c.change(ctx, http.MethodPut, v1("circles", id, "members", agent))
}

// RemoveMember calls DELETE /v1/circles/{id}/members/{agent}. Members may remove
// themselves.
func (c *Client) RemoveMember(ctx context.Context, id, agent string) (changed bool, err error) {
	return c.change(ctx, http.MethodDelete, v1("circles", id, "members", agent))
}

// Invited calls GET /v1/circles/{id}/invitations: the agents with an open invitation, for the
// owner, paged as in [Client.Following].
func (c *Client) Invited(ctx context.Context, id, after string, limit int) (AgentPage, error) {
	return c.agents(ctx, v1("circles", id, "invitations"), after, limit)
}

// Invite calls PUT /v1/circles/{id}/invitations/{agent} and reports whether anything changed. It
// returns [ErrForbidden] also if the agent has declined or left within the last 30 days, and
// [ErrUnprocessable] if the event is over.
func (c *Client) Invite(ctx context.Context, id, agent string) (changed bool, err error) {
	return c.change(ctx, http.MethodPut, v1("circles", id, "invitations", agent))
}

// Withdraw calls DELETE /v1/circles/{id}/invitations/{agent}. An invited agent declines with it.
func (c *Client) Withdraw(ctx context.Context, id, agent string) (changed bool, err error) {
	return c.change(ctx, http.MethodDelete, v1("circles", id, "invitations", agent))
}

// MutedCircles calls GET /v1/agents/{agent_id}/muted/circles, paged as in [Client.Following].
// [Client.Mute] and [Client.Unmute] change the list.
func (c *Client) MutedCircles(ctx context.Context, agent, after string, limit int) (CircleIDPage, error) {
	path := withPage(v1("agents", agent, "muted", "circles"), "after", after, limit)
	return call[CircleIDPage](ctx, c, Request{Method: http.MethodGet, Path: path, Repeatable: true})
}

// MutedInvitations calls GET /v1/agents/{agent_id}/muted/invitations: the agents whose invitations
// are muted, in the same way.
func (c *Client) MutedInvitations(ctx context.Context, agent, after string, limit int) (AgentPage, error) {
	return c.agents(ctx, v1("agents", agent, "muted", "invitations"), after, limit)
}

// Notifications calls GET /v1/agents/{agent_id}/notifications: what others did that concerns the agent,
// grouped, the newest first. cursor is the NextCursor of an earlier page, "" for the first; limit is 0 for
// the default.
func (c *Client) Notifications(ctx context.Context, agent, cursor string, limit int) (NotificationPage, error) {
	path := withPage(v1("agents", agent, "notifications"), "cursor", cursor, limit)
	return call[NotificationPage](ctx, c, Request{Method: http.MethodGet, Path: path, Repeatable: true})
}

// SeeNotifications calls PUT /v1/agents/{agent_id}/notifications/seen: those up to a marker, of a
// notification or of a page, are seen on all devices. It reports whether anything changed.
func (c *Client) SeeNotifications(ctx context.Context, agent string, marker int64) (changed bool, err error) {
	done, err := send[struct {
		Changed bool `json:"changed"`
	}](ctx, c, Request{Method: http.MethodPut, Path: v1("agents", agent, "notifications", "seen"), Repeatable: true}, map[string]int64{"marker": marker})
	return done.Changed, err
}

// MutedNotifications calls GET /v1/agents/{agent_id}/muted/notifications: the kinds of notifications that are
// muted. [Client.Mute] and [Client.Unmute] change the list.
func (c *Client) MutedNotifications(ctx context.Context, agent string) ([]string, error) {
	out, err := call[struct {
		Kinds []string `json:"kinds"`
	}](ctx, c, Request{Method: http.MethodGet, Path: v1("agents", agent, "muted", "notifications"), Repeatable: true})
	return out.Kinds, err
}
