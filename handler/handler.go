// Package handler implements the HTTP interface: a file for each group of routes, the common
// structure of routes (answer.go), the table that maps errors to a status and a code (errors.go),
// authentication (auth.go, token.go) and limits on bodies (body.go). It imports no backend.
package handler

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/engine/offline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/feed/personal"
	"github.com/freshet/freshet/ranking"
	"github.com/freshet/freshet/signals/popularity"
	"github.com/freshet/freshet/social"
)

// Engine answers feed calls, stores profiles, and counts readers' acts. Its methods are those of
// [engine.Engine].
type Engine interface {
	Feed(ctx context.Context, r engine.Request) (engine.Answer, error)
	Seen(ctx context.Context, agent string, ids []string) error
	React(ctx context.Context, agent string, acts []engine.Act) (api.EventsTaken, error)
	Liked(ctx context.Context, agent string, card social.Card) (api.EventsTaken, error)
	Unliked(agent, post string) error
	HiddenWith(ctx context.Context, item string) ([]string, error)
	Explain(ctx context.Context, r engine.ExplainRequest) (api.Explanation, error)
	Related(ctx context.Context, agent, item string, limit int) (engine.Related, error)
	Muted(ctx context.Context, agent, cursor string, limit int) (engine.MutedPage, error)
	Ranking(agent string) (variant string, r feed.Ranking)
	Profile(ctx context.Context, agent string) (feed.Profile, error)
	EditProfile(ctx context.Context, agent string, change func(*feed.Profile) (bool, error)) (feed.Profile, error)
	RemoveProfile(ctx context.Context, agent string) error
	Learned(agent string, p *feed.Profile) []feed.LearnedGain
	ForgetLearned(ctx context.Context, agent string) error
	LastErased(ctx context.Context, agent string) (erased int64, used bool, err error)
}

// Intake stores uploads. Its methods are those of [catalog.Ingest].
type Intake interface {
	Read(ctx context.Context, r io.Reader) (api.Upload, error)
	ReadNewer(ctx context.Context, r io.Reader) (api.Upload, error)
	Counts(ctx context.Context, r io.Reader) (api.Upload, error)
	Patch(ctx context.Context, id string, patch []byte) (feed.Item, error)
}

// Items reads and deletes single items. Its methods are those of [catalog.Catalog].
type Items interface {
	Docs(ctx context.Context, ids []string) ([]feed.Doc, error)
	Remove(ctx context.Context, id string) error
}

// Dependency is the state of a service or store that the server uses.
type Dependency struct {
	Err      error         // nil while it is up
	Optional bool          // while it is down, answers are degraded but the server stays ready
	Warning  string        // a problem while it is up, shown to anyone; "" for none
	Reason   string        // why it is down, shown to anyone; "" derives a text from Err
	Left     time.Duration // while it is down and optional: how long the stored copy of its data can still be used; 0 if there is none
}

// Health reports the state of the dependencies.
type Health interface {
	// Check returns the states of all dependencies by name, at the latest when ctx ends: one that
	// has not answered by then is down with the context's error.
	Check(ctx context.Context) map[string]Dependency
}

// Deps holds the dependencies of the routes. All fields but Readers, Social, Drain and Follow are required.
type Deps struct {
	Engine   Engine
	Ingest   Intake
	Items    Items
	List     catalog.Lister
	Personal personal.Sources // everything that is stored about agents
	// NoteErasure notes an erasure before it is made: of an agent, or only of the author, which is the card,
	// posts and followers. Nil means that none are noted.
	NoteErasure func(agent string, onlyAuthor bool) error
	// Erased returns up to when an agent was erased, in Unix microseconds, 0 if never, without a call to a store:
	// tokens from before are refused. FollowErasures makes it know all erasures until now. Nil if it is not known.
	Erased         func(agent string) int64
	FollowErasures func(ctx context.Context)
	Rankings       Rankings
	Offline        offline.Source
	Health         Health
	Log            *slog.Logger

	Counts   Counts
	Overview Overview
	System   System
	Readers  popularity.Readers // nil if clicks and likes are not counted
	Guest    Guest

	// Drain is nil if the server does not announce that it stops.
	Drain *Drain

	Settings Settings
	// Follow calls apply with the present settings, and again when they have changed. Nil means that
	// they do not change.
	Follow func(apply func(Adjustable))

	// Social is nil on a server without posts and follows, which lacks their routes.
	Social *Social
}

// server holds the state shared by all routes.
type server struct {
	cfg          Config
	deps         Deps
	log          *slog.Logger
	auth         *authenticator
	calls        sync.Pool // of *call
	assets       map[string]static
	*adjuster         // with feeds, which limits agents' calls, and shown, which limits images being sent
	loads        gate // limits uploads
	explanations gate // limits explanations
	analyses     gate // limits comparisons and replays
	pictures     *imageUploading
	exports      gate // limits exports being sent
	exportsMu    sync.Mutex
	exportsOf    map[string]int // exports being sent, by agent
	health       healthLog
	openapi      static
}

