// Package handler answers HTTP: one file per route, one table that maps errors
// to a status and a code (errors.go), who may call (auth.go, token.go) and the
// limits of what is read (body.go). It knows the engine and the contracts'
// errors, never a store.
package handler

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
)

// Feed answers the feed and takes what a client reports as seen.
// [engine.Engine] is one.
type Feed interface {
	Feed(ctx context.Context, r engine.Request) (engine.Answer, error)
	Seen(ctx context.Context, agent string, ids []string) error
}

// Profiles keeps what agents like and refuse. [engine.Engine] is one: it also
// ends a session that a changed profile made wrong.
type Profiles interface {
	Profile(ctx context.Context, agent string) (feed.Profile, error)
	PutProfile(ctx context.Context, agent string, p feed.Profile) error
	RemoveProfile(ctx context.Context, agent string) error
}

// Intake reads a stream of items. Its error says why it stopped early; the
// report counts what was read until then.
type Intake interface {
	Read(ctx context.Context, r io.Reader) (catalog.Report, error)
}

// Items reads and removes single items. Docs has one Doc per id, in order,
// without JSON where there is no such item.
type Items interface {
	Docs(ctx context.Context, ids []string) ([]feed.Doc, error)
	Remove(ctx context.Context, id string) error
}

// Dependency is the state of one thing the server stands on.
type Dependency struct {
	Err      error  // nil: it is up
	Optional bool   // down, it degrades answers but does not make the server unready
	Warning  string // what is wrong with it though it is up, for everyone to read; "": nothing
}

// Health asks every dependency how it is, by name.
type Health interface {
	Check(ctx context.Context) map[string]Dependency
}

// Deps is what the routes stand on; all but Log are required.
type Deps struct {
	Feed     Feed
	Profiles Profiles
	Explain  Explainer
	Intake   Intake
	Items    Items
	Rankings Rankings
	Offline  Offline
	Health   Health
	Log      *slog.Logger // nil: slog.Default()

	Reactions Reactions
	Counts    Counts
}

func (d Deps) validate() error {
	if d.Explain == nil {
		return errors.New("handler: Explain is needed")
	}
	if d.Reactions == nil || d.Counts == nil {
		return errors.New("handler: Reactions and Counts are needed")
	}
	if d.Feed == nil || d.Profiles == nil || d.Intake == nil || d.Items == nil || d.Rankings == nil || d.Offline == nil || d.Health == nil {
		return errors.New("handler: Feed, Profiles, Intake, Items, Rankings, Offline and Health are all needed")
	}
	return nil
}

// server holds what all routes share.
type server struct {
	cfg     Config
	deps    Deps
	log     *slog.Logger
	auth    *authenticator
	calls   sync.Pool // of *call
	assets  map[string]asset
	feeds   gate     // agents' requests being worked on
	loads   gate     // uploads being read
	looks   gate     // explanations being worked on
	studies gate     // comparisons and replays being worked on
	rates   *limiter // nil: agents call as often as they like
	health  healthLog
}

// releaseMode silences gin's own prints, which bypass the log. It is a global
// of gin, so it is set once.
var releaseMode = sync.OnceFunc(func() { gin.SetMode(gin.ReleaseMode) })

// New returns the handler of the whole HTTP interface. It fails on a
// configuration that could not tell callers apart.
func New(cfg Config, deps Deps) (http.Handler, error) {
	cfg = cfg.WithDefaults()
	if err := errors.Join(cfg.Validate(), deps.validate()); err != nil {
		return nil, err
	}
	log := deps.Log
	if log == nil {
		log = slog.Default()
	}
	auth, err := newAuthenticator(cfg, log)
	if err != nil {
		return nil, err
	}
	rates, err := newLimiter(cfg.RateLimit, cfg.RateBurst, limitedAgents, cfg.Clock)
	if err != nil {
		return nil, err
	}
	s := &server{
		cfg: cfg, deps: deps, log: log, auth: auth, rates: rates,
		feeds:   gate{most: int64(cfg.MaxInFlight), shed: shedTotal.WithLabelValues("agents")},
		loads:   gate{most: int64(cfg.MaxUploads), shed: shedTotal.WithLabelValues("uploads")},
		looks:   gate{most: explainAtOnce, shed: shedTotal.WithLabelValues("explain")},
		studies: gate{most: offlineAtOnce, shed: shedTotal.WithLabelValues("offline")},
	}
	if s.assets, err = assets(); err != nil {
		return nil, err
	}
	s.calls.New = func() any { return new(call) }
	return s.routes()
}

