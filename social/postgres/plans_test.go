package postgres

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/socialtest"
)

// scans has, for each statement that may read a whole table, a part of its text.
var scans = []string{
	"WHERE id > $1 AND ($2 = ''", // lists a page of the queue for an operator
	"FROM pg_trigger",            // a small table, once a second
}

var scanned = regexp.MustCompile(`Seq Scan on (?:\w+\.)?(\w+)`)

// tracer records each statement and the arguments of its last execution, and counts round trips.
type tracer struct {
	mu    sync.Mutex
	seen  map[string][]any
	trips atomic.Int64
	sent  atomic.Int64 // statements
}

// openTraced returns a new store whose statements are recorded.
func openTraced(t *testing.T) (*Store, *tracer) {
	t.Helper()
	cfg, err := Config{URL: testenv.Postgres(t) + "&pool_max_conns=4"}.pool()
	require.NoError(t, err)
	tr := &tracer{seen: map[string][]any{}}
	cfg.ConnConfig.Tracer = tr
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	s := newStore(newDatabase(pool, Config{}), social.Options{KeepChanges: time.Hour, KeepNotifications: time.Hour, KeepReports: time.Hour})
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	require.NoError(t, s.Migrate(t.Context()))
	return s, tr
}

func (tr *tracer) keep(text string, args []any) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	verb, _, _ := strings.Cut(text, " ")
	switch strings.ToUpper(verb) {
	case "SELECT", "INSERT", "UPDATE", "DELETE", "WITH":
		tr.seen[text] = args
	}
}

// keepNamed is keep for a statement that may have named arguments.
func (tr *tracer) keepNamed(ctx context.Context, text string, args []any) {
	if len(args) == 1 {
		if named, ok := args[0].(pgx.NamedArgs); ok {
			var err error
			if text, args, err = named.RewriteQuery(ctx, nil, text, nil); err != nil {
				return
			}
		}
	}
	tr.keep(text, args)
}

func (tr *tracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	tr.trips.Add(1)
	tr.sent.Add(1)
	tr.keepNamed(ctx, d.SQL, d.Args)
	return ctx
}

func (tr *tracer) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (tr *tracer) TraceBatchStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceBatchStartData) context.Context {
	tr.trips.Add(1)
	tr.sent.Add(int64(d.Batch.Len()))
	for _, q := range d.Batch.QueuedQueries {
		tr.keepNamed(ctx, q.SQL, q.Arguments)
	}
	return ctx
}
func (tr *tracer) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (tr *tracer) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     {}

// TestNoFullTableScans checks PostgreSQL's plan, over many rows, of each statement that
// the store has used: the plan for the values of the call, and the generic plan, which it uses
// after some calls. No statement may read everything that an agent follows or likes in order to
// annotate the posts of a page.
func TestNoFullTableScans(t *testing.T) {
	s, tr := openTraced(t)
	pool := s.db.pool
	fill(t, s)
	clear(tr.seen)
	socialtest.Exercise(t, s)
	texts := map[string][]any{}
	for text, args := range tr.seen {
		texts[text] = args
	}
	require.Greater(t, len(texts), 70)
	for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
		conn, err := pool.Acquire(t.Context())
		require.NoError(t, err)
		defer conn.Release()
		_, err = conn.Exec(t.Context(), "SET plan_cache_mode = "+mode)
		require.NoError(t, err)
		for text, args := range texts {
			plan := explain(t, conn, text, args)
			for _, m := range scanned.FindAllStringSubmatch(plan, -1) {
				if !allowed(text) && m[1] != versions {
					t.Errorf("%s: %s reads %s whole:\n%s", mode, text, m[1], plan)
				}
			}
			if strings.Contains(plan, "hashed SubPlan") {
				t.Errorf("%s: %s reads all rows of an agent for a few posts:\n%s", mode, text, plan)
			}
		}
	}
}

