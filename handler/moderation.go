package handler

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

const (
	// maxModerationBody is the maximum size of the body of a report, and of a moderator's action.
	maxModerationBody = 8 << 10
	// defaultModeration and maxModeration are the numbers of entries of a page for moderators.
	defaultModeration = 20
	maxModeration     = 100

	reportSuffix = "/report"
)

// moderationRoutes adds the reports of agents, and what moderators do.
func (s *server) moderationRoutes(route router) {
	for path, kind := range map[string]social.ObjectKind{"posts": social.ObjectPost, "authors": social.ObjectAuthor, "circles": social.ObjectCircle} {
		route(http.MethodPost, "/v1/"+path+"/:id"+reportSuffix, s.postReport(kind))
	}
	const posts = "/v1/moderation/posts"
	route(http.MethodGet, "/v1/reports", s.admin(serveInput(s.gated, nobody, query(reportsQuery{Limit: defaultModeration}), s.getReports)))
	route(http.MethodPost, "/v1/moderation", s.admin(serveInput(s.gated, nobody, body(maxModerationBody, social.Moderate{}), s.postModeration)))
	route(http.MethodGet, posts, s.admin(serveInput(s.gated, nobody, query(moderatedQuery{pageQuery: pageQuery{Limit: defaultModeration}}), s.getModeratedPosts)))
	route(http.MethodGet, posts+"/:id", s.admin(serve(s.gated, nobody, s.getModeratedPost)))
	route(http.MethodGet, "/v1/audit", s.admin(serveInput(s.gated, nobody, query(auditQuery{Limit: defaultModeration}), s.getAudit)))
}

// reportItemRoute adds the report of an item to the route that has the path of it: ids of items have slashes, so one
// pattern matches both.
func (s *server) reportItemRoute(g *gin.Engine, counts func(*gin.Context)) {
	report := s.handle("POST /v1/items/{id}"+reportSuffix, personally(s.postReport(social.ObjectItem)))
	other := s.handle(unmatched, noMethod)
	g.POST("/v1/items/*id", func(c *gin.Context) {
		switch {
		case c.Param("id") == "/counts":
			counts(c)
		case len(c.Param("id")) > len(reportSuffix)+1 && strings.HasSuffix(c.Request.URL.EscapedPath(), reportSuffix):
			report(c)
		default:
			c.Writer.Header()["Allow"] = []string{"DELETE, GET, HEAD, PATCH"}
			other(c)
		}
	})
}

// reportBody is the body of POST …/report.
type reportBody struct {
	Reason  social.ReportReason `json:"reason"`
	Details string              `json:"details"`
}

// postReport answers POST …/report of an object of a kind.
func (s *server) postReport(kind social.ObjectKind) func(*call) error {
	return serveInput(s.gated, s.member, body(maxModerationBody, reportBody{}), func(ctx context.Context, c *call, agent string, in *reportBody) (any, error) {
		id := c.gin.Param("id")
		if kind == social.ObjectItem {
			id = strings.TrimSuffix(strings.TrimPrefix(id, "/"), reportSuffix)
		}
		r := social.Report{Object: social.Object{Kind: kind, ID: id}, Agent: agent, Reason: in.Reason, Details: in.Details}
		if err := r.Check(); err != nil {
			return nil, err
		}
		if kind == social.ObjectItem {
			if _, err := s.getItem(ctx, c, id); err != nil {
				return nil, err
			}
		}
		is, err := s.deps.Social.Store.Report(ctx, r)
		return changed{is}, err
	})
}

// reportsQuery are the parameters of GET /v1/reports.
type reportsQuery struct {
	State  queryText `json:"state"`
	Cursor queryText `json:"cursor"`
	Limit  int       `json:"limit"`
}

func (q *reportsQuery) check() error {
	switch q.State {
	case "", "open", "decided":
		return feed.CheckLimit(q.Limit, maxModeration)
	}
	return fmt.Errorf("%w: state must be open or decided, not %.40q", feed.ErrInvalid, string(q.State))
}

// getReports answers GET /v1/reports.
func (s *server) getReports(ctx context.Context, _ *call, _ string, ask *reportsQuery) (any, error) {
	return s.deps.Social.Store.Reported(ctx, social.ReportedQuery{Decided: ask.State == "decided", After: string(ask.Cursor), N: ask.Limit})
}

// postModeration answers POST /v1/moderation.
func (s *server) postModeration(ctx context.Context, c *call, _ string, in *social.Moderate) (any, error) {
	in.By = s.auth.moderator(c.gin.Request)
	is, err := s.deps.Social.Store.Moderate(ctx, *in)
	return changed{is}, err
}

// boolText is a query parameter that is true or false.
type boolText bool

func (f *boolText) UnmarshalJSON(value []byte) error {
	switch string(value) {
	case `"true"`:
		*f = true
	case `"false"`, `""`:
		*f = false
	default:
		return errors.New("must be true, false or omitted")
	}
	return nil
}

// moderatedQuery are the parameters of GET /v1/moderation/posts.
type moderatedQuery struct {
	pageQuery
	Author   queryText              `json:"author"`
	State    social.ModerationState `json:"state"`
	Reported boolText               `json:"reported"`
	Since    int64                  `json:"since"`
	Until    int64                  `json:"until"`
}

