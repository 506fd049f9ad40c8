package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/freshet/freshet/internal/ownpostgres"
)

// publishStatements is the figure of the time of all statements.
const publishStatements = "publish, PostgreSQL"

// mostStatements bounds the statements that are reported one by one.
const mostStatements = 12

// statementsServices measures the time that PostgreSQL spends in each statement while an author without
// followers publishes, one post after the other, by pg_stat_statements. That extension has to be loaded at
// the start of a server, so it runs one of its own.
func (b *bench) statementsServices(ctx context.Context) (results []Result, err error) {
	own, remove, err := b.countingPostgres(ctx)
	if err != nil {
		return []Result{{Skipped: "it runs a PostgreSQL with pg_stat_statements: " + err.Error()}}, nil
	}
	defer func() { err = errors.Join(err, remove()) }()
	pool, err := pgxpool.New(ctx, own.URL)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	if _, err := pool.Exec(ctx, "CREATE EXTENSION pg_stat_statements"); err != nil {
		return []Result{{Skipped: err.Error()}}, nil
	}
	cfg := b.servicesConfig(filepath.Join(b.dir, "statements"))
	cfg.Social.Off, cfg.Postgres.URL = false, own.URL
	cfg.Redis.KeyPrefix += "statements:"
	cfg.Elasticsearch.Index += "-statements"
	s, err := b.serve(ctx, cfg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	posts := 500
	if b.o.Short {
		posts = 20
	}
	if err := b.publishAll(ctx, s, posts/10); err != nil { // plans and caches are there
		return nil, err
	}
	if _, err := pool.Exec(ctx, "SELECT pg_stat_statements_reset()"); err != nil {
		return nil, err
	}
	if err := b.publishAll(ctx, s, posts); err != nil {
		return nil, err
	}
	r := Result{What: fmt.Sprintf("%d posts of an author without followers, one after the other; each statement with its planning", posts)}
	r.Figures, err = statementFigures(ctx, pool, posts)
	return []Result{r}, err
}

// countingPostgres starts a server that counts statements.
func (b *bench) countingPostgres(ctx context.Context) (_ *ownpostgres.Server, remove func() error, err error) {
	dir, err := os.MkdirTemp("", b.name+"-postgres-") // of the user who runs the server
	if err != nil {
		return nil, nil, err
	}
	own, err := ownpostgres.New(ctx, dir)
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	own.Settings = []string{"shared_preload_libraries=pg_stat_statements", "pg_stat_statements.track_planning=on"}
	remove = func() error { own.Crash(); return os.RemoveAll(dir) }
	if err := own.Init(ctx); err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	if err := own.Start(ctx); err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	return own, remove, nil
}

// publishAll publishes posts one after the other, and waits until their jobs are done.
func (b *bench) publishAll(ctx context.Context, s *system, posts int) error {
	c, err := dial(ctx, s.addr)
	if err != nil {
		return err
	}
	defer func() { _ = c.conn.Close() }()
	for range posts {
		if _, err := c.publish("author"); err != nil {
			return err
		}
	}
	return b.idle(ctx, s)
}

// statementFigures returns the time of a post in all statements and in those that take longest.
func statementFigures(ctx context.Context, pool *pgxpool.Pool, posts int) (figures []Value, err error) {
	rows, err := pool.Query(ctx, `SELECT query, calls, total_exec_time + total_plan_time FROM pg_stat_statements
		WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND query NOT LIKE '%pg_stat_statements%' ORDER BY 3 DESC`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var calls int64
	var all float64
	for rows.Next() {
		var text string
		var n int64
		var ms float64
		if err := rows.Scan(&text, &n, &ms); err != nil {
			return nil, err
		}
		calls, all = calls+n, all+ms
		if len(figures) < mostStatements {
			name := fmt.Sprintf("%.70s (%.2f calls)", strings.Join(strings.Fields(text), " "), float64(n)/float64(posts))
			figures = append(figures, Value{name, ms / float64(posts), "ms"})
		}
	}
	total := []Value{{publishStatements, all / float64(posts), "ms"}, {"publish, statements", float64(calls) / float64(posts), ""}}
	return append(total, figures...), rows.Err()
}