// TestShortListsGenericPlan checks that PostgreSQL, which plans the first five calls of a
// prepared statement for their values, then switches to a generic plan, also where lists are
// short.
func TestShortListsGenericPlan(t *testing.T) {
	s, err := Open(t.Context(), Config{URL: testenv.Postgres(t) + "&pool_max_conns=1"}, social.Options{KeepChanges: time.Hour})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	fill(t, s)
	testenv.WaitFor(t, func() bool { return s.validator.validate(t.Context(), time.Now()) == nil }, "the memo is used")
	const calls, anew = 12, 5
	ctx := t.Context()
	var n atomic.Int64 // so that each call writes something
	post := func(p social.Post) (social.Written, error) {
		p.Author, p.Caption = "x1", "x"
		w, _, err := s.CreatePost(ctx, p, social.Creation{})
		return w, err
	}
	for name, read := range map[string]func() error{
		"card": func() error { return last(s.StoredCards(ctx, "x1", []social.PostVersion{{ID: "post:x1"}})) },
		"card that has changed": func() error {
			_, _, err := s.Like(ctx, fmt.Sprint("l", n.Add(1)), "post:x2")
			return cmp.Or(err, last(s.Cards(ctx, "x1", []social.PostVersion{{ID: "post:x2"}})))
		},
		"card of many":   func() error { return last(s.CardsOf(ctx, []social.Asked{{Reader: "x1", ID: "post:x1"}})) },
		"standing":       func() error { return last(s.ListStatuses(ctx, "x1", []string{"post:x1"})) },
		"celebrities":    func() error { return last(s.StoredCelebrities(ctx, "x1")) },
		"validation":     func() error { return s.validator.validate(ctx, time.Now()) },
		"grid":           func() error { return last(s.Grid(ctx, "x1", "x2", social.Position{}, 20)) },
		"newest of one":  func() error { return last(s.Newest(ctx, []string{"x2"}, social.Position{}, 20)) },
		"pair of agents": func() error { return last(s.PairEntries(ctx, "x2", "x1", social.Position{}, 20)) },
		"list":           func() error { return last(s.Pull(ctx, social.PullQuery{Reader: "x1", N: 20})) },
		"whole timeline": func() error { return last(s.Pull(ctx, social.PullQuery{Reader: "x1", N: 20, Whole: true})) },
		"author":         func() error { return last(s.Author(ctx, "x1", "x2")) },
		"replies": func() error {
			return last(s.Replies(ctx, social.RepliesQuery{Reader: "x1", Post: "post:x2003", N: 20}))
		},
		"newest public": func() error { return last(s.NewestPublic(ctx, 20)) },
		"receivers":     func() error { return last(s.Receivers(ctx, []social.ReceiverPage{{Post: "post:x1"}}, 20)) },
		"queue":         func() error { return last(s.Stats(ctx)) },
		"age of jobs":   func() error { return last(s.Ages(ctx)) },
		"posts":         func() error { return last(s.PostsByID(ctx, []string{"post:x1"})) },
		"states":        func() error { return last(s.PostStates(ctx, []string{"post:x1"})) },
		"post":          func() error { return last(post(social.Post{Audience: social.Audience{Public: true}})) },
		"post to a circle": func() error {
			return last(post(social.Post{Audience: social.Audience{Circles: []string{"cx1"}}, Mentions: []string{"x3"}}))
		},
		"reply": func() error { return last(post(social.Post{ReplyTo: "post:x2003"})) },
		"edit": func() error {
			caption := fmt.Sprint("edit ", n.Add(1))
			return last(s.EditPost(ctx, "post:x1", "x1", social.Edit{Caption: &caption}, time.Time{}))
		},
		"delete": func() error {
			p, err := post(social.Post{Audience: social.Audience{Public: true}})
			return cmp.Or(err, s.DeletePost(ctx, p.ID, p.Author, time.Time{}))
		},
		"like": func() error {
			_, _, err := s.Like(ctx, fmt.Sprint("l", n.Add(1)), "post:x2")
			return err
		},
		"follow": func() error { return last(s.Follow(ctx, fmt.Sprint("f", n.Add(1)), "x2", time.Time{})) },
		"member": func() error { return last(s.AddMember(ctx, "cx1", fmt.Sprint("m", n.Add(1)), "x1", time.Time{})) },
		"job": func() error {
			if err := s.Enqueue(ctx, jobs.Spec{Kind: "k", Key: fmt.Sprint("j", n.Add(1))}); err != nil {
				return err
			}
			list, err := s.Lease(ctx, 1, time.Minute, "k")
			if err != nil {
				return err
			}
			return last(s.Done(ctx, list...))
		},
	} {
		s.db.pool.Reset() // forces a new connection, without prepared statements
		_, err := s.db.pool.Exec(ctx, `ANALYZE`)
		require.NoError(t, err)
		for range calls {
			require.NoError(t, read(), name)
		}
		rows, err := s.db.pool.Query(ctx, "SELECT statement FROM pg_prepared_statements WHERE custom_plans > $1", anew)
		require.NoError(t, err)
		again, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		again = slices.DeleteFunc(again, byLimit)
		assert.Empty(t, again, name)
		var once int
		require.NoError(t, s.db.pool.QueryRow(ctx, "SELECT count(*) FROM pg_prepared_statements WHERE generic_plans = $1", calls-anew).Scan(&once))
		assert.Positive(t, once, name)
	}
}

