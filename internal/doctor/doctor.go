// Package doctor looks at what a configuration needs, and says what is wrong with it and how
// it is put right. What a service is like its backend tells; what it should be is here.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/handler"
	"github.com/freshet/freshet/internal/agreement"
	"github.com/freshet/freshet/internal/clocks"
	"github.com/freshet/freshet/internal/connect"
	"github.com/freshet/freshet/social/postgres"
)

// Level says how bad a finding is.
type Level string

const (
	OK      Level = "ok"
	Warning Level = "warning" // it works, but not as it should
	Broken  Level = "broken"  // it does not work
)

// Finding is one thing the doctor looked at.
type Finding struct {
	Level  Level  `json:"level"`
	What   string `json:"what"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"` // what to do about it
}

// Options say what a check may change.
type Options struct {
	Fix bool // create what is missing
	// Accept lets this configuration be the one in which all servers over its stores must agree.
	Accept bool
}

type doctor struct {
	cfg configs.Config
	Options
	clock    feed.Clock
	findings []Finding
}

// Check looks at every dependency the configuration needs: is it reachable,
// of a version that will do, with what it must have, its clock right, set as
// docs/production.md says?
func Check(ctx context.Context, cfg configs.Config, options Options) []Finding {
	d := &doctor{cfg: cfg, Options: options, clock: time.Now}
	d.lookAtDataDir(ctx)
	d.lookAtKeys()
	d.lookAtAgents()
	if cfg.UsesRedis() {
		d.lookAtRedis(ctx)
	}
	if cfg.Timeline.RedisURL != "" {
		d.lookAtListsRedis(ctx)
	}
	if cfg.UsesElasticsearch() {
		d.lookAtElastic(ctx)
	}
	d.lookAtPopularity()
	if cfg.UsesPostgres() {
		d.lookAtPostgres(ctx)
	}
	if cfg.SocialOn() {
		d.lookAtMedia(ctx)
	}
	return d.findings
}

func (d *doctor) say(level Level, what, fix, detail string, args ...any) {
	d.findings = append(d.findings, Finding{Level: level, What: what, Detail: fmt.Sprintf(detail, args...), Fix: fix})
}

func (d *doctor) lookAtAgents() {
	if auth := d.cfg.Auth; auth.Mode == configs.ModeJWT {
		d.say(OK, "agents", "", "the claim %s of a token is the agent; what has more than %d characters, or others than %s, becomes sub. and its SHA-256",
			auth.JWT.Claim, feed.MaxAgentID, feed.AgentAlphabet)
	}
}

// lookAtPopularity says where what readers click and like changes no ranking.
func (d *doctor) lookAtPopularity() {
	if why := d.cfg.PopularityOff(); why != "" {
		d.say(OK, "live popularity", "", "off: %s. So weight_2h and weight_2d of the ranking have no effect", why)
	}
}

// skew warns where a clock that was asked at a moment of ours differs from ours.
func (d *doctor) skew(what string, sent, theirs time.Time) {
	if off := clocks.Skew(sent, theirs, d.clock()); off > clocks.MostSkew {
		d.say(Warning, what, "run NTP on both machines", "its clock differs from this machine's by %s", off.Round(time.Millisecond))
	}
}

// lookAtAgreement compares the settings in which servers must agree with those that a store
// keeps.
func (d *doctor) lookAtAgreement(ctx context.Context, name string, store agreement.Store) {
	what := name + " settings"
	compare := agreement.Look
	if d.Accept {
		compare = agreement.Accept
	}
	switch err := compare(ctx, store, agreement.Of(d.cfg)); {
	case errors.Is(err, agreement.ErrDiffers):
		d.say(Broken, what, agreement.Advice, "%v", err)
	case err != nil:
		d.say(Warning, what, "see the message", "what other servers have could not be read: %v", err)
	case d.Accept:
		d.say(OK, what, "", "are now what all servers must agree in; restart each")
	default:
		d.say(OK, what, "", "agree with those of the other servers")
	}
}

// Files reads the files that settings name, of keys and of certificates. The error names
// every setting whose file cannot be used.
func Files(cfg configs.Config) error {
	errs := []error{connect.CheckFiles(cfg)}
	if cfg.Auth.Mode == configs.ModeJWT && cfg.Auth.JWT.JWKS != "" {
		errs = append(errs, handler.CheckKeys(cfg.Auth.JWT.JWKS))
	}
	if cfg.UsesPostgres() {
		if err := (postgres.Config{URL: cfg.Postgres.URL}).Check(); err != nil {
			errs = append(errs, fmt.Errorf("postgres.url: %w", err))
		}
	}
	return errors.Join(errs...)
}

// lookAtKeys says which files cannot be used, where there are any.
func (d *doctor) lookAtKeys() {
	if err := Files(d.cfg); err != nil {
		d.say(Broken, "files", "correct the setting, or the file, which this user must be able to read", "%v", err)
	}
}
