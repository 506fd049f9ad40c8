package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/bench/prove"
	"github.com/freshet/freshet/bench/prove/stores"
)

// services has what prove may use to give each adapter services of its own.
type services struct {
	redis, module     string // of a Redis with the module; the module's file
	elastic, postgres string // URLs
	gates             bool   // whether connections to PostgreSQL and Elasticsearch can be cut
}

// placing is an adapter's place while it is made.
type placing struct {
	prove.Place
	prove.Services
	undo []func(context.Context) error
}

func (p *placing) remove(ctx context.Context) error {
	var errs []error
	for i := range p.undo {
		errs = append(errs, p.undo[len(p.undo)-1-i](ctx))
	}
	return errors.Join(errs...)
}

// provide gives an adapter a Redis and a schema of its own, as far as they can be had.
func (s services) provide(ctx context.Context, a prove.Adapter, dir string) (prove.Place, prove.Services, func(context.Context) error, error) {
	p := &placing{}
	self, err := os.Executable()
	if err != nil {
		return p.Place, p.Services, nil, err
	}
	p.Place = prove.Place{Name: "freshetprove" + strings.ToLower(rand.Text()), Dir: dir, Command: []string{self, serverCommand}}
	if a.Needs == nil {
		p.Look = func(context.Context) (prove.Stored, error) {
			files, err := stores.Files(dir)
			return prove.Stored{Tables: files}, err
		}
		return p.Place, p.Services, p.remove, nil
	}
	err = errors.Join(s.addElastic(ctx, p), s.addPostgres(ctx, p))
	if err == nil {
		err = s.addRedis(ctx, p, a)
	}
	if err != nil {
		return p.Place, p.Services, nil, errors.Join(err, p.remove(ctx))
	}
	return p.Place, p.Services, p.remove, nil
}

// addElastic adds Elasticsearch, behind a gate unless it is reached by TLS.
func (s services) addElastic(ctx context.Context, p *placing) error {
	p.Elastic = s.elastic
	u, err := url.Parse(s.elastic)
	if err != nil {
		return fmt.Errorf("elasticsearch.addresses: %w", err)
	}
	if u.Scheme != "http" {
		return nil
	}
	err = s.gate(ctx, p, "Elasticsearch", u, "9200")
	p.Elastic = u.String()
	return err
}

// addPostgres adds the given PostgreSQL, or one of its own, which can be killed.
func (s services) addPostgres(ctx context.Context, p *placing) error {
	if s.postgres != "" {
		return s.addSchema(ctx, p, s.postgres)
	}
	own, err := stores.StartPostgres(ctx)
	if errors.Is(err, stores.ErrNoPostgres) {
		return nil // adapters that need one are skipped
	}
	if err != nil {
		return err
	}
	p.undo = append(p.undo, func(context.Context) error { return own.Close() })
	p.Other = append(p.Other, own.Fault())
	return s.addSchema(ctx, p, own.URL)
}

// addSchema adds a schema in a PostgreSQL, behind a gate unless the certificate of its address is verified.
func (s services) addSchema(ctx context.Context, p *placing, database string) error {
	schema, err := stores.NewSchema(ctx, database, p.Name)
	if err != nil {
		return err
	}
	p.undo = append(p.undo, schema.Drop)
	p.Look = func(ctx context.Context) (prove.Stored, error) {
		tables, err := schema.Tables(ctx)
		return prove.Stored{Tables: tables}, err
	}
	u, err := url.Parse(schema.URL)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(u.Query().Get("sslmode"), "verify") && u.Host != "" {
		err = s.gate(ctx, p, "PostgreSQL", u, "5432")
	}
	p.Postgres = u.String()
	return err
}

// gate puts a gate in front of the server of a URL, if there are to be gates.
func (s services) gate(ctx context.Context, p *placing, name string, u *url.URL, port string) error {
	if !s.gates {
		return nil
	}
	g, err := stores.NewGate(ctx, net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), port)))
	if err != nil {
		return err
	}
	p.undo = append(p.undo, func(context.Context) error { return g.Close() })
	u.Host = g.Addr
	p.Other = append(p.Other, g.Faults(name)...)
	return nil
}

// addRedis adds a Redis, with replicas and Sentinels for who can use them.
func (s services) addRedis(ctx context.Context, p *placing, a prove.Adapter) (err error) {
	module := s.module
	if s.redis != "" && module == "" {
		if module, err = stores.BloomModule(ctx, s.redis); err != nil {
			return fmt.Errorf("redis.url: %w", err)
		}
	}
	dir := filepath.Join(p.Dir, "redis")
	if a.Sentinels {
		own, err := stores.StartReplicated(ctx, dir, module, a.RedisSettings...)
		if err != nil {
			return without(err)
		}
		p.Sentinels = own.Sentinels
		p.watch(own.Client(), own)
		return nil
	}
	own, err := stores.StartRedis(ctx, dir, module, a.RedisSettings...)
	if err != nil {
		return without(err)
	}
	p.Place.Redis = own.Addr
	p.watch(redis.NewClient(&redis.Options{Addr: own.Addr}), own)
	return nil
}

// without returns nil if there is no redis-server: adapters that need one are skipped.
func without(err error) error {
	if errors.Is(err, stores.ErrNoRedis) {
		return nil
	}
	return err
}

// redisServer is one Redis, or several.
type redisServer interface {
	Faults() []prove.Fault
	Pause(ctx context.Context) error
	Kill()
}

// watch makes faults of a Redis, and counts its keys.
func (p *placing) watch(c redis.UniversalClient, of redisServer) {
	p.undo = append(p.undo, func(context.Context) error { of.Kill(); return c.Close() })
	p.Services.Redis = of.Faults()
	p.Other = append(p.Other, prove.Fault{Name: "SIGSTOP of Redis", Do: of.Pause})
	tables := p.Look
	p.Look = func(ctx context.Context) (stored prove.Stored, err error) {
		if tables != nil {
			stored, err = tables(ctx)
		}
		if err != nil {
			return stored, err
		}
		n, err := stores.KeysWithoutTTL(ctx, c)
		stored.KeysWithoutTTL = &n
		return stored, err
	}
}
