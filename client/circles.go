package client

import (
	"context"
	"net/http"
	"net/url"
)

// PutCircle calls PUT /v1/circles/{id}: it makes a circle, a group or an event of the
// caller's, or changes it. [ErrForbidden] where it is another agent's, [ErrUnprocessable]
// where it would have too many members.
func (c *Client) PutCircle(ctx context.Context, id string, change CircleChange) (Circle, error) {
	return send[Circle](ctx, c, Request{Method: http.MethodPut, Path: circlePath(id), Repeatable: true}, change)
}

// Circle calls GET /v1/circles/{id}. Circles are for their owner and admins, groups and
// events also for their members and who is invited; for others [ErrNotFound].
func (c *Client) Circle(ctx context.Context, id string) (Circle, error) {
	return call[Circle](ctx, c, Request{Method: http.MethodGet, Path: circlePath(id), Repeatable: true})
}

// Circles calls GET /v1/circles: the caller's own, paged as [Client.Following].
func (c *Client) Circles(ctx context.Context, after string, limit int) (CirclePage, error) {
	return c.CirclesAs(ctx, "", after, limit)
}

// CirclesAs calls GET /v1/circles?of=: "owned", the caller's own; "joined", groups and events
// of others that the caller is in; "invited", those that the caller may join.
func (c *Client) CirclesAs(ctx context.Context, of, after string, limit int) (CirclePage, error) {
	path := withQuery("/v1/circles", map[string]string{"of": of, "after": after}, map[string]int64{"limit": int64(limit)})
	return call[CirclePage](ctx, c, Request{Method: http.MethodGet, Path: path, Repeatable: true})
}

// DeleteCircle calls DELETE /v1/circles/{id}. [ErrNotFound] where there is none;
// after a retry that may mean that the try before has removed it.
func (c *Client) DeleteCircle(ctx context.Context, id string) error {
	_, err := c.Do(ctx, Request{Method: http.MethodDelete, Path: circlePath(id), Repeatable: true})
	return err
}

// Members calls GET /v1/circles/{id}/members, paged as [Client.Following].
func (c *Client) Members(ctx context.Context, id, after string, limit int) (AgentPage, error) {
	return c.agents(ctx, circlePath(id)+"/members", after, limit)
}

// AddMember calls PUT /v1/circles/{id}/members/{agent} and reports whether
// anything changed. An invited agent joins by adding itself.
func (c *Client) AddMember(ctx context.Context, id, agent string) (changed bool, err error) {
	return c.change(ctx, http.MethodPut, circlePath(id)+"/members/"+url.PathEscape(agent))
}

// RemoveMember calls DELETE /v1/circles/{id}/members/{agent}. Members may remove
// themselves.
func (c *Client) RemoveMember(ctx context.Context, id, agent string) (changed bool, err error) {
	return c.change(ctx, http.MethodDelete, circlePath(id)+"/members/"+url.PathEscape(agent))
}

// Invite calls PUT /v1/circles/{id}/invitations/{agent} and reports whether anything
// changed.
func (c *Client) Invite(ctx context.Context, id, agent string) (changed bool, err error) {
	return c.change(ctx, http.MethodPut, circlePath(id)+"/invitations/"+url.PathEscape(agent))
}

// Withdraw calls DELETE /v1/circles/{id}/invitations/{agent}. An invited agent declines with it.
func (c *Client) Withdraw(ctx context.Context, id, agent string) (changed bool, err error) {
	return c.change(ctx, http.MethodDelete, circlePath(id)+"/invitations/"+url.PathEscape(agent))
}

func circlePath(id string) string { return "/v1/circles/" + url.PathEscape(id) }
