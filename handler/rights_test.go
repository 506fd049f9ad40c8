package handler_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/socialtest"
)

// The rights matrix: every kind of post, every reader, every route of a server. The commands are in
// cmd/freshet.

// shown defines how a route answers each reader about a post.
type shown struct {
	method, path, body string
	want               func(kind, reader string, p socialtest.RightsPost) int
}

// Expected answers other than an HTTP status; the status is always 200.
const (
	among200   = 0  // with the post among others
	without200 = -1 // without it
	idsOnly    = -2 // possibly with its id, but without content unless it is public
)

// noPost is the reason why a route of the table cannot show a post.
type noPost string

// matrixRoutes lists every route of a server, with how it can show a post or why it cannot. {post}
// is the post's id. A route with another form of answer has an additional row with the query.
func matrixRoutes() map[string]any {
	status := func(ok bool, not int) int {
		if ok {
			return http.StatusOK
		}
		return not
	}
	agent := func(reader string) bool { return reader != "nobody" && reader != "admin" }
	page := func(ok bool) int {
		if ok {
			return among200
		}
		return without200
	}
	read := func(_, reader string, p socialtest.RightsPost) int { return status(p.Visible(reader), 404) }
	change := func(_, reader string, p socialtest.RightsPost) int {
		switch {
		case reader == "nobody":
			return 401
		case p.Deleted:
			return 404
		case slices.Contains(p.Owners, reader):
			return 200
		case p.Visible(reader):
			return 403
		}
		return 404
	}
	remove := func(kind, reader string, p socialtest.RightsPost) int {
		if reader == "founder" && p.Visible(reader) && strings.HasPrefix(kind, "event") {
			return 200
		}
		return change(kind, reader, p)
	}
	liked := func(kind, reader string, p socialtest.RightsPost) int {
		switch {
		case !agent(reader):
			return 401
		case !p.Visible(reader):
			return 404
		}
		return status(p.Likeable(kind, reader), 403)
	}
	// The answer to removing a like reveals nothing about a post that the reader may not see.
	unliked := func(_, reader string, _ socialtest.RightsPost) int { return status(agent(reader), 401) }
	timeline := func(_, reader string, p socialtest.RightsPost) int {
		if !agent(reader) {
			return 401
		}
		return page(p.Listed(reader))
	}
	// The feed shows public posts to readers other than the author, unless a block or a mute
	// prevents it.
	feed := func(kind, reader string, p socialtest.RightsPost) int {
		if !agent(reader) {
			return 401
		}
		if kind == "public" && p.Visible(reader) && reader != "muter" && reader != "author" {
			return among200
		}
		return without200
	}
	admins := func(not int) func(kind, reader string, p socialtest.RightsPost) int {
		return func(kind, reader string, _ socialtest.RightsPost) int {
			switch {
			case reader == "nobody":
				return 401
			case reader != "admin":
				return 403
			}
			return not
		}
	}
	// A post that a reader may not see is answered like one they were not shown.
	acted := func(_, reader string, _ socialtest.RightsPost) int { return status(agent(reader), 401) }
	item := func(kind, reader string, p socialtest.RightsPost) int {
		return admins(status(p.All && p.Post.ReplyTo == "", 404))(kind, reader, p)
	}
	related := func(_, reader string, p socialtest.RightsPost) int {
		if !agent(reader) {
			return 401
		}
		return status(p.Visible(reader) && p.Post.ReplyTo == "", 404) // a reply is no item
	}
	ofGroup := func(kind, reader string, p socialtest.RightsPost) int {
		switch {
		case !agent(reader):
			return 401
		case reader == "invited":
			return 403
		case !slices.Contains([]string{"author", "member", "latecomer"}, reader):
			return 404
		}
		return page(kind == "group" && p.Visible(reader))
	}
	moderated := func(there int) func(kind, reader string, p socialtest.RightsPost) int {
		return func(kind, reader string, p socialtest.RightsPost) int {
			if p.Deleted {
				return admins(map[int]int{among200: without200, 200: 404}[there])(kind, reader, p)
			}
			return admins(there)(kind, reader, p)
		}
	}
	// Ids of public posts, which may have been deleted meanwhile, but no content of others.
	explained := admins(idsOnly)
	const static, own = noPost("the same for everybody"), noPost("answers what the caller has sent, or nothing")
	return map[string]any{
		"GET /v1/posts/{id}":                   shown{"GET", "/v1/posts/{post}", "", read},
		"PUT /v1/posts/{id}/like":              shown{"PUT", "/v1/posts/{post}/like", "", liked},
		"DELETE /v1/posts/{id}/like":           shown{"DELETE", "/v1/posts/{post}/like", "", unliked},
		"GET /v1/agents/{agent_id}/likes":      noPost("the posts that the agent likes and sees: server, TestVisibilityModel"),
		"GET /v1/timeline":                     shown{"GET", "/v1/timeline?limit=100", "", timeline},
		"GET /v1/authors/{id}/posts":           shown{"GET", "/v1/authors/author/posts?limit=100", "", func(_, reader string, p socialtest.RightsPost) int { return page(p.OnPage(reader)) }},
		"GET /v1/authors/{id}/posts?view=grid": shown{"GET", "/v1/authors/author/posts?view=grid&limit=100", "", func(_, reader string, p socialtest.RightsPost) int { return page(p.OnPage(reader)) }},
		"GET /v1/agents/{agent_id}/notifications": shown{"GET", "/v1/agents/~/notifications?limit=100", "", func(_, reader string, p socialtest.RightsPost) int {
			if !agent(reader) {
				return 401
			}
			return page(slices.Contains(p.Post.Mentions, reader) && p.Visible(reader))
		}},
		"POST /v1/feed":                        shown{"POST", "/v1/feed", `{"action":"refresh","limit":100}`, feed},
		"GET /v1/items/{id}":                   shown{"GET", "/v1/items/{post}", "", item},
		"GET /v1/items/{id}/related":           shown{"GET", "/v1/items/{post}/related", "", related},
		"GET /v1/items/{id}/related?limit=100": shown{"GET", "/v1/items/anchor/related?limit=100", "", feed},
		"POST /v1/explain":                     shown{"POST", "/v1/explain", `{"agent_id":"somebody-new","limit":100}`, explained},
		"POST /v1/compare":                     shown{"POST", "/v1/compare", `{"b":"scale=72h","agents":["somebody-new"],"lists":true}`, explained},
		"PATCH /v1/posts/{id}":                 shown{"PATCH", "/v1/posts/{post}", `{"tags":["edited"]}`, change},
		"DELETE /v1/posts/{id}":                shown{"DELETE", "/v1/posts/{post}", "", remove},
		"GET /media/{key}":                     noPost("an image: TestImageVisibility"),
		"GET /v1/feed/guest":                   noPost("the same for everybody, of posts the public ones: see server, TestGuestSeesPublicPosts"),
		"GET /v1/posts/{id}/replies":           shown{"GET", "/v1/posts/{post}/replies?limit=100", "", read},
		"POST /v1/posts":                       noPost("answers the caller's own post"),
		"POST /v1/timeline/warm":               own,
		"GET /v1/stream":                       noPost("places and counts; engine's tests hold what is counted"),
		"GET /v1/authors/{id}":                 noPost("a card and counts; socialtest holds the counts"),
		"POST /v1/authors/cards":               noPost("cards and counts; socialtest holds whose"),
		"PUT /v1/authors/{id}":                 own,
		"PATCH /v1/authors/{id}":               own,
		"PUT /v1/authors/{id}/image":           own,
		"DELETE /v1/authors/{id}":              own,
		"DELETE /v1/agents/{agent_id}":         own,

		"GET /v1/agents/{agent_id}/following":                     noPost("ids of agents"),
		"GET /v1/agents/{agent_id}/followers":                     noPost("ids of agents"),
		"GET /v1/agents/{agent_id}/suggestions":                   noPost("ids of authors: engine, TestSuggestions"),
		"GET /v1/agents/{agent_id}/blocked":                       noPost("ids of agents"),
		"POST /v1/agents/{agent_id}/following":                    own,
		"PUT /v1/agents/{agent_id}/following/{author}":            own,
		"DELETE /v1/agents/{agent_id}/following/{author}":         own,
		"PUT /v1/agents/{agent_id}/blocked/{agent}":               own,
		"DELETE /v1/agents/{agent_id}/blocked/{agent}":            own,
		"GET /v1/circles":                                         noPost("the caller's circles"),
		"GET /v1/circles/{id}":                                    noPost("a circle"),
		"GET /v1/circles/{id}/posts":                              shown{"GET", "/v1/circles/g1/posts?limit=100", "", ofGroup},
		"GET /v1/circles/{id}/posts?view=grid":                    shown{"GET", "/v1/circles/g1/posts?view=grid&limit=100", "", ofGroup},
		"PUT /v1/circles/{id}":                                    own,
		"PATCH /v1/circles/{id}":                                  noPost("a circle"),
		"DELETE /v1/circles/{id}":                                 own,
		"GET /v1/circles/{id}/members":                            noPost("ids of agents"),
		"PUT /v1/circles/{id}/members/{agent}":                    own,
		"DELETE /v1/circles/{id}/members/{agent}":                 own,
		"GET /v1/circles/{id}/invitations":                        noPost("ids of agents"),
		"GET /v1/agents/{agent_id}/muted/circles":                 noPost("ids of circles"),
		"PUT /v1/agents/{agent_id}/muted/circles/{circle}":        own,
		"DELETE /v1/agents/{agent_id}/muted/circles/{circle}":     own,
		"GET /v1/agents/{agent_id}/muted/invitations":             noPost("ids of agents"),
		"PUT /v1/agents/{agent_id}/muted/invitations/{agent}":     own,
		"DELETE /v1/agents/{agent_id}/muted/invitations/{agent}":  own,
		"PUT /v1/agents/{agent_id}/notifications/seen":            own,
		"POST /v1/agents/{agent_id}/export":                       noPost("a state"),
		"GET /v1/agents/{agent_id}/export":                        noPost("a state"),
		"GET /v1/agents/{agent_id}/export/file":                   noPost("what the agent has made: TestExportOfEverything"),
		"GET /v1/agents/{agent_id}/muted/notifications":           noPost("kinds"),
		"PUT /v1/agents/{agent_id}/muted/notifications/{kind}":    own,
		"DELETE /v1/agents/{agent_id}/muted/notifications/{kind}": own,
		"PUT /v1/circles/{id}/invitations/{agent}":                own,
		"DELETE /v1/circles/{id}/invitations/{agent}":             own,

		"POST /v1/posts/{id}/report": shown{"POST", "/v1/posts/{post}/report", `{"reason":"spam"}`, func(_, reader string, p socialtest.RightsPost) int {
			if !agent(reader) {
				return 401
			}
			return status(p.Visible(reader), 404)
		}},
		"POST /v1/items/{id}/report":    noPost("takes no posts"),
		"POST /v1/authors/{id}/report":  own,
		"POST /v1/circles/{id}/report":  own,
		"GET /v1/reports":               noPost("ids, and what the agents who report have written"),
		"POST /v1/moderation":           own,
		"GET /v1/moderation/posts":      shown{"GET", "/v1/moderation/posts?author=author&limit=100", "", moderated(among200)},
		"GET /v1/moderation/posts/{id}": shown{"GET", "/v1/moderation/posts/{post}", "", moderated(200)},
		"GET /v1/audit":                 noPost("ids, and reasons of moderators"),

		"GET /v1/changes":          shown{"GET", "/v1/changes?after=oldest&limit=1000", "", explained},
		"GET /v1/jobs":             noPost("kinds, keys and errors, which name ids and no content: TestRights looks"),
		"POST /v1/jobs":            own,
		"POST /v1/jobs/rederive":   noPost("numbers, and a cursor that names the id of a post"),
		"POST /v1/jobs/{id}/retry": own,
		"DELETE /v1/jobs/{id}":     own,

		"GET /v1/config/diff":    noPost("settings"),
		"POST /v1/config/reload": noPost("settings"),

		"GET /v1/promoted":         noPost("ids of items and posts that an admin has sent"),
		"GET /v1/promoted/{id}":    noPost("the same"),
		"PUT /v1/promoted/{id}":    own,
		"DELETE /v1/promoted/{id}": own,

		"POST /v1/graph/events":               noPost("says which lines were taken; the caller has sent them"),
		"POST /v1/impressions":                own,
		"POST /v1/events":                     shown{"POST", "/v1/events", `{"type":"click","id":"{post}"}`, acted},
		"PUT /v1/agents/{agent_id}/profile":   own,
		"PATCH /v1/agents/{agent_id}/profile": own,

		"PUT /v1/agents/{agent_id}/muted/authors/{author}":    own,
		"DELETE /v1/agents/{agent_id}/muted/authors/{author}": own,
		"PUT /v1/agents/{agent_id}/muted/tags/{tag}":          own,
		"DELETE /v1/agents/{agent_id}/muted/tags/{tag}":       own,
		"GET /v1/agents/{agent_id}/muted/items":               noPost("the posts that the agent has hidden and sees: server, TestVisibilityModel"),
		"PUT /v1/agents/{agent_id}/muted/items/{item}":        own,
		"DELETE /v1/agents/{agent_id}/muted/items/{item}":     own,
		"PUT /v1/agents/{agent_id}/muted/words/{word}":        own,
		"DELETE /v1/agents/{agent_id}/muted/words/{word}":     own,

		"GET /v1/agents/{agent_id}/profile":    noPost("what the agent has put, and what was learned from posts that anybody may see"),
		"DELETE /v1/agents/{agent_id}/learned": own,
		"DELETE /v1/agents/{agent_id}/profile": own,
		"POST /v1/items":                       own,
		"GET /v1/items":                        noPost("posts are not listed"),
		"POST /v1/items/counts":                noPost("says which lines were taken; the caller has sent them"),
		"PATCH /v1/items/{id}":                 noPost("takes no posts"),
		"DELETE /v1/items/{id}":                own,
		"GET /debug/pprof/{profile}":           "profiles of the process, for admins",
		"GET /v1/ranking":                      noPost("parameters"),
		"PUT /v1/ranking":                      noPost("parameters"),
		"GET /v1/ranking/history":              noPost("parameters"),
		"GET /v1/ranking/report":               noPost("counts"),
		"POST /v1/ranking/revert":              noPost("parameters"),
		"GET /v1/feeds":                        noPost("parameters"),
		"GET /v1/feeds/{name}":                 noPost("parameters"),
		"PUT /v1/feeds/{name}":                 noPost("parameters"),
		"DELETE /v1/feeds/{name}":              own,
		"POST /v1/replay":                      noPost("ranks of ids that the caller sends"),
		"GET /v1/overview":                     noPost("counts"),
		"GET /v1/readers":                      noPost("a number of readers"),
		"GET /v1/system":                       noPost("settings"),
		"POST /v1/doctor":                      noPost("the state of services"),
		"GET /metrics":                         noPost("counts: TestRights looks"),
		"GET /":                                static,
		"GET /console":                         static,
		"GET /docs":                            static,
		"GET /assets/{path}":                   static,
		"GET /openapi.json":                    static,
		"GET /livez":                           static,
		"GET /readyz":                          static,
	}
}

