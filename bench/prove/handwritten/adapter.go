package handwritten

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"time"

	"github.com/freshet/freshet/bench/prove"
)

// Adapter is two servers of it that share Redis and PostgreSQL.
func Adapter() prove.Adapter {
	return prove.Adapter{
		Name:  Kind,
		About: "a feed as teams write it: two servers, a Redis LIST of 500 a reader, a ZSET of 500 public posts, PostgreSQL, one SET of seen ids a reader for 7 days",
		Disclaims: "anything about a Redis that is down, and about pages whose server dies, or whose client hangs up, between the claim of their entries and " +
			"their answer; posts beyond the newest 500 of a list",
		Needs: func(p prove.Place) string {
			if p.Redis == "" && p.Sentinels == nil || p.Postgres == "" {
				return "it needs Redis and PostgreSQL"
			}
			return ""
		},
		Start: start, Sentinels: true,
	}
}

// servers is how many there are.
const servers = 2

// system is the running servers.
type system struct {
	processes []*prove.Process
	http      *http.Client
}

func start(ctx context.Context, p prove.Place) (prove.System, error) {
	s := &system{http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}}
	for n := range servers {
		process, err := prove.StartProcess(ctx, p.Command, Kind, filepath.Join(p.Dir, fmt.Sprint("log", n)), "/ready", spec{Redis: p.Redis, Sentinels: p.Sentinels, Postgres: p.Postgres})
		if err != nil {
			return nil, errors.Join(err, s.Close(ctx))
		}
		s.processes = append(s.processes, process)
	}
	return s, nil
}

func (s *system) Servers() int { return len(s.processes) }

// Next implements [prove.System].
func (s *system) Next(ctx context.Context, server int, c prove.Call) (prove.Page, error) {
	var p prove.Page
	err := s.call(ctx, server, "/next", url.Values{"reader": {c.Reader}, "request_id": {c.RequestID}, "limit": {strconv.Itoa(c.Limit)}}, &p.Entries)
	return p, err
}

// Publish implements [prove.System].
func (s *system) Publish(ctx context.Context, server int, p prove.Post) error {
	return s.call(ctx, server, "/publish", url.Values{"id": {p.Key}, "author": {p.Author}, "text": {p.Text}, "followers": {strconv.FormatBool(p.Followers)}}, nil)
}

// Follow implements [prove.System].
func (s *system) Follow(ctx context.Context, server int, reader, author string, on bool) error {
	path := map[bool]string{true: "/follow", false: "/unfollow"}[on]
	return s.call(ctx, server, path, url.Values{"agent": {reader}, "other": {author}}, nil)
}

// Block implements [prove.System].
func (s *system) Block(ctx context.Context, server int, agent, other string, on bool) error {
	path := map[bool]string{true: "/block", false: "/unblock"}[on]
	return s.call(ctx, server, path, url.Values{"agent": {agent}, "other": {other}}, nil)
}

// Delete implements [prove.System].
func (s *system) Delete(ctx context.Context, server int, author, key string) error {
	return s.call(ctx, server, "/delete", url.Values{"id": {key}, "author": {author}}, nil)
}

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

// Close implements [prove.System].
func (s *system) Close(context.Context) error {
	for _, p := range s.processes {
		p.Kill()
	}
	s.http.CloseIdleConnections()
	return nil
}

// call makes one attempt of a call and decodes the answer.
func (s *system) call(ctx context.Context, server int, path string, parameters url.Values, answer any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.processes[server].URL+path+"?"+parameters.Encode(), nil)
	if err != nil {
		return err
	}
	res, err := s.http.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %.200s", res.Status, body)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(body, answer)
}
