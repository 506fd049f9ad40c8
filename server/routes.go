package server

import (
	"context"
	"net/http"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/engine/offline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/handler"
	"github.com/freshet/freshet/internal/version"
	"github.com/freshet/freshet/social/fanout"
	"github.com/freshet/freshet/social/graph"
	"github.com/freshet/freshet/social/media"
)

func (a *App) routes(cfg engine.Config) (http.Handler, error) {
	auth := a.cfg.Auth
	erased, err := a.openErasures()
	if err != nil {
		return nil, err
	}
	deps := handler.Deps{
		Engine: a.Engine, Items: a.Catalog, List: a.stores.contents, Personal: a.personal(), NoteErasure: a.noteErasure(erased), Rankings: a.ranking, Health: a.checks, Log: a.log,
		Offline: offlineSource{a.Engine, a.Catalog, a.stores.agents},
		Ingest:  catalog.NewIngest(a.Catalog, catalog.IngestConfig{GroupByURL: a.cfg.Catalog.GroupBy == configs.GroupByURL}),

		Counts: a.counts, Overview: &figures{Keeper: a.overview, counts: a.counts, items: a.stores.contents, clock: a.clock, log: a.log}, System: a.system(), Readers: a.stores.readers, Guest: a.guest(a.Catalog, cfg), Social: a.socialRoutes(), Drain: a.stopping,
		Settings: a.live, Follow: a.adjust,
	}
	a.erase = deps.Personal.Erase
	if a.erased != nil {
		deps.Erased = a.erased.Erased
		deps.FollowErasures = func(ctx context.Context) { _ = a.erased.Refresh(ctx) } // else in a second, by Run
	}
	return handler.New(handler.Config{
		RequestTimeout: a.cfg.Server.RequestTimeout,
		Adjustable:     adjustable(a.live.Now()),
		Clock:          a.clock,
		Version:        version.String(),
		Auth: handler.Auth{
			Mode: auth.Mode, AdminToken: auth.AdminToken, Demo: a.demo,
			Current: a.secrets(),
			JWT:     handler.JWT{Secret: auth.JWT.Secret, JWKS: auth.JWT.JWKS, Issuer: auth.JWT.Issuer, Audience: auth.JWT.Audience, Claim: auth.JWT.Claim},
		},
	}, deps)
}

// adjustable returns the settings of the routes that a reload changes.
func adjustable(cfg configs.Config) handler.Adjustable {
	return handler.Adjustable{
		MaxInFlight: cfg.Server.MaxInFlight, RateLimit: cfg.Server.RateLimit,
		CORS: handler.CORS{Origins: cfg.Server.CORSOrigins, Credentials: cfg.Credentials()},
	}
}

// adjust calls apply after each reload.
func (a *App) adjust(apply func(handler.Adjustable)) {
	a.live.Follow(func(cfg configs.Config) { apply(adjustable(cfg)) })
}

// works returns the access to the items that are erased with their author.
func (a *App) works() catalog.AuthorItems {
	if !a.cfg.OwnsItems() {
		return catalog.AuthorItems{}
	}
	return catalog.AuthorItems{List: a.stores.contents, Items: a.Catalog}
}

// secrets returns the function that rereads the secrets of callers; nil if they do not change.
func (a *App) secrets() func() handler.Secrets {
	if !a.cfg.FromFiles() {
		return nil
	}
	fresh := a.cfg.Fresh()
	return func() handler.Secrets {
		auth := fresh().Auth
		return handler.Secrets{Admin: auth.AdminToken, JWT: auth.JWT.Secret}
	}
}

// socialRoutes returns the dependencies of the routes of posts and timelines; nil if there are no
// such routes.
func (a *App) socialRoutes() *handler.Social {
	n := a.network
	if n == nil {
		return nil
	}
	return &handler.Social{
		Images: a.images(), Store: n.shown, Kept: n.kept, Timelines: n.timelines, Watcher: n.watcher, Queue: n.store, Graph: graph.NewApplier(n.store, graph.Config{}),
		Rederive: a.rederive, Suggest: n.suggester.Suggest, Exports: n.exports, FollowsByApp: a.cfg.Social.Follows == configs.FollowsApp,
	}
}

// rederive makes a step of [fanout.Fanout.Rederive].
func (a *App) rederive(ctx context.Context, cursor string, limit int) (api.Rederived, error) {
	d := fanout.Derived{Items: a.works().List}
	if a.network.stamps != nil {
		d.DistrustLists = a.network.stamps.Distrust
	}
	done, err := a.network.fanout.Rederive(ctx, d, cursor, limit)
	answer := api.Rederived{Posts: done.Posts, Items: done.Items}
	if done.Next != "" {
		answer.NextCursor = &done.Next
	}
	return answer, err
}

// images returns the processor and store of images for routes; nil if there are none.
func (a *App) images() handler.Images {
	if a.network.files == nil {
		return nil
	}
	processor := media.NewProcessor(media.Config{})
	a.live.Follow(func(cfg configs.Config) { processor.SetMemory(int64(cfg.Media.Memory) << 20) })
	return struct {
		*media.Processor
		*media.Files
	}{processor, a.network.files}
}

// sampler samples agents, as in [offline.Source].
type sampler interface {
	Agents(ctx context.Context, n int, seed int64) ([]string, error)
}

// offlineSource makes the running system a source for evaluating rankings.
type offlineSource struct {
	*engine.Engine
	catalog.Reader
	sampler
}

var _ offline.Source = offlineSource{}

// Factors implements [offline.Source].
func (s offlineSource) Factors(ctx context.Context, q feed.Query, ids []string) ([]offline.Factors, error) {
	found, err := s.Engine.Factors(ctx, q, ids)
	if err != nil {
		return nil, err
	}
	out := make([]offline.Factors, len(found))
	for i, f := range found {
		out[i] = offline.Factors{
			Relevance: f.Relevance, Decay: f.Decay, Popularity: f.PopularityFactor,
			MatchedTags: listed(f.Tags), MatchedKeywords: listed(f.Keywords),
		}
	}
	return out, nil
}

// listed returns an empty list for nil, as answers require.
func listed(gains []feed.Gain) []feed.Gain { return append([]feed.Gain{}, gains...) }