// tableOf returns every route of a server, in the notation of the matrix.
func tableOf(t *testing.T, server http.Handler) map[string]bool {
	t.Helper()
	engine, ok := server.(interface{ Routes() gin.RoutesInfo })
	require.True(t, ok, "%T lists no routes", server)
	table := map[string]bool{}
	for _, r := range engine.Routes() {
		if r.Method == http.MethodHead {
			continue
		}
		parts := strings.Split(r.Path, "/")
		for i, part := range parts {
			if part != "" && (part[0] == ':' || part[0] == '*') {
				parts[i] = "{" + part[1:] + "}"
			}
		}
		table[r.Method+" "+strings.Join(parts, "/")] = true
	}
	return table
}

// settled waits until all derived data is up to date.
func settled(t *testing.T, store server.SocialStore) {
	t.Helper()
	testenv.WaitFor(t, func() bool {
		stats, err := store.Stats(t.Context())
		require.NoError(t, err)
		for _, rows := range stats.Rows {
			if rows.State != jobs.Completed && rows.Kind != jobs.Count {
				return false
			}
		}
		return true
	}, "the jobs")
}

func TestRights(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	inBothModes(t, testRights)
}

// inBothModes runs a test embedded, and over Redis and PostgreSQL.
func inBothModes(t *testing.T, test func(t *testing.T, change func(*configs.Config))) {
	t.Helper()
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		test(t, func(*configs.Config) {})
	})
	t.Run("services", func(t *testing.T) {
		t.Parallel()
		_, prefix := testenv.Redis(t)
		url, images := testenv.Postgres(t), t.TempDir()
		test(t, func(cfg *configs.Config) {
			cfg.Redis.URL, cfg.Redis.KeyPrefix, cfg.Postgres.URL, cfg.Media.URL = testenv.RedisURL(t), prefix, url, "file://"+images
			cfg.Server.RequestTimeout = 20 * time.Second // avoids that a healthy service counts as down on a busy machine
		})
	})
}

