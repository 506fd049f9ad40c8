package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/postgres"
)

const (
	// socialShare is the share of a request's time that its calls to PostgreSQL may take
	// until one fails: a third. The rest is for an answer without it.
	socialShare = 3
	// socialLongest is the longest call of anything else: one that never ends would
	// hide from the breaker that nobody answers.
	socialLongest = 30 * time.Second
)

// socialBreaker stands in front of every call to PostgreSQL.
type socialBreaker struct {
	*dependency
	patience time.Duration // longest call of a request
}

func newSocialBreaker(cfg configs.Config, log *slog.Logger) socialBreaker {
	return socialBreaker{newDependency("social", log, "read", "write"), cfg.Server.RequestTimeout / socialShare}
}

// guard is [postgres.Config.Guard].
func (b socialBreaker) guard(ctx context.Context, kind string, run func(context.Context) error) error {
	r := requestOf(ctx)
	if r != nil && r.storeLost.Load() {
		return b.refuse(ctx, errGivenUp)
	}
	ctx, c, err := b.enter(ctx, kind, kind, 0)
	if err != nil {
		return err
	}
	longest := socialLongest
	if r != nil {
		longest = b.patience
	}
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	err = run(ctx)
	if !postgres.Unreachable(err) {
		c.leave(nil)
		return err
	}
	if r != nil {
		r.storeLost.Store(true)
	}
	c.leave(err)
	return err
}

// shownStore is the social store as answers see it: what they show is kept.
type shownStore struct {
	social.Store
	cards social.Cards
}

// Cards implements [social.Cards], as a call of a request.
func (s shownStore) Cards(ctx context.Context, reader string, posts []social.Known) ([]social.Card, error) {
	if requestOf(ctx) == nil {
		ctx = beginRequest(ctx)
	}
	return s.cards.Cards(ctx, reader, posts)
}