func (s *server) routes() (http.Handler, error) {
	releaseMode()
	g := gin.New()
	// A redirect would answer outside the envelope, and change an item id that
	// ends in a slash.
	g.RedirectTrailingSlash = false
	g.HandleMethodNotAllowed = true
	// Ids are routed by the decoded path: /v1/items/a/b and /v1/items/a%2Fb are
	// the same item, and nothing is decoded twice.
	g.UseRawPath = false
	g.ForwardedByClientIP = false
	if err := g.SetTrustedProxies(nil); err != nil {
		return nil, err
	}

	route := func(method, path, name string, fn func(*call) error) {
		g.Handle(method, path, s.handle(method+" "+name, fn))
	}
	const profile, item = "/v1/agents/:agent_id/profile", "/v1/items/*id"
	const profileName, itemName = "/v1/agents/{agent_id}/profile", "/v1/items/{id}"
	route(http.MethodPost, "/v1/feed", "/v1/feed", s.postFeed)
	route(http.MethodPost, "/v1/impressions", "/v1/impressions", s.postImpressions)
	route(http.MethodPost, "/v1/events", "/v1/events", s.postEvents)
	route(http.MethodPut, profile, profileName, s.putProfile)
	route(http.MethodGet, profile, profileName, s.getProfile)
	route(http.MethodDelete, profile, profileName, s.deleteProfile)
	route(http.MethodPost, "/v1/explain", "/v1/explain", s.postExplain)
	route(http.MethodPost, "/v1/items", "/v1/items", s.postItems)
	route(http.MethodGet, item, itemName, s.getItem)
	route(http.MethodDelete, item, itemName, s.deleteItem)
	route(http.MethodGet, "/v1/ranking", "/v1/ranking", s.getRanking)
	route(http.MethodPut, "/v1/ranking", "/v1/ranking", s.putRanking)
	route(http.MethodGet, "/v1/ranking/history", "/v1/ranking/history", s.getRankingHistory)
	route(http.MethodGet, "/v1/ranking/report", "/v1/ranking/report", s.getReport)
	route(http.MethodPost, "/v1/ranking/revert", "/v1/ranking/revert", s.revertRanking)
	route(http.MethodPost, "/v1/compare", "/v1/compare", s.postCompare)
	route(http.MethodPost, "/v1/replay", "/v1/replay", s.postReplay)

	if s.cfg.Pprof {
		s.pprofRoutes(g)
	}
	metrics := promhttp.Handler()
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		route(method, "/", "/", s.page("feed"))
		route(method, "/lab", "/lab", s.page("lab"))
		route(method, "/assets/*path", "/assets/{path}", s.getAsset)
		route(method, "/docs", "/docs", s.page("docs"))
		route(method, "/openapi.json", "/openapi.json", s.getOpenAPI)
		route(method, "/livez", "/livez", s.live)
		route(method, "/readyz", "/readyz", s.ready)
		route(method, "/metrics", "/metrics", func(c *call) error {
			metrics.ServeHTTP(c.gin.Writer, c.gin.Request)
			return nil
		})
	}
	g.NoRoute(s.handle("unmatched", func(*call) error { return errNoRoute }))
	g.NoMethod(s.handle("unmatched", func(*call) error { return errNoMethod }))
	return g, nil
}

// gate bounds how many calls are inside at once; most 0 is no bound.
type gate struct {
	most   int64
	inside atomic.Int64
	shed   prometheus.Counter // calls that found no room
}

// enter fails at once where there is no room: a call that waits for room is a
// call that is answered too late, and the queue outlives the overload. leave
// must follow where it does not fail.
func (g *gate) enter() error {
	if g.most == 0 {
		return nil
	}
	if g.inside.Add(1) > g.most {
		g.inside.Add(-1)
		g.shed.Inc()
		return errBusy
	}
	return nil
}

func (g *gate) leave() {
	if g.most != 0 {
		g.inside.Add(-1)
	}
}

// work does an agent's work inside the gate and within the request timeout. Its
// body must have been read before, and its answer is sent after: a client that
// is slow at either must not hold a place.
func (s *server) work(c *call, do func(ctx context.Context) error) error {
	if err := s.feeds.enter(); err != nil {
		return err
	}
	defer s.feeds.leave()
	ctx, cancel := s.deadline(c)
	defer cancel()
	return do(ctx)
}