func testRights(t *testing.T, change func(*configs.Config)) {
	t.Helper()
	var log lockedBuffer
	c := openLogged(t, slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})), change)
	routes := matrixRoutes()
	for op := range tableOf(t, c.server) {
		require.Contains(t, routes, op, "say in matrixRoutes how this route shows posts, or why it shows none")
	}
	for op := range routes {
		name, _, _ := strings.Cut(op, "?")
		require.True(t, tableOf(t, c.server)[name], "%s is in the matrix and does not exist", op)
	}
	store := c.social
	m := &rights{t: t, server: c.server, store: store}
	anchor := fmt.Sprintf(`[{"id":"anchor","title":"An anchor","update_time":%d,"tags":[%q]}]`, time.Now().Unix(), socialtest.Tag)
	require.Equal(t, 200, m.ask("admin", "POST", "/v1/items", anchor).Code)
	require.Equal(t, 200, m.ask("muter", "PUT", "/v1/agents/muter/profile", `{"muted_authors":["author"]}`).Code)
	socialtest.Network(t, store)
	settled(t, store)
	require.NoError(t, store.DeletePost(t.Context(), "post:deleted", "", time.Time{}))
	// The feed shows a post only once, so it comes before other routes that show posts. Routes that
	// change posts come last.
	turn := func(op string) int {
		switch op {
		case "POST /v1/feed", "GET /v1/agents/{agent_id}/notifications": // before the likes of these calls
			return 0
		case "PATCH /v1/posts/{id}", "DELETE /v1/posts/{id}":
			return 2
		}
		return 1
	}
	for now := range 3 {
		for op, route := range routes {
			if r, ok := route.(shown); ok && now == turn(op) {
				m.route(op, r)
			}
		}
	}
	settled(t, store)
	m.silent(&log)
}

