package timeline

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

var (
	watchesOpen = promauto.NewGauge(prometheus.GaugeOpts{
		Name: "freshet_streams_open", Help: "Open streams of GET /v1/stream.",
	})
	newsTotal = promauto.NewCounter(prometheus.CounterOpts{
		Name: "freshet_stream_events_total", Help: "Notifications of new posts for streams.",
	})
	wakesTotal = promauto.NewCounter(prometheus.CounterOpts{
		Name: "freshet_stream_wakes_total", Help: "Checks of streams right after posts were delivered, in addition to those every two seconds.",
	})
)

// Config holds the options of [New] and [NewWatcher].
type Config struct {
	Clock feed.Clock   // required by a [Watcher]
	Log   *slog.Logger // nil disables logging
	// Begin returns the context for the store calls of one request. Nil means the request's own.
	Begin func(context.Context) context.Context
	// Every is the pause between two checks of a [Watcher]; default [PollEvery].
	Every time.Duration
}

func (c Config) withDefaults() Config {
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	c.Every = cmp.Or(c.Every, PollEvery)
	if c.Begin == nil {
		c.Begin = func(ctx context.Context) context.Context { return ctx }
	}
	return c
}

// Showing records posts shown on pages that come from no session, so that no feed shows them
// again, and reports whether a feed has shown an agent anything. The engine implements it.
type Showing interface {
	// Shown is called with the ids of posts before the page is answered. It returns false if it
	// could not record them at once: a feed may show them again, and the page must say so. The
	// error is that of a request that has run out of time.
	Shown(ctx context.Context, agent string, posts []string) (noted bool, err error)
	// IsNew reports whether the last eight days have no known refresh of the agent, of any feed.
	// It returns false if that cannot be determined.
	IsNew(ctx context.Context, agent string) bool
}

// ShowThrough makes s record what the timelines show. It is called before the first page is read.
func (t *Timelines) ShowThrough(s Showing) { t.showing = s }

// isNew reports whether a page marks its reader as new. It checks only for an empty timeline, so
// that other pages cost no further call.
func (r *pageRead) isNew(ctx context.Context, page *Page, below social.Position) bool {
	if r.t.showing == nil || !below.Zero() || r.missing != 0 {
		return false
	}
	if len(page.Posts) > 0 || page.HasMore || r.profile.Refreshed() {
		return false
	}
	return r.t.showing.IsNew(ctx, r.agent)
}
