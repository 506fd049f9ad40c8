package doctor

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/freshet/freshet/internal/ownmachine"
	"github.com/freshet/freshet/server/clocks"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/postgres"
)

const inPostgres = "postgres"

// identify returns the identity of the database, "" if it is not used or does not answer.
func (d *doctor) identify(ctx context.Context) string {
	if !d.cfg.UsesPostgres() {
		return ""
	}
	store, err := postgres.New(ctx, postgres.Config{URL: d.cfg.Postgres.URL}, social.Options{Clock: d.clock})
	if err != nil {
		return ""
	}
	defer func() { _ = store.Close() }()
	identity, _ := store.Identity(ctx)
	return identity
}

// checkPostgres checks the database of posts and follows. With Fix or Accept it brings the tables
// up to date.
func (d *doctor) checkPostgres(ctx context.Context) {
	const what = inPostgres
	store, err := postgres.New(ctx, postgres.Config{URL: d.cfg.Postgres.URL, Log: d.Log}, social.Options{Clock: d.clock})
	if err != nil {
		d.report(Broken, what, "correct postgres.url", "%v", err)
		return
	}
	defer func() { _ = store.Close() }()
	var failed error
	if d.Fix || d.Accept {
		failed = store.Migrate(ctx)
	}
	r, err := store.Check(ctx)
	switch {
	case errors.Is(failed, postgres.ErrUnusable): // judged below
	case failed != nil && (err == nil || !errors.Is(failed, social.ErrUnavailable)):
		d.report(Broken, "postgres schema", "see the message", "%v", failed)
		return
	}
	if err != nil {
		d.report(Broken, what, cmp.Or(ownmachine.Advice(err, "postgres.url"), "see the message; start PostgreSQL, or correct postgres.url"), "%v", err)
		return
	}
	if r.Number < postgres.OldestServer {
		d.report(Broken, what, "upgrade it", "version %s is too old; the oldest supported is %d", r.Server, postgres.OldestServer/10_000)
	} else {
		d.report(OK, what, "", "answers at %s, version %s", r.Address, r.Server)
	}
	if len(r.Unanswered) > 0 {
		d.report(Warning, "postgres addresses", "correct the name or the network, such as routes and firewalls of IPv6, or write the address that answers into postgres.url",
			"no answer from %s: a connection that tries it first takes a second longer", list(r.Unanswered))
	}
	d.judgePostgres(r)
	// Migrate does not change tables that are up to date, and the settings can be read after it.
	if r.Schema.Found >= r.Schema.Known && store.Migrate(ctx) == nil {
		d.checkAgreement(ctx, what, store.Settings())
	}
	off := r.Skew.Abs() - r.Trip/2
	if off > clocks.MostSkew {
		d.report(Warning, "postgres clock", "run NTP on both machines", "it differs from this machine's by %s", off)
	}
}

// judgePostgres compares the state of the database with what the store needs.
func (d *doctor) judgePostgres(r postgres.Report) {
	fatal := slices.ContainsFunc(r.Schema.Problems, func(p postgres.Problem) bool { return p.Fatal })
	for _, p := range r.Schema.Problems {
		level := Warning
		if p.Fatal {
			level = Broken
		}
		d.report(level, "postgres tables", p.Fix, "%s", p.Text)
	}
	switch s := r.Schema; {
	case fatal:
	case !s.Usable():
		d.report(Broken, "postgres schema", "upgrade freshet", "its version %d is newer than this program's %d, and requires a freshet that supports %d", s.Found, s.Known, s.Oldest)
	case s.Found > s.Known:
		d.report(OK, "postgres schema", "", "version %d, which this program's %d can use", s.Found, s.Known)
	case s.Found < s.Known:
		d.report(Warning, "postgres schema", "run freshet doctor --fix, or start a server, which also migrates it", "version %d of %d", s.Found, s.Known)
	default:
		d.report(OK, "postgres schema", "", "version %d", s.Found)
	}
	if r.Encoding != "UTF8" {
		d.report(Broken, "postgres encoding", "create the database with ENCODING 'UTF8'", "it is %s", r.Encoding)
	}
	if r.ReadOnly {
		d.report(Broken, "postgres writes", "name the primary in postgres.url", "it is read-only: it is a replica, or default_transaction_read_only is on")
	}
	if r.Refused != nil {
		subject := "a row cannot be written"
		if r.Schema.Found < r.Schema.Known {
			subject = "the tables cannot be created"
		}
		d.report(Broken, "postgres writes", "see the message", "%s: %v", subject, r.Refused)
	}
	if r.Conns > r.ServerConns {
		d.report(Warning, "postgres connections", "raise max_connections, or the CONNECTION LIMIT of the role and the database, or lower pool_max_conns in postgres.url",
			"this server opens up to %d connections, and PostgreSQL allows %d for all servers together", r.Conns, r.ServerConns)
	}
	if r.Pooled && r.Prepares {
		d.report(Warning, "postgres pooler", "in transaction mode add ?default_query_exec_mode=exec to postgres.url, or let PgBouncer 1.21 or newer prepare them (max_prepared_statements), "+
			"and let freshet doctor --fix migrate over a direct connection; in session mode leave it as it is",
			"the connection goes through a pooler such as PgBouncer, and uses prepared statements")
	}
	if r.Path != "" {
		d.report(Broken, "postgres search_path", "use ALTER ROLE … SET search_path instead, or another database",
			"it is %s, and not that of postgres.url: a pooler ignores it, and the tables would be in another schema", r.Path)
	}
	if len(r.Invalid) > 0 {
		d.report(Warning, "postgres indexes", "REINDEX INDEX CONCURRENTLY each of them", "not used, because their build was interrupted: %s", strings.Join(r.Invalid, ", "))
	}
	if len(r.Unsafe) > 0 {
		d.report(Warning, "postgres durability", "set them to on", "with %s off, a crash of the machine loses posts that were confirmed", strings.Join(r.Unsafe, ", "))
	}
}
