// Package doctor checks the dependencies of a configuration, and reports what is wrong with them
// and how to fix it. Each backend reports its state; this package judges it.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/handler"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/server/clocks"
	"github.com/freshet/freshet/server/connect"
	"github.com/freshet/freshet/server/sharedsettings"
	"github.com/freshet/freshet/social/postgres"
)

// Level is the severity of a finding.
type Level string

const (
	OK      Level = "ok"
	Warning Level = "warning" // it works, but not as it should
	Broken  Level = "broken"  // it does not work
)

// Finding is the result of one check.
type Finding struct {
	Level  Level  `json:"level"`
	What   string `json:"what"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"` // what to do about it
}

// Options define what a check may change.
type Options struct {
	Fix bool // create what is missing
	// Accept makes this configuration the one that all servers over its stores must agree with.
	Accept bool
	// Log is told what a migration waits for. Nil disables it.
	Log *slog.Logger
}

type doctor struct {
	cfg configs.Config
	Options
	clock    feed.Clock
	database string // the identity of PostgreSQL's; "" if it is unknown
	findings []Finding
}

// Check checks every dependency of the configuration: is it reachable, of a supported version,
// complete, its clock right, and configured as docs/production.md says?
func Check(ctx context.Context, cfg configs.Config, options Options) []Finding {
	d := &doctor{cfg: cfg, Options: options, clock: time.Now}
	d.reportStores()
	d.checkDataDir(ctx)
	d.checkErasures()
	d.checkOpenFiles()
	d.checkKeyFiles()
	d.checkAgents()
	d.database = d.identify(ctx)
	if cfg.UsesRedis() {
		d.checkRedis(ctx)
	}
	if cfg.Timeline.RedisURL != "" {
		d.checkListsRedis(ctx)
	}
	if cfg.UsesElasticsearch() {
		d.checkElastic(ctx)
	}
	d.checkPopularity()
	if cfg.UsesPostgres() {
		d.checkPostgres(ctx)
	}
	if cfg.SocialOn() {
		d.checkMedia(ctx)
	}
	return d.findings
}

// report adds a finding. If an error among args says that the user of Elasticsearch lacks a privilege, the
// fix is to grant it.
func (d *doctor) report(level Level, what, fix, detail string, args ...any) {
	for _, arg := range args {
		err, _ := arg.(error)
		lacks := esindex.Privilege(err)
		if lacks != "" {
			fix = "give the user " + lacks
		}
	}
	d.findings = append(d.findings, Finding{Level: level, What: what, Detail: fmt.Sprintf(detail, args...), Fix: fix})
}

// reportStores says what the configuration is: in a shell that lacks the server's environment it is another.
func (d *doctor) reportStores() {
	items, impressions, posts := d.cfg.Stores()
	d.report(OK, "configuration", "", "items %s, impressions %s, posts %s", items, impressions, posts)
}

// orProxy puts before a fix that the calls to an address go through a proxy, if they do.
func orProxy(fix, address string) string {
	proxy := connect.Proxy(address)
	if proxy == "" {
		return fix
	}
	return "add its host to NO_PROXY if servers should reach it without " + proxy + ", the proxy that HTTP_PROXY or HTTPS_PROXY names; or " + fix
}

func (d *doctor) checkAgents() {
	auth := d.cfg.Auth
	if auth.Mode == configs.ModeJWT {
		d.report(OK, "agents", "", "the claim %s of a token is the agent; a value longer than %d characters, or with characters other than %s, becomes sub. and its SHA-256",
			auth.JWT.Claim, feed.MaxAgentID, feed.AgentAlphabet)
	}
}

// checkPopularity reports when readers' clicks and likes have no effect on rankings.
func (d *doctor) checkPopularity() {
	why := d.cfg.PopularityOff()
	if why != "" {
		d.report(OK, "live popularity", "", "off: %s. So the ranking's weight_2h and weight_2d have no effect", why)
	}
}

// skew warns if a clock that was read after sent differs from this machine's.
func (d *doctor) skew(what string, sent, theirs time.Time) {
	off := clocks.Skew(sent, theirs, d.clock())
	if off > clocks.MostSkew {
		d.report(Warning, what, "run NTP on both machines", "its clock differs from this machine's by %s", off.Round(time.Millisecond))
	}
}

// checkAgreement compares the settings that servers must agree on with those in a store.
func (d *doctor) checkAgreement(ctx context.Context, name string, store sharedsettings.Store) {
	what := name + " settings"
	compare := sharedsettings.Compare
	if d.Accept {
		compare = sharedsettings.Accept
	}
	own := sharedsettings.Of(d.cfg)
	if name != inPostgres {
		own = own.WithDatabase(d.database)
	}
	switch err := compare(ctx, store, own); {
	case errors.Is(err, sharedsettings.ErrDiffers):
		d.report(Broken, what, sharedsettings.Advice, "%v", err)
	case err != nil:
		d.report(Warning, what, "see the message", "the settings of other servers could not be read: %v", err)
	case d.Accept:
		d.report(OK, what, "", "are now the settings for all servers; restart each")
	default:
		if unused, err := sharedsettings.Unused(ctx, store, own); err == nil && len(unused) > 0 {
			d.report(Warning, what, "run the doctor with the configuration and environment of the server; if no server uses it any more, run freshet doctor --accept-settings",
				"the other servers use %s, this configuration does not", list(unused))
			return
		}
		d.report(OK, what, "", "are the same as on the other servers")
	}
}

// Files reads the key and certificate files that the settings name. The error names every setting
// whose file cannot be used.
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

// checkKeyFiles reports the files that cannot be used.
func (d *doctor) checkKeyFiles() {
	if err := Files(d.cfg); err != nil {
		d.report(Broken, "files", "correct the setting, or the file and its permissions", "%v", err)
	}
}