// releaseMode disables gin's debug output, which bypasses the log. The setting is global to gin,
// so it is applied once.
var releaseMode = sync.OnceFunc(func() { gin.SetMode(gin.ReleaseMode) })

// New returns the handler of the whole HTTP interface. It fails if the configuration is invalid.
func New(cfg Config, deps Deps) (http.Handler, error) {
	cfg = cfg.WithDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	adjuster, err := newAdjuster(cfg)
	if err != nil {
		return nil, err
	}
	auth, err := newAuthenticator(cfg, adjuster.trusted, deps.Erased, deps.Log)
	if err != nil {
		return nil, err
	}
	s := &server{
		cfg: cfg, deps: deps, log: deps.Log, auth: auth, adjuster: adjuster,
		loads:        newGate("uploads", cfg.MaxUploads),
		explanations: newGate("explain", explainAtOnce),
		analyses:     newGate("offline", offlineAtOnce),
		pictures:     newImageUploading(),
		exports:      newGate("exports", exportsAtOnce),
		exportsOf:    map[string]int{},
		openapi:      describe(cfg.Version, deps.Social != nil),
	}
	pages, err := assets()
	if err != nil {
		return nil, err
	}
	s.assets = withAuth(pages, cfg.Auth)
	s.calls.New = func() any { return new(call) }
	routes, err := s.routes()
	if err != nil {
		return nil, err
	}
	s.follow()
	return compressed(routes)
}

// follow adjusts the routes to the settings when these change.
func (s *server) follow() {
	if s.deps.Follow == nil {
		return
	}
	s.deps.Follow(func(to Adjustable) {
		if err := s.adjust(to); err != nil { // never for settings that were validated
			s.log.Error("the routes keep their limits and origins", "error", err)
		}
	})
}

func (s *server) routes() (*gin.Engine, error) {
	releaseMode()
	g := gin.New()
	// A redirect would lack the envelope, and would change an item id that ends in a slash.
	g.RedirectTrailingSlash = false
	g.HandleMethodNotAllowed = true
	// Routes match the decoded path: /v1/items/a/b and /v1/items/a%2Fb name the
	// same item, and nothing is decoded twice.
	g.UseRawPath = false
	g.ForwardedByClientIP = false
	if err := g.SetTrustedProxies(nil); err != nil {
		return nil, err
	}

	// A GET route also answers HEAD, at the same cost and with the same metrics; net/http omits
	// the body.
	route := func(method, path string, fn func(*call) error) {
		answer := s.handle(method+" "+parameter.ReplaceAllString(path, "{$1}"), fn)
		g.Handle(method, path, answer)
		if method == http.MethodGet {
			g.Handle(http.MethodHead, path, answer)
		}
	}
	s.feedRoutes(route)
	s.itemRoutes(route)
	s.readItemRoutes(g)
	if s.deps.Social != nil {
		s.reportItemRoute(g, s.handle("POST /v1/items/counts", s.admin(s.postCounts)))
	}
	s.rankingRoutes(route)
	if s.deps.Social != nil {
		s.socialRoutes(route)
	}
	s.pprofRoutes(g)
	s.configurationRoutes(route)
	s.operationRoutes(route)
	g.NoRoute(s.handle(unmatched, noRoute))
	g.NoMethod(s.handle(unmatched, noMethod))
	return g, nil
}

// router adds a route; path is in gin's syntax.
type router func(method, path string, fn func(*call) error)

// parameter matches a parameter in a gin path. Logs and metrics write it in braces.
var parameter = regexp.MustCompile(`[:*](\w+)`)

// feedRoutes adds the routes about a reader: feeds, acts and profiles.
func (s *server) feedRoutes(route router) {
	const agent, profile = "/v1/agents/:agent_id", "/v1/agents/:agent_id/profile"
	own := s.owner("agent_id")
	route(http.MethodPost, "/v1/feed", s.postFeed)
	route(http.MethodGet, "/v1/feed/guest", serveInput(s.work, nobody, query(limitQuery{engine.DefaultLimit, engine.MaxLimit}), s.getGuestFeed))
	route(http.MethodPost, "/v1/impressions", serveInput(s.gated, s.member, body(MaxImpressionsBody, impressionsBody{}), s.postImpressions))
	route(http.MethodPost, "/v1/events", serveInput(s.gated, s.member, body(MaxEventsBody, eventsBody{}), s.postEvents))
	route(http.MethodPut, profile, serveInput(s.gated, own, readChange, s.editProfile))
	route(http.MethodPatch, profile, serveInput(s.gated, own, readChange, s.editProfile))
	route(http.MethodGet, profile, serve(s.gated, own, s.getProfile))
	route(http.MethodDelete, profile, s.of(own, s.deps.Engine.RemoveProfile))
	route(http.MethodDelete, agent+"/learned", s.of(own, s.deps.Engine.ForgetLearned))
	route(http.MethodDelete, agent, personally(s.of(s.eraser, s.deleteAgent)))
	route(http.MethodPost, "/v1/explain", s.admin(serveInput(s.explainGated, nobody, body(MaxFeedBody, explainBody{Limit: engine.DefaultLimit}, "feed"), s.postExplain)))
	s.mutedRoutes(route)
}