// silent checks that the log, the metrics and the queue contain no content of posts.
func (m *rights) silent(log *lockedBuffer) {
	for what, text := range map[string]string{
		"the log":     log.String(),
		"the metrics": m.ask("admin", "GET", "/metrics", "").Body.String(),
		"the jobs":    m.ask("admin", "GET", "/v1/jobs?limit=1000", "").Body.String(),
	} {
		for _, word := range []string{"a post is delivered", "freshet_jobs", `"kind":"`} {
			if strings.Contains(text, word) {
				text += "\nlooked at"
			}
		}
		require.Contains(m.t, text, "looked at", "%s says nothing of posts at all", what)
		for line := range strings.Lines(text) {
			assert.NotContains(m.t, line, socialtest.Secret, what)
		}
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

type rights struct {
	t      *testing.T
	server http.Handler
	store  server.SocialStore
}

func (m *rights) ask(reader, method, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("X-Request-ID", "same")
	switch reader {
	case "nobody":
	case "admin":
		r.Header.Set("X-Admin-Token", contractToken)
	default:
		r.Header.Set("X-Agent-ID", reader)
	}
	w := httptest.NewRecorder()
	m.server.ServeHTTP(w, r)
	return w
}

// about calls a route for one post. Acts count only for shown posts, so the reader first reports an
// impression of it.
func (m *rights) about(reader string, r shown, id string) *httptest.ResponseRecorder {
	if strings.Contains(r.body, "{post}") {
		m.ask(reader, "POST", "/v1/impressions", `{"ids":["`+id+`"]}`)
	}
	return m.ask(reader, r.method, strings.ReplaceAll(r.path, "{post}", id), strings.ReplaceAll(r.body, "{post}", id))
}

// route makes a call for every post, or one call for all of them, as every reader.
func (m *rights) route(op string, r shown) {
	posts := socialtest.RightsPosts()
	for _, reader := range socialtest.Readers {
		if !strings.Contains(r.path+r.body, "{post}") {
			got := m.ask(reader, r.method, r.path, r.body)
			for kind, p := range posts {
				m.page(op, reader, kind, r.want(kind, reader, p), got)
			}
			continue
		}
		never := m.about(reader, r, "post:never")
		for kind, p := range posts {
			got := m.one(op, r, kind, reader, p)
			if got.Code == http.StatusNotFound || got.Code == never.Code && !p.Visible(reader) {
				assert.Equal(m.t, never.Body.String(), got.Body.String(), "%s of %s for %s", op, kind, reader)
				assert.Equal(m.t, never.Header(), got.Header(), "%s of %s for %s", op, kind, reader)
			}
		}
	}
}

// one makes a call for one post, and uses a copy if the route deletes the post.
func (m *rights) one(op string, r shown, kind, reader string, p socialtest.RightsPost) *httptest.ResponseRecorder {
	m.t.Helper()
	id := "post:" + kind
	removes := op == "DELETE /v1/posts/{id}"
	if removes && !p.Deleted {
		id = fmt.Sprintf("post:%s-%s", kind, reader)
		p.Sees = append(slices.Clone(p.Sees), p.Later...)
		again := p.Post
		again.ID, again.Author, again.Caption = id, "author", socialtest.SecretOf("another")
		_, _, err := m.store.CreatePost(m.t.Context(), again, social.Creation{})
		require.NoError(m.t, err)
	}
	got := m.about(reader, r, id)
	want := r.want(kind, reader, p)
	assert.Equal(m.t, want, got.Code, "%s of %s for %s: %s", op, kind, reader, got.Body)
	if !p.Visible(reader) && want != 200 {
		assert.NotContains(m.t, got.Body.String(), socialtest.SecretOf(kind), "%s for %s", op, reader)
	}
	if reader == "admin" && !p.All && op != "GET /v1/moderation/posts/{id}" { // which the audit log tells of
		assert.NotContains(m.t, got.Body.String(), socialtest.SecretOf(kind), "%s: an admin reads what is public", op)
	}
	if want == 200 && op == "POST /v1/events" {
		assert.Equal(m.t, p.Visible(reader), strings.Contains(got.Body.String(), `"accepted":1`), "%s of %s for %s", op, kind, reader)
	}
	if op == "GET /v1/posts/{id}/replies" && (reader == "muter" || p.Unanswered()) {
		assert.NotContains(m.t, got.Body.String(), socialtest.SecretOf(kind), "%s for %s", op, reader)
		return got
	}
	if op == "GET /v1/items/{id}/related" {
		assert.NotContains(m.t, got.Body.String(), socialtest.SecretOf(kind), "%s for %s: an item is not related to itself", op, reader)
		return got
	}
	if want == 200 && (r.method == "GET" || r.method == "PATCH" && reader != "admin") {
		assert.Contains(m.t, got.Body.String(), socialtest.SecretOf(kind), "%s for %s", op, reader)
	}
	return got
}

// page searches an answer with several posts for one.
func (m *rights) page(op, reader, kind string, want int, got *httptest.ResponseRecorder) {
	m.t.Helper()
	status := want
	if want <= 0 {
		status = http.StatusOK
	}
	assert.Equal(m.t, status, got.Code, "%s for %s: %s", op, reader, got.Body)
	if want == idsOnly {
		if kind != "public" {
			assert.NotContains(m.t, got.Body.String(), socialtest.SecretOf(kind)+`"`, "%s for %s", op, reader)
		}
		return
	}
	assert.Equal(m.t, want == among200, strings.Contains(got.Body.String(), `"post:`+kind+`"`), "%s shows %s to %s: %s", op, kind, reader, got.Body)
	if want != among200 {
		assert.NotContains(m.t, got.Body.String(), socialtest.SecretOf(kind)+`"`, "%s for %s", op, reader)
	}
}