func allowed(text string) bool {
	for _, part := range scans {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

func explain(t *testing.T, conn *pgxpool.Conn, text string, args []any) string {
	t.Helper()
	return explained(t, conn, "EXPLAIN (VERBOSE)", text, args)
}

// explained returns the output of an EXPLAIN variant for a prepared statement.
func explained(t *testing.T, conn *pgxpool.Conn, how, text string, args []any) string {
	t.Helper()
	_, err := conn.Exec(t.Context(), "PREPARE explained AS "+text)
	require.NoError(t, err, text)
	defer func() {
		_, err := conn.Exec(t.Context(), "DEALLOCATE explained")
		require.NoError(t, err)
	}()
	values := make([]string, len(args))
	for i, arg := range args {
		values[i] = literal(t, arg)
	}
	list := ""
	if len(values) > 0 {
		list = "(" + strings.Join(values, ", ") + ")"
	}
	rows, err := conn.Query(t.Context(), how+" EXECUTE explained"+list, pgx.QueryExecModeSimpleProtocol)
	require.NoError(t, err, text)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err, "%s %s", text, list)
	return strings.Join(lines, "\n")
}

func literal(t *testing.T, arg any) string {
	t.Helper()
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	switch v := arg.(type) {
	case nil:
		return "NULL"
	case int, int64, bool:
		return quote(fmt.Sprint(v))
	case []string:
		parts := make([]string, len(v))
		for i, s := range v {
			parts[i] = strconv.Quote(s)
		}
		return quote("{" + strings.Join(parts, ",") + "}")
	case []int, []int64:
		return quote("{" + strings.ReplaceAll(strings.Trim(fmt.Sprint(v), "[]"), " ", ",") + "}")
	}
	return quote(fmt.Sprint(arg))
}

// fill inserts enough rows that a scan of a whole table is never the best plan.
func fill(t *testing.T, s *Store) {
	t.Helper()
	const rows = 20_000
	for _, text := range []string{
		`INSERT INTO posts SELECT 'post:x' || n, 'x' || n %% 1000, 1600000000 + n, n %% 3, '', 'public', 'public', 1, 0, 0, 0, n, 0, 0, 0, 0, 0,
			CASE WHEN n %% 1000 = 0 THEN 1 ELSE 0 END, '{}', '{}', '{"caption":"x"}' FROM generate_series(1, %d) n`,
		`INSERT INTO post_circles SELECT 'post:x' || n, 'cx' || n %% 1000, 'x' || n %% 1000, 1600000000 + n FROM generate_series(1, %d) n`,
		`INSERT INTO post_mentions SELECT 'post:x' || n, 'x' || n %% 1000, 'x' || n %% 500, 1600000000 + n FROM generate_series(1, %d) n`,
		`INSERT INTO post_keys SELECT 'x' || n %% 1000, 'k' || n, 'post:x' || n, '', 2000000000000000 + n FROM generate_series(1, %d) n`,
		`INSERT INTO authors (id) SELECT 'x' || n FROM generate_series(1, %d) n`,
		`INSERT INTO follows SELECT 'x' || n %% 1000, 'x' || n, n, CASE WHEN n %% 10 = 0 THEN 1 ELSE 0 END FROM generate_series(1, %d) n`,
		`INSERT INTO changes (xid, at, type, agent, other, object, parent) SELECT n::text::xid8, n, 'follow.created', 'x' || n %% 1000, 'y' || n, '', '' FROM generate_series(1, %d) n`,
		`INSERT INTO blocks SELECT 'x' || n %% 1000, 'y' || n, n FROM generate_series(1, %d) n`,
		`INSERT INTO circles SELECT 'cx' || n, 'x' || n %% 1000, '', n, 0, 0, 1, 0 FROM generate_series(1, %d) n`,
		`INSERT INTO members SELECT 'cx' || n %% 1000, 'x' || n, n, 0 FROM generate_series(1, %d) n`,
		`INSERT INTO likes SELECT 'post:x' || n, 'x' || n %% 1000, 'x1', n FROM generate_series(1, %d) n`,
		`INSERT INTO invitations SELECT 'cx' || n %% 1000, 'x' || n, n FROM generate_series(1, %d) n`,
		`INSERT INTO refusals SELECT 'x' || n, 'x' || n %% 1000, '', 2000000000000000 + n FROM generate_series(1, %d) n`,
		`INSERT INTO mutes SELECT 'x' || n, 'circle', 'cx' || n %% 1000 FROM generate_series(1, %d) n`,
		`INSERT INTO notifications SELECT 'x' || n %% 1000, 'follow', '', 'x' || n, '', n, n FROM generate_series(1, %d) n`,
		`INSERT INTO inboxes SELECT 'x' || n, 20, 0 FROM generate_series(1, %d) n`,
		`INSERT INTO jobs (kind, key, generation, priority, state, due, run_at, attempts, error, lease, leased_generation, leased_till, finished)
			SELECT 'deliver', 'post:x' || n, 1, n %% 100, 'completed', n, n, 1, '', 1, 1, 0, n FROM generate_series(1, %d) n`,
	} {
		_, err := s.db.pool.Exec(t.Context(), fmt.Sprintf(text, rows))
		require.NoError(t, err, text)
	}
	_, err := s.db.pool.Exec(t.Context(), "ANALYZE posts, post_circles, post_mentions, post_keys, authors, follows, blocks, circles, members, likes, jobs, invitations, refusals, mutes, notifications, inboxes, changes")
	require.NoError(t, err)
}

// byLimit reports whether a statement reads the newest posts of several authors. Depending on the
// statistics PostgreSQL may prefer a plan for the value of its LIMIT.
func byLimit(text string) bool {
	return strings.HasPrefix(text, "SELECT k.key, p.author, p.created_at, p.id FROM unnest")
}

// TestValidationReadsNewRows has a plan of the validation from when the table touched was empty, as at a
// start and after quiet hours: of a table that has grown since it reads only what is new.
func TestValidationReadsNewRows(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Config{URL: testenv.Postgres(t) + "&pool_max_conns=1"}, social.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	ctx, pool := t.Context(), s.db.pool
	testenv.WaitFor(t, func() bool { return s.validator.validate(ctx, time.Now()) == nil }, "the memo is used")
	exec := func(text string, args ...any) {
		_, err := pool.Exec(ctx, text, args...)
		require.NoError(t, err)
	}
	exec(`VACUUM ANALYZE touched`)
	since := func() (snapshot string) {
		require.NoError(t, pool.QueryRow(ctx, `SELECT pg_current_snapshot()::text`).Scan(&snapshot))
		return snapshot
	}
	validate := func(on interface {
		QueryRow(context.Context, string, ...any) pgx.Row
	}, since string,
	) (touched []string) {
		var complete bool
		require.NoError(t, on.QueryRow(ctx, touchedText, since, mostTouched).Scan(new(string), new(string), &complete, &touched))
		require.True(t, complete)
		return touched
	}
	for range 20 {
		require.Empty(t, validate(pool, since()))
	}
	const many = 20_000
	exec(`INSERT INTO touched (xid, kind, key) SELECT pg_current_xact_id(), 0, 'old' || n FROM generate_series(1, $1::int) n`, many)
	before := since()
	exec(`INSERT INTO touched (xid, kind, key) VALUES (pg_current_xact_id(), 0, 'new')`)
	tx, err := pool.Begin(ctx)
	require.NoError(t, err)
	defer func() { require.NoError(t, tx.Rollback(ctx)) }()
	require.Equal(t, []string{"0new"}, validate(tx, before))
	var read int
	require.NoError(t, tx.QueryRow(ctx, `SELECT seq_tup_read + coalesce(idx_tup_fetch, 0) FROM pg_stat_xact_user_tables WHERE relid = to_regclass('touched')`).Scan(&read))
	require.Less(t, read, many/10)
}