func (s *server) itemRoutes(route router) {
	const item = "/v1/items/*id"
	route(http.MethodGet, "/v1/items", s.admin(serveInput(s.gated, nobody, query(itemsQuery{Limit: defaultItems}), s.getItems)))
	route(http.MethodPost, "/v1/items", s.admin(s.postItems))
	if s.deps.Social == nil {
		route(http.MethodPost, "/v1/items/counts", s.admin(s.postCounts))
	}
	route(http.MethodPatch, item, s.admin(serveInput(s.gated, itemID, plain(feed.MaxItemBytes), s.patchItem)))
	route(http.MethodDelete, item, s.admin(s.of(itemID, s.deps.Items.Remove)))
}

// readItemRoutes adds the routes that read an item, or those related to it. Ids have slashes, so that one
// pattern matches both.
func (s *server) readItemRoutes(g *gin.Engine) {
	read := s.handle("GET /v1/items/{id}", s.admin(serve(s.gated, itemID, s.getItem)))
	related := s.handle("GET /v1/items/{id}"+relatedSuffix, serveInput(s.gated, s.member, query(limitQuery{defaultRelated, engine.MaxLimit}), s.getRelated))
	either := func(c *gin.Context) {
		if asksRelated(c) {
			related(c)
			return
		}
		read(c)
	}
	g.GET("/v1/items/*id", either)
	g.HEAD("/v1/items/*id", either)
}

func (s *server) rankingRoutes(route router) {
	route(http.MethodGet, "/v1/ranking", s.admin(serve(s.gated, nobody, s.getRanking)))
	route(http.MethodPut, "/v1/ranking", s.admin(serveInput(s.gated, nobody, body(MaxRankingBody, rankingBody{By: rankingBy}), s.putRanking)))
	route(http.MethodGet, "/v1/ranking/history", s.admin(serveInput(s.gated, nobody, query(limitQuery{rankingHistory, ranking.MaxHistory}), s.getRankingHistory)))
	route(http.MethodGet, "/v1/ranking/report", s.admin(serveInput(s.gated, nobody, query(reportQuery{reportDays, reportEffect}), s.getReport)))
	route(http.MethodPost, "/v1/ranking/revert", s.admin(serveInput(s.gated, nobody, body(MaxRankingBody, revertBody{By: rankingBy}), s.revertRanking)))
	route(http.MethodGet, "/v1/feeds", s.admin(serve(s.gated, nobody, s.getFeeds)))
	route(http.MethodGet, "/v1/feeds/:name", s.admin(serve(s.gated, feedName, s.getFeed)))
	route(http.MethodPut, "/v1/feeds/:name", s.admin(serveInput(s.gated, feedName, body(MaxRankingBody, storedFeedBody{By: rankingBy}), s.putFeed)))
	route(http.MethodDelete, "/v1/feeds/:name", s.admin(serve(s.gated, feedName, s.deleteFeed)))
	route(http.MethodPost, "/v1/compare", s.admin(serveInput(s.offlineWork, nobody, body(MaxCompareBody, compareBody{K: offline.DefaultK}), s.postCompare)))
	route(http.MethodPost, "/v1/replay", s.admin(serveInput(s.offlineWork, nobody, body(MaxReplayBody, replayBody{Depth: offline.DefaultDepth}), s.postReplay)))
}

// operationRoutes adds the pages and the routes for operations.
func (s *server) operationRoutes(route router) {
	route(http.MethodGet, "/v1/overview", s.admin(serve(s.gated, nobody, s.getOverview)))
	route(http.MethodGet, "/v1/readers", s.admin(serveInput(s.gated, nobody, query(readersQuery{}), s.getReaders)))
	route(http.MethodGet, "/v1/system", s.admin(serve(s.gated, nobody, s.getSystem)))
	route(http.MethodPost, "/v1/doctor", s.admin(serve(s.offlineWork, nobody, s.postDoctor)))
	metrics := promhttp.Handler()
	route(http.MethodGet, "/", s.page("feed"))
	route(http.MethodGet, "/console", s.page("console"))
	route(http.MethodGet, "/assets/*path", s.getAsset)
	route(http.MethodGet, "/docs", s.page("docs"))
	route(http.MethodGet, "/openapi.json", s.openapi.send)
	route(http.MethodGet, "/livez", s.live)
	route(http.MethodGet, "/readyz", s.ready)
	route(http.MethodGet, "/metrics", func(c *call) error {
		c.gin.Writer.Header().Set("X-Content-Type-Options", "nosniff")
		metrics.ServeHTTP(c.gin.Writer, c.gin.Request)
		return nil
	})
}

// admin returns a route restricted to admins.
func (s *server) admin(fn func(*call) error) func(*call) error {
	return func(c *call) error {
		if err := s.auth.admin(c.gin.Request); err != nil {
			return err
		}
		return fn(c)
	}
}
