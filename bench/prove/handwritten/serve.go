// Package handwritten is the feed that teams write themselves, as well as it can be written in a few
// hundred lines, for bench/prove to judge: posts, follows and blocks in PostgreSQL; a Redis LIST of
// each reader, into which a new post is pushed; a ZSET of the newest public posts; and one SET of seen
// ids a reader.
//
// It does what good ones do: entries are claimed by SADD, so that two devices get none twice; rights
// are checked in PostgreSQL for each page; a page is kept for a minute under its request id; and
// publishing is finished, fan-out included, before it is answered, and can be repeated.
package handwritten

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/bench/prove"
)

// Kind is the kind of the servers' processes.
const Kind = "handwritten"

// spec configures a server's process.
type spec struct {
	Redis, Postgres string
	Sentinels       []string // know the master, in place of Redis
}

// client returns a client of Redis.
func (s spec) client() *redis.Client {
	if len(s.Sentinels) == 0 {
		return redis.NewClient(&redis.Options{Addr: s.Redis})
	}
	return redis.NewFailoverClient(&redis.FailoverOptions{MasterName: prove.Master, SentinelAddrs: s.Sentinels})
}

// app is a server.
type app struct {
	redis *redis.Client
	sql   *pgxpool.Pool
	now   func() time.Time
}

// tables are created by the first server.
const tables = `
CREATE TABLE IF NOT EXISTS posts (
	id text PRIMARY KEY, author text NOT NULL, body text NOT NULL, followers_only boolean NOT NULL, created timestamptz NOT NULL);
CREATE INDEX IF NOT EXISTS posts_author ON posts (author, created DESC);
CREATE TABLE IF NOT EXISTS follows (agent text, author text, PRIMARY KEY (agent, author));
CREATE INDEX IF NOT EXISTS follows_author ON follows (author);
CREATE TABLE IF NOT EXISTS blocks (agent text, other text, PRIMARY KEY (agent, other));`

// Serve runs a server.
func Serve(ctx context.Context, c prove.Child) error {
	var s spec
	if err := json.Unmarshal(c.Spec, &s); err != nil {
		return err
	}
	pool, err := pgxpool.New(ctx, s.Postgres)
	if err != nil {
		return err
	}
	defer pool.Close()
	if _, err := pool.Exec(ctx, tables); err != nil {
		return err
	}
	a := &app{redis: s.client(), sql: pool, now: c.Now}
	defer func() { _ = a.redis.Close() }()
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", c.Addr)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: a.routes(), ReadHeaderTimeout: 5 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// routes returns the handler of all calls. Their parameters are query parameters.
func (a *app) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ready", func(http.ResponseWriter, *http.Request) {})
	for path, do := range map[string]func(context.Context, func(string) string) (any, error){
		"POST /next": a.next, "POST /publish": a.publish, "POST /delete": a.delete,
		"POST /follow": a.follow, "POST /unfollow": a.unfollow, "POST /block": a.block, "POST /unblock": a.unblock,
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
			defer cancel()
			answer, err := do(ctx, r.URL.Query().Get)
			if err != nil {
				fmt.Fprintln(os.Stderr, r.URL.Path, err)
				http.Error(w, err.Error(), http.StatusServiceUnavailable)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(answer)
		})
	}
	return mux
}
