package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/server/erasures"
	"github.com/freshet/freshet/server/oldtokens"
)

// openErasures opens the file of erasures, if there is one.
func (b *builder) openErasures() (*erasures.Log, error) {
	if b.cfg.Erasures.File == "" || b.probesOnly { // a worker erases nothing for callers
		return nil, nil
	}
	return erasures.Open(b.cfg.Erasures.File)
}

// startOldTokens follows who is erased, so that tokens from before are refused.
func (a *App) startOldTokens(ctx context.Context) {
	if a.network == nil || a.cfg.Auth.Mode != configs.ModeJWT || a.probesOnly {
		return
	}
	a.erased = oldtokens.New(a.network.store, a.clock, a.log)
	first, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_ = a.erased.Refresh(first) // Run tries again, and logs it
	a.background(ctx, "erasures", a.erased.Run)
}

// noteErasure returns what a route calls before it erases something; nil if no erasures are kept.
func (a *App) noteErasure(log *erasures.Log) func(agent string, onlyAuthor bool) error {
	if log == nil {
		return nil
	}
	return func(agent string, onlyAuthor bool) error {
		what := erasures.Agent
		if onlyAuthor {
			what = erasures.Author
		}
		return log.Note(agent, what, a.clock())
	}
}

// EraseAgain erases agents from stores that no server uses, as after the restoration of a backup that still
// has them. told is called after each. After an error the call can be repeated. What is left to jobs, the
// next server does; no answer shows it.
func EraseAgain(ctx context.Context, cfg configs.Config, list []erasures.Erasure, told func(done int), options ...Option) (err error) {
	app, err := Open(ctx, cfg, options...)
	if err != nil {
		return err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), cfg.Server.ShutdownTimeout)
		defer cancel()
		err = errors.Join(err, app.Close(closing))
	}()
	for i, e := range list {
		if err := app.eraseAgain(ctx, e); err != nil {
			return fmt.Errorf("erase %s: %w", e.Agent, err)
		}
		told(i + 1)
	}
	return nil
}

func (a *App) eraseAgain(ctx context.Context, e erasures.Erasure) error {
	if e.What == erasures.Agent {
		return a.erase(ctx, e.Agent)
	}
	if a.network == nil {
		return nil // there are no authors
	}
	return a.network.shown.EraseAuthor(ctx, e.Agent)
}
