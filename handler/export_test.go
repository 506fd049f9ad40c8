package handler

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/ranking"
)

// NewUnready returns a server with a required dependency that is down and was never reached, and a
// configuration that cannot be used again.
func NewUnready(t testing.TB, token string) http.Handler {
	return newFixture(t, func(cfg *Config, d *Deps) {
		cfg.Auth.AdminToken = token
		d.Rankings = unread{}
		d.Settings = &fakeSettings{err: feed.Errorf(feed.ErrRule, "the configuration cannot be used")}
		d.Health = healthFunc(func(context.Context) map[string]Dependency {
			return map[string]Dependency{
				"elasticsearch": {Err: errors.New("connection refused")},
				"redis":         {Optional: true},
			}
		})
	}).handler
}

// unread is the ranking of a server that has not loaded any.
type unread struct{ Rankings }

func (unread) Current(context.Context) (ranking.Version, error) {
	return ranking.Version{}, ranking.ErrUnavailable
}
