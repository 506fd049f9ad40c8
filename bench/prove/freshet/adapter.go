package freshet

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/freshet/freshet/bench/prove"
)

// Embedded is one server that stores everything itself.
func Embedded() prove.Adapter {
	return prove.Adapter{
		Name: "embedded", About: "Freshet, one server with everything in its own files, default settings; its home feed",
		Start: func(ctx context.Context, p prove.Place) (prove.System, error) { return start(ctx, p, 1, spec{}) }, OwesPublic: true,
		Disclaims: disclaims,
	}
}

// disclaims names the exceptions of docs/promises.md.
const disclaims = "that filters which are full hide nothing by mistake (at most dedup.false_positive_rate, 1 %)"

// withoutPostgres is a further exception with services, docs/reliability.md.
const withoutPostgres = "; that blocks apply to public posts on pages for which PostgreSQL did not answer in time, which say so"

// withoutWait is the same for a failover.
const withoutWait = "; that a failover of Redis loses nothing of what its replicas had not received; that pages repeat nothing while Redis is down, in which case they say so"

// Services is two servers that share Redis, Elasticsearch and PostgreSQL. While Redis is down, they show
// pages that may repeat, and say so.
func Services() prove.Adapter {
	a := services(spec{})
	a.Name, a.About = "services", "Freshet, two servers with Redis, Elasticsearch and PostgreSQL, default settings; its home feed"
	a.Disclaims += withoutWait
	return a
}

// Strict is [Services] with the settings for who may never show anything twice, docs/production.md.
func Strict() prove.Adapter {
	a := services(spec{Strict: true})
	a.Name, a.About = "strict", "the same with dedup.on_failure: closed, which answers 503 while Redis is down, redis.wait_replicas: 1, and on Redis min-replicas-to-write 1"
	a.RedisSettings = []string{"min-replicas-to-write 1", "min-replicas-max-lag 10"}
	return a
}

func services(of spec) prove.Adapter {
	return prove.Adapter{
		Needs: func(p prove.Place) string {
			if p.Redis == "" && p.Sentinels == nil || p.Postgres == "" || p.Elastic == "" {
				return "it needs Redis, PostgreSQL and Elasticsearch"
			}
			return ""
		},
		Start: func(ctx context.Context, p prove.Place) (prove.System, error) {
			of.Name, of.Redis, of.Sentinels, of.Elastic, of.Postgres = p.Name, p.Redis, p.Sentinels, p.Elastic, p.Postgres
			return start(ctx, p, 2, of)
		},
		OwesPublic: true, Sentinels: true, Disclaims: disclaims + withoutPostgres,
	}
}

// start starts the servers, the first one first: it creates tables and indices.
func start(ctx context.Context, p prove.Place, servers int, of spec) (_ prove.System, err error) {
	s := &system{place: p, shared: servers > 1, ids: map[string]string{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close(context.WithoutCancel(ctx)))
		}
	}()
	for n := range servers {
		dir := filepath.Join(p.Dir, fmt.Sprint("server", n))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		of.Dir = dir
		process, err := prove.StartProcess(ctx, p.Command, Kind, filepath.Join(p.Dir, fmt.Sprint("log", n)), "/readyz", of)
		if err != nil {
			return nil, err
		}
		s.processes = append(s.processes, process)
		c, err := newClient(process.URL)
		if err != nil {
			return nil, err
		}
		s.clients = append(s.clients, c)
	}
	return s, nil
}

func (s *system) Servers() int { return len(s.processes) }

// Restart implements [prove.System].
func (s *system) Restart(ctx context.Context, server int, ahead time.Duration) error {
	return s.processes[server].Restart(ctx, ahead)
}

// Processes implements [prove.System].
func (s *system) Processes() (ids []int) {
	for _, p := range s.processes {
		id := p.ID()
		if id != 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

// Close implements [prove.System]. The schema and the Redis are the caller's; the indices are removed
// here.
func (s *system) Close(ctx context.Context) error {
	for _, p := range s.processes {
		p.Kill()
	}
	for _, c := range s.clients {
		c.Close()
	}
	if !s.shared {
		return nil
	}
	return s.removeIndices(ctx)
}

// Goroutines implements [prove.Counter].
func (s *system) Goroutines(ctx context.Context) (all int) {
	for _, p := range s.processes {
		all += goroutines(ctx, p.URL)
	}
	return all
}

// goroutines reads a server's metric, 0 if it does not answer.
func goroutines(ctx context.Context, url string) int {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/metrics", nil)
	if err != nil {
		return 0
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	defer func() { _ = res.Body.Close() }()
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		value, ok := strings.CutPrefix(lines.Text(), "go_goroutines ")
		if ok {
			n, _ := strconv.Atoi(value)
			return n
		}
	}
	return 0
}

// removeIndices deletes the indices with the name of the place.
func (s *system) removeIndices(ctx context.Context) error {
	names, err := s.elastic(ctx, http.MethodGet, "/_cat/indices/"+s.place.Name+"*?h=index&format=json&expand_wildcards=all")
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, err := s.elastic(ctx, http.MethodDelete, "/"+name+"?ignore_unavailable=true"); err != nil {
			return err
		}
	}
	return nil
}