func (q *moderatedQuery) check() error {
	if q.Since < 0 || q.Until < 0 || max(q.Since, q.Until) > social.MaxTime {
		return fmt.Errorf("%w: since and until are Unix seconds, at most %d", feed.ErrInvalid, social.MaxTime)
	}
	if q.Limit > maxModeration {
		return feed.CheckLimit(q.Limit, maxModeration)
	}
	return q.pageQuery.check()
}

// getModeratedPosts answers GET /v1/moderation/posts.
func (s *server) getModeratedPosts(ctx context.Context, c *call, _ string, ask *moderatedQuery) (any, error) {
	list, err := s.deps.Social.Store.PostsToModerate(ctx, s.auth.moderator(c.gin.Request), social.PostsQuery{
		Author: string(ask.Author), State: ask.State, Reported: bool(ask.Reported), Since: ask.Since, Until: ask.Until, Below: ask.position, N: ask.Limit + 1,
	})
	var page social.ModeratedPage
	posts, last := firstPage(list, ask.Limit)
	page.Posts = posts
	if last != nil {
		cursor := cursorOf(social.Position{At: last.CreatedAt, ID: last.ID})
		page.NextCursor = &cursor
	}
	return page, err
}

// getModeratedPost answers GET /v1/moderation/posts/{id}.
func (s *server) getModeratedPost(ctx context.Context, c *call, _ string) (any, error) {
	list, err := s.deps.Social.Store.ModeratedPosts(ctx, s.auth.moderator(c.gin.Request), []string{c.gin.Param("id")})
	if err != nil {
		return nil, err
	}
	if list[0].ID == "" {
		return nil, feed.ErrNotFound
	}
	return list[0], nil
}

// auditQuery are the parameters of GET /v1/audit.
type auditQuery struct {
	Cursor queryText `json:"cursor"`
	Limit  int       `json:"limit"`

	below int64
}

func (q *auditQuery) check() (err error) {
	if q.Cursor != "" {
		q.below, err = strconv.ParseInt(string(q.Cursor), 10, 64)
		if err != nil || q.below < 1 {
			return fmt.Errorf("%w: cursor must be the next_cursor of an earlier answer, a number, not %.40q", feed.ErrInvalid, string(q.Cursor))
		}
	}
	return feed.CheckLimit(q.Limit, maxModeration)
}

// getAudit answers GET /v1/audit.
func (s *server) getAudit(ctx context.Context, _ *call, _ string, ask *auditQuery) (any, error) {
	list, err := s.deps.Social.Store.Audit(ctx, ask.below, ask.Limit+1)
	var page social.AuditPage
	entries, last := firstPage(list, ask.Limit)
	page.Entries = entries
	if last != nil {
		cursor := strconv.FormatInt(last.Seq, 10)
		page.NextCursor = &cursor
	}
	return page, err
}

// moderator names the caller of an admin route in the audit log: by a hash of the token, so that the entries of
// before and after a token was replaced can be told apart.
func (a *authenticator) moderator(r *http.Request) string {
	token := r.Header.Get("X-Admin-Token")
	if bearer, ok := bearer(r); ok && token == "" {
		token = bearer
	}
	if !a.hasAdmin {
		return "demo"
	}
	sum := sha256.Sum256([]byte(token))
	return "admin:" + hex.EncodeToString(sum[:4])
}

// mayModerate reports whether a call that names no agent has the admin token, and notes in the audit log that it reads an
// image of a post.
func (s *server) mayModerate(ctx context.Context, c *call, post string) bool {
	if !s.auth.hasAdmin || s.auth.admin(c.gin.Request) != nil {
		return false
	}
	list, err := s.deps.Social.Store.ModeratedPosts(ctx, s.auth.moderator(c.gin.Request), []string{post})
	return err == nil && list[0].ID != ""
}

// unseenWrites are parts of the paths of writes by agents that no other agent sees. A suspended agent may make them.
var unseenWrites = []string{"/muted", "/blocked/", "/notifications/", "/profile", "/export", reportSuffix}

// act names the agent in the context of a write to the social store. A suspended agent may always remove what is
// its own, but a token from before an erasure removes nothing of who has the id now.
func (s *server) act(c *call, agent string) {
	path, method := c.gin.FullPath(), c.gin.Request.Method
	writes := method == http.MethodPost || method == http.MethodPut || method == http.MethodPatch
	removes := method == http.MethodDelete && s.auth.tokens != nil
	if !writes && !removes || !slices.ContainsFunc([]string{"/v1/posts", "/v1/agents/", "/v1/authors/", "/v1/circles/", "/v1/items/"}, func(p string) bool { return strings.HasPrefix(path, p) }) {
		return
	}
	seen := !slices.ContainsFunc(unseenWrites, func(part string) bool { return strings.Contains(path, part) })
	a := social.Actor{Agent: agent, Public: writes && seen, Removes: removes && seen}
	if s.auth.tokens != nil {
		token, _ := bearer(c.gin.Request)
		a.Token, a.Issued = true, s.auth.tokens.issued(token)
	}
	c.gin.Request = c.gin.Request.WithContext(social.WithActor(c.gin.Request.Context(), a))
}
