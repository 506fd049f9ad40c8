// Package livesettings holds the configuration in force, and reloads it while the server runs.
package livesettings

import (
	"context"
	"log/slog"
	"sync"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
)

// Settings is the configuration in force. It is safe for concurrent use.
type Settings struct {
	load func() (configs.Config, error)
	log  *slog.Logger

	mu    sync.Mutex
	now   configs.Config
	apply []func(configs.Config)
}

// New returns settings with the configuration that a server starts with. load reads file, environment
// and flags again; nil means that nothing changes.
func New(cfg configs.Config, load func() (configs.Config, error), log *slog.Logger) *Settings {
	if load == nil {
		load = func() (configs.Config, error) { return cfg, nil }
	}
	succeeded(0)
	return &Settings{load: load, log: log, now: cfg}
}

// Now returns the configuration in force.
func (s *Settings) Now() configs.Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// Follow calls apply with the configuration in force, and again after each reload that changes it. Every
// valid configuration must be applicable.
func (s *Settings) Follow(apply func(configs.Config)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	apply(s.now)
	s.apply = append(s.apply, apply)
}

// Diff returns what a reload would change, and what it would leave for a restart. The error wraps
// [feed.ErrRule] if a reload would be refused; it contains no secrets.
func (s *Settings) Diff() ([]api.ConfigChange, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	changes, _, err := s.compare()
	return changes, err
}

// Reload loads the configuration and puts into force what may change while the server runs. It returns
// all differences; those that need a restart remain. If the loaded configuration cannot be used, it
// changes nothing, and the error is that of [Settings.Diff]. by says who asks for it, for the log.
func (s *Settings) Reload(ctx context.Context, by string) ([]api.ConfigChange, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	changes, next, err := s.compare()
	if err != nil {
		refused()
		s.log.ErrorContext(ctx, "the configuration was not reloaded; the one in force stays", "by", by, "error", err)
		return nil, err
	}
	s.now = next
	pending := s.logChanges(ctx, changes)
	if len(changes) > pending {
		for _, apply := range s.apply {
			apply(next)
		}
	}
	succeeded(pending)
	s.log.InfoContext(ctx, "the configuration is reloaded", "by", by, "changed", len(changes)-pending, "need_restart", pending)
	return changes, nil
}

// logChanges logs each change, and returns how many need a restart. A setting that is not set any more may be
// missing by mistake, as from a file that was cut off.
func (s *Settings) logChanges(ctx context.Context, changes []api.ConfigChange) (pending int) {
	for _, c := range changes {
		switch {
		case c.Effect == api.AtRestart && c.Unset:
			s.log.WarnContext(ctx, "a setting is not set any more; its default needs a restart", "key", c.Key, "in_force", c.InForce, "default", c.Loaded)
		case c.Effect == api.AtRestart:
			s.log.WarnContext(ctx, "a changed setting needs a restart", "key", c.Key, "in_force", c.InForce, "loaded", c.Loaded)
		case c.Unset:
			s.log.WarnContext(ctx, "a setting is not set any more; it has its default", "key", c.Key, "before", c.InForce, "now", c.Loaded)
		default:
			s.log.InfoContext(ctx, "a setting has changed", "key", c.Key, "before", c.InForce, "now", c.Loaded)
		}
		if c.Effect == api.AtRestart {
			pending++
		}
	}
	return pending
}

// compare returns how the loaded configuration differs from the one in force, and the one that would be
// in force after a reload.
func (s *Settings) compare() ([]api.ConfigChange, configs.Config, error) {
	loaded, err := s.load()
	if err == nil {
		var next configs.Config
		next, err = configs.Reloaded(s.now, loaded)
		if err == nil {
			return configs.Compare(s.now, loaded), next, nil
		}
	}
	return nil, s.now, feed.Errorf(feed.ErrRule, "the configuration cannot be used: %w", err)
}
