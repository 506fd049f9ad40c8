package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/freshet/freshet/feed"
)

// Profile calls GET /v1/agents/{agent_id}/profile. An agent may read its own, an admin every
// agent's; it returns [ErrNotFound] if there is none.
func (c *Client) Profile(ctx context.Context, agent string) (AgentProfile, error) {
	return profileOf(c.Do(ctx, Request{Method: http.MethodGet, Path: v1("agents", agent, "profile"), Repeatable: true}))
}

func profileOf(res Response, err error) (p AgentProfile, _ error) {
	if err != nil {
		return p, err
	}
	if err := json.Unmarshal(res.Data, &p); err != nil {
		return p, fmt.Errorf("decode the profile: %w", err)
	}
	p.Tag = res.Header.Get("ETag")
	return p, nil
}

// PutProfile calls PUT /v1/agents/{agent_id}/profile and returns the stored profile. Changing the
// mutes ends the agent's session.
func (c *Client) PutProfile(ctx context.Context, agent string, p feed.Profile) (feed.Profile, error) {
	return send[feed.Profile](ctx, c, Request{Method: http.MethodPut, Path: v1("agents", agent, "profile"), Repeatable: true}, p)
}

// PutProfileOf is like PutProfile, but only if the stored profile still has the tag
// ([AgentProfile]). It returns [ErrPrecondition] if there is another one, or none: read it and
// decide again. It is not repeated: a repetition would fail if the first attempt has stored the
// profile.
func (c *Client) PutProfileOf(ctx context.Context, agent, tag string, p feed.Profile) (AgentProfile, error) {
	body, err := json.Marshal(p)
	if err != nil {
		return AgentProfile{}, err
	}
	return profileOf(c.Do(ctx, Request{Method: http.MethodPut, Path: v1("agents", agent, "profile"), Body: body, Header: http.Header{"If-Match": {tag}}}))
}

// PatchProfile calls PATCH /v1/agents/{agent_id}/profile with a JSON merge patch (RFC 7396), which
// it encodes as JSON, and returns the stored profile. Fields that the patch does not contain
// remain.
func (c *Client) PatchProfile(ctx context.Context, agent string, patch any) (AgentProfile, error) {
	body, err := json.Marshal(patch)
	if err != nil {
		return AgentProfile{}, err
	}
	return profileOf(c.Do(ctx, Request{Method: http.MethodPatch, Path: v1("agents", agent, "profile"), Body: body, Repeatable: true}))
}

// Muted names a list of an agent's mutes. The first four are part of the profile.
type Muted string

// The lists.
const (
	MutedAuthors Muted = "authors"
	MutedTags    Muted = "tags"
	MutedItems   Muted = "items" // and groups
	MutedWords   Muted = "words" // and phrases, in titles, summaries, captions and tags
	// MutedGroups are groups and events: their posts leave the agent's timeline, home, streams and
	// badges. MutedInviters are agents whose invitations are not listed.
	MutedGroups   Muted = "circles"
	MutedInviters Muted = "invitations"
	// MutedKinds are kinds of notifications.
	MutedKinds Muted = "notifications"
)

// Mute calls PUT /v1/agents/{agent_id}/muted/…, which is atomic and does not overwrite changes from
// other devices. It reports whether anything changed.
func (c *Client) Mute(ctx context.Context, agent string, list Muted, value string) (changed bool, err error) {
	return c.change(ctx, http.MethodPut, v1("agents", agent, "muted", string(list), value))
}

// MuteUntil is [Client.Mute] with an end, which replaces that of an earlier mute; [Client.Mute] removes
// it. A time that is not in the future, and invitations, which cannot be muted for a time, are refused
// with [ErrInvalid].
func (c *Client) MuteUntil(ctx context.Context, agent string, list Muted, value string, until time.Time) (changed bool, err error) {
	query := "?" + url.Values{"until": {until.UTC().Format(time.RFC3339Nano)}}.Encode()
	return c.change(ctx, http.MethodPut, v1("agents", agent, "muted", string(list), value)+query)
}

// Unmute calls DELETE /v1/agents/{agent_id}/muted/… and reports whether anything changed.
func (c *Client) Unmute(ctx context.Context, agent string, list Muted, value string) (changed bool, err error) {
	return c.change(ctx, http.MethodDelete, v1("agents", agent, "muted", string(list), value))
}

// MutedItemPage is a page of what an agent has hidden.
type MutedItemPage struct {
	Items      []MutedItem `json:"items"`       // what was hidden last first
	NextCursor string      `json:"next_cursor"` // for the next page; "" on the last
	Degraded   []string    `json:"degraded"`    // features that were unavailable

	rawResponse
}

// MutedItem is an item, a post, a reply or a group of items that an agent has hidden.
type MutedItem struct {
	ID    string     `json:"id"`
	Until time.Time  `json:"until,omitzero"` // when the mute ends; zero means never
	Item  *feed.Item `json:"item,omitempty"` // nil for a group or a reply, and for what does not exist any more or the agent may not see
}

// MutedItems calls GET /v1/agents/{agent_id}/muted/items: what the agent has hidden, with its content.
// cursor is the NextCursor of an earlier page, "" for the first; limit is 1 to 100, 0 for the server's default
// of 20. [Client.Unmute] shows an entry again, by its id.
func (c *Client) MutedItems(ctx context.Context, agent, cursor string, limit int) (MutedItemPage, error) {
	path := withPage(v1("agents", agent, "muted", "items"), "cursor", cursor, limit)
	return call[MutedItemPage](ctx, c, Request{Method: http.MethodGet, Path: path, Repeatable: true})
}

// ForgetLearned calls DELETE /v1/agents/{agent_id}/learned: data learned about the agent, if any,
// is deleted; the rest of the profile remains.
func (c *Client) ForgetLearned(ctx context.Context, agent string) error {
	return c.run(ctx, http.MethodDelete, v1("agents", agent, "learned"))
}

// DeleteProfile calls DELETE /v1/agents/{agent_id}/profile.
func (c *Client) DeleteProfile(ctx context.Context, agent string) error {
	return c.run(ctx, http.MethodDelete, v1("agents", agent, "profile"))
}
