package client

import (
	"context"
	"net/http"
)

// Kinds of a [ModerationObject].
const (
	ReportedPost   = "post"
	ReportedItem   = "item"
	ReportedAuthor = "author"
	ReportedCircle = "circle" // a group or an event
)

// reportPaths are the parts of the routes of what can be reported.
var reportPaths = map[string]string{ReportedPost: "posts", ReportedItem: "items", ReportedAuthor: "authors", ReportedCircle: "circles"}

// ReportObject calls POST /v1/posts/{id}/report, or that of an item, an author or a circle, as the calling agent. Reasons
// are those of /openapi.json; details may be "". changed is false if the agent has reported it before. It returns
// [ErrNotFound] for what the agent may not see.
func (c *Client) ReportObject(ctx context.Context, kind, id, reason, details string) (changed bool, err error) {
	in := map[string]string{"reason": reason}
	if details != "" {
		in["details"] = details
	}
	done, err := send[struct {
		Changed bool `json:"changed"`
	}](ctx, c, Request{Method: http.MethodPost, Path: v1(reportPaths[kind], id, "report"), Repeatable: true}, in)
	return done.Changed, err
}

// ReportedObjects calls GET /v1/reports, with the admin token: what agents have reported and no moderator has decided, or
// what was decided. cursor is the NextCursor of the previous page, "" for the first; limit is 1 to 100, 0 for the
// server's default of 20.
func (c *Client) ReportedObjects(ctx context.Context, decided bool, cursor string, limit int) (ReportedPage, error) {
	state := ""
	if decided {
		state = "decided"
	}
	path := withQuery("/v1/reports", map[string]string{"state": state, "cursor": cursor}, map[string]int64{"limit": int64(limit)})
	return call[ReportedPage](ctx, c, Request{Method: http.MethodGet, Path: path, Repeatable: true})
}

// Moderate calls POST /v1/moderation, with the admin token, and reports whether anything but the audit log has
// changed.
func (c *Client) Moderate(ctx context.Context, m Moderation) (changed bool, err error) {
	done, err := send[struct {
		Changed bool `json:"changed"`
	}](ctx, c, Request{Method: http.MethodPost, Path: "/v1/moderation", Repeatable: true}, m)
	return done.Changed, err
}

// ModeratedFilter selects posts. Zero fields match all.
type ModeratedFilter struct {
	Author       string
	State        string // "held" or "removed"
	Reported     bool
	Since, Until int64 // Unix seconds, of the creation
	Cursor       string
	Limit        int // 1 to 100; 0 is the server's default of 20
}

// ModeratedPosts calls GET /v1/moderation/posts, with the admin token: posts, regardless of their audience. The audit log
// says who has read them.
func (c *Client) ModeratedPosts(ctx context.Context, f ModeratedFilter) (ModeratedPage, error) {
	texts := map[string]string{"author": f.Author, "state": f.State, "cursor": f.Cursor}
	if f.Reported {
		texts["reported"] = "true"
	}
	path := withQuery("/v1/moderation/posts", texts, map[string]int64{"since": f.Since, "until": f.Until, "limit": int64(f.Limit)})
	return call[ModeratedPage](ctx, c, Request{Method: http.MethodGet, Path: path, Repeatable: true})
}

// ModeratedPost calls GET /v1/moderation/posts/{id} in the same way.
func (c *Client) ModeratedPost(ctx context.Context, id string) (ModeratedPost, error) {
	return call[ModeratedPost](ctx, c, Request{Method: http.MethodGet, Path: v1("moderation", "posts", id), Repeatable: true})
}

// Audit calls GET /v1/audit, with the admin token: what moderators have done and read, the newest first, paged as in
// [Client.ReportedObjects].
func (c *Client) Audit(ctx context.Context, cursor string, limit int) (AuditPage, error) {
	return call[AuditPage](ctx, c, Request{Method: http.MethodGet, Path: withPage("/v1/audit", "cursor", cursor, limit), Repeatable: true})
}
