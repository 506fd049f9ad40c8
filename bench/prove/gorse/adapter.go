// Package gorse is the adapter of the recommender gorse for bench/prove: its program in one process,
// over its HTTP API, with Redis and PostgreSQL. The program is the caller's.
package gorse

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/freshet/freshet/bench/prove"
	"github.com/freshet/freshet/internal/freeport"
)

// Name is the name of the adapter.
const Name = "gorse"

// Adapter runs the program gorse-in-one of a version at a path. Without a path, it does not run.
func Adapter(path, version string) prove.Adapter {
	return prove.Adapter{
		Name:  Name,
		About: "gorse " + version + " in one process with Redis and PostgreSQL; pages by /api/recommend, which writes back what it returns as read",
		Disclaims: "that two calls at the same time return different items; that a call whose answer is lost can be repeated; " +
			"that every item is shown; a clock that is ahead was not tried",
		Needs: func(p prove.Place) string {
			switch {
			case path == "":
				return "--gorse names no program"
			case p.Redis == "" || p.Postgres == "":
				return "it needs Redis and PostgreSQL"
			}
			return ""
		},
		Start: func(ctx context.Context, p prove.Place) (prove.System, error) { return start(ctx, path, p) },
		Lacks: []prove.Notion{prove.Follows, prove.Blocks, prove.Audiences},
	}
}

// Version returns which version the program at a path says it is, or "".
func Version(ctx context.Context, path string) string {
	if path == "" {
		return ""
	}
	said, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(said)) {
		if _, number, ok := strings.Cut(line, "Version:"); ok {
			return strings.TrimSpace(number)
		}
	}
	return strings.Join(strings.Fields(string(said)), " ")
}

// settings is the program's configuration: its defaults, but for addresses, the types of feedback, and
// a cache of as many items as the lists of other adapters have.
const settings = `[database]
cache_store = "redis://%s/0"
data_store = "%s"

[master]
host = "127.0.0.1"
port = %d
http_host = "127.0.0.1"
http_port = %d

[recommend]
cache_size = 500

[recommend.data_source]
positive_feedback_types = ["like"]
read_feedback_types = ["read"]

[recommend.online]
fallback_recommend = ["latest"]
`

// system is a running gorse.
type system struct {
	process *prove.Process
	http    *http.Client
}

func start(ctx context.Context, path string, p prove.Place) (prove.System, error) {
	addr, err := freeport.Addr(ctx)
	if err != nil {
		return nil, err
	}
	inner, err := freeport.Addr(ctx)
	if err != nil {
		return nil, err
	}
	database, err := url.Parse(p.Postgres)
	if err != nil {
		return nil, err
	}
	query := database.Query()
	query.Del("pool_max_conns") // of pgx; other drivers refuse it
	database.RawQuery = query.Encode()
	file := filepath.Join(p.Dir, "gorse.toml")
	text := fmt.Sprintf(settings, p.Redis, database, port(inner), port(addr))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	command := []string{path, "--config", file, "--cache-path", filepath.Join(p.Dir, "cache.data")}
	process, err := prove.StartProgram(ctx, command, addr, filepath.Join(p.Dir, "log"), "/api/health/ready")
	if err != nil {
		return nil, err
	}
	return &system{process: process, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}}, nil
}

func port(addr string) int {
	_, text, _ := net.SplitHostPort(addr)
	n, _ := strconv.Atoi(text)
	return n
}

func (s *system) Servers() int { return 1 }

// Next implements [prove.System]. The service has no sessions: the next page is a page without what was
// written back as read.
func (s *system) Next(ctx context.Context, _ int, c prove.Call) (prove.Page, error) {
	var p prove.Page
	query := url.Values{"n": {strconv.Itoa(c.Limit)}, "write-back-type": {"read"}}
	err := s.call(ctx, http.MethodGet, "/api/recommend/"+c.Reader+"?"+query.Encode(), nil, &p.Entries)
	return p, err
}

// Publish implements [prove.System]. An item with an id that exists is changed, so that a repetition
// publishes nothing more.
func (s *system) Publish(ctx context.Context, _ int, p prove.Post) error {
	item := map[string]any{"ItemId": p.Key, "Timestamp": time.Now().UTC().Format(time.RFC3339), "Comment": p.Text, "Labels": []string{p.Author}}
	return s.call(ctx, http.MethodPost, "/api/item", item, nil)
}

// Delete implements [prove.System].
func (s *system) Delete(ctx context.Context, _ int, _, key string) error {
	return s.call(ctx, http.MethodDelete, "/api/item/"+key, nil, nil)
}

// Follow implements [prove.System]. It is never called: the adapter lacks follows.
func (s *system) Follow(context.Context, int, string, string, bool) error { return prove.ErrRefused }

// Block implements [prove.System]. It is never called: the adapter lacks blocks.
func (s *system) Block(context.Context, int, string, string, bool) error { return prove.ErrRefused }

// Restart implements [prove.System].
func (s *system) Restart(ctx context.Context, _ int, ahead time.Duration) error {
	return s.process.Restart(ctx, ahead)
}

// Processes implements [prove.System].
func (s *system) Processes() []int {
	id := s.process.ID()
	if id == 0 {
		return nil
	}
	return []int{id}
}

// Close implements [prove.System].
func (s *system) Close(context.Context) error {
	s.process.Kill()
	s.http.CloseIdleConnections()
	return nil
}

// call makes one attempt of a call and decodes the answer.
func (s *system) call(ctx context.Context, method, path string, sent, answer any) error {
	var body io.Reader
	if sent != nil {
		text, err := json.Marshal(sent)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, s.process.URL+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := s.http.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	switch {
	case err != nil:
		return err
	case res.StatusCode != http.StatusOK:
		return errors.New(res.Status + ": " + string(text[:min(len(text), 200)]))
	case answer == nil:
		return nil
	}
	return json.Unmarshal(text, answer)
}
