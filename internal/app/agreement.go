package app

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/freshet/freshet/handler"
	"github.com/freshet/freshet/internal/agreement"
	"github.com/freshet/freshet/internal/repeat"
	"github.com/freshet/freshet/social/postgres"
)

// agreeEvery is the pause between two tries to compare the settings that servers must agree
// in, while the store that has them is down.
const agreeEvery = 5 * time.Second

// agree compares the settings with those of the other servers over the same stores. While the
// store that has them is down that waits: what differs then is in the log and in /readyz.
func (b *builder) agree(ctx context.Context, c clients, p *posts) error {
	store := b.settingsStore(c, p)
	if store == nil || b.apart {
		return nil
	}
	own := agreement.Of(b.cfg)
	asking, cancel := context.WithTimeout(ctx, b.cfg.Server.RequestTimeout)
	defer cancel()
	err := agreement.Check(asking, store, own)
	if errors.Is(err, agreement.ErrDiffers) {
		return fmt.Errorf("%w; %s", err, agreement.Advice)
	}
	if err == nil {
		return nil
	}
	b.log.WarnContext(ctx, "whether other servers have the same settings is not known yet", "error", err)
	var differs atomic.Pointer[error]
	b.checks["settings"] = func(context.Context) handler.Dependency {
		if err := differs.Load(); err != nil {
			return handler.Dependency{Err: *err, Optional: true, Reason: agreement.ErrDiffers.Error()}
		}
		return handler.Dependency{Optional: true}
	}
	b.background(ctx, "comparison of settings", func(ctx context.Context) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		repeat.Every(ctx, agreeEvery, func(ctx context.Context) {
			switch err := agreement.Check(ctx, store, own); {
			case errors.Is(err, agreement.ErrDiffers):
				b.log.ErrorContext(ctx, "stop this server, and "+agreement.Advice, "error", err)
				differs.Store(&err)
				stop()
			case err == nil:
				stop()
			}
		})
	})
	return nil
}

// settingsStore is the most durable store that all servers share; nil: there is one server.
func (b *builder) settingsStore(c clients, p *posts) agreement.Store {
	if p != nil {
		if store, ok := p.store.(*postgres.Store); ok {
			return store.Settings()
		}
	}
	if c.elastic != nil {
		return agreement.InElastic(c.elastic, b.cfg.Elasticsearch.Index)
	}
	return nil
}
