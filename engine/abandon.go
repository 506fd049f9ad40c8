package engine

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"golang.org/x/sync/errgroup"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/internal/safego"
)

const (
	abandonMost    = 1000            // calls that may wait for the store; the pages of further calls count as shown
	abandonFor     = time.Minute     // total time of the attempts for one call
	abandonPause   = 2 * time.Second // longest pause between attempts, plus or minus half of it; shorter than a record's lifetime
	abandonTimeout = 2 * time.Second // timeout of one attempt
)

// abandoned takes back, in the background, pages that the session store may have handed out to
// calls that never received them. It has no queue: all calls wait at once, each for the store to
// return and with its own deadline.
type abandoned struct {
	sessions cache.Sessions
	begin    func(context.Context) context.Context // returns the context of one attempt, as for a request
	log      *slog.Logger
	running  errgroup.Group
	stopped  chan struct{}
	stop     func() // closes stopped
}

func newAbandoned(sessions cache.Sessions, cfg *Config) *abandoned {
	stopped := make(chan struct{})
	a := &abandoned{sessions: sessions, begin: cfg.Begin, log: cfg.Log, stopped: stopped, stop: sync.OnceFunc(func() { close(stopped) })}
	a.running.SetLimit(abandonMost)
	return a
}

// add abandons a call once the session store is reachable.
func (a *abandoned) add(ctx context.Context, agent string, call cache.Call) {
	select {
	case <-a.stopped:
		return
	default:
	}
	starts := a.running.TryGo(func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonFor)
		defer cancel()
		go func() {
			select {
			case <-a.stopped:
				cancel()
			case <-ctx.Done():
			}
		}()
		safego.Log(a.log, "abandoning a page", func() { a.run(ctx, agent, call) })
		return nil
	})
	if !starts {
		a.log.WarnContext(ctx, "too many abandoned pages are waiting; the items of this one count as shown", "agent", agent)
	}
}

func (a *abandoned) run(ctx context.Context, agent string, call cache.Call) {
	pauses := backoff.NewExponentialBackOff()
	pauses.MaxInterval = abandonPause
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		ctx, cancel := context.WithTimeout(a.begin(ctx), abandonTimeout)
		defer cancel()
		return struct{}{}, a.sessions.Abandon(ctx, agent, call)
	}, backoff.WithBackOff(pauses))
	if err != nil {
		a.log.WarnContext(ctx, "could not abandon a page whose answer was lost; if it exists, its items count as shown", "agent", agent, "error", err)
	}
}

// close cancels all pending attempts and waits for them to end.
func (a *abandoned) close() {
	a.stop()
	_ = a.running.Wait() // no call fails
}
