package freshet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/freshet/freshet/bench/prove"
	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/feed"
)

// system is a running Freshet.
type system struct {
	place     prove.Place
	shared    bool // its data is in services
	processes []*prove.Process
	clients   []*client.Client

	mu  sync.Mutex
	ids map[string]string // of posts, by key
}

// newClient returns a client that makes each call once: the caller repeats calls.
func newClient(url string) (*client.Client, error) {
	transport := &http.Transport{MaxIdleConnsPerHost: 256}
	return client.New(url, client.WithHTTPClient(&http.Client{Transport: transport}), client.WithTimeout(30*time.Second))
}

// Next implements [prove.System] by home, which has followed posts and what for-you would show.
func (s *system) Next(ctx context.Context, server int, c prove.Call) (prove.Page, error) {
	ask := client.Ask{Action: client.ActionRefresh, Limit: c.Limit, RequestID: c.RequestID, Feed: feed.HomeFeed}
	if c.More {
		ask.Action = client.ActionLoadMore
	}
	body, err := json.Marshal(ask)
	if err != nil {
		return prove.Page{}, err
	}
	res, err := s.clients[server].As(c.Reader).Do(ctx, client.Request{Method: http.MethodPost, Path: "/v1/feed", Body: body})
	if err != nil {
		return prove.Page{}, final(err)
	}
	var answer struct {
		Items []struct {
			ID      string `json:"id"`
			Caption string `json:"caption"`
		} `json:"items"`
		Degraded []string `json:"degraded"`
	}
	if err := json.Unmarshal(res.Data, &answer); err != nil {
		return prove.Page{}, err
	}
	says := func(part string) bool { return slices.Contains(answer.Degraded, part) }
	p := prove.Page{MayRepeat: says("dedup") || says("session"), MayLeak: says("social"), MayLack: len(answer.Degraded) > 0} // docs/http.md
	if p.MayLack {
		p.Says = "degraded: " + strings.Join(answer.Degraded, ", ")
	}
	for _, it := range answer.Items {
		word, _, _ := strings.Cut(it.Caption, " ")
		p.Entries = append(p.Entries, strings.TrimSuffix(word, "a")) // the first word of a text is its key and an a
	}
	return p, nil
}

// Publish implements [prove.System].
func (s *system) Publish(ctx context.Context, server int, p prove.Post) error {
	sent := client.NewPost{Caption: p.Text, Key: p.Key}
	if p.Followers {
		sent.Audience = &client.Audience{Followers: true}
	}
	stored, err := s.clients[server].As(p.Author).CreatePost(ctx, sent)
	if err != nil {
		return final(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids[p.Key] = stored.ID
	return nil
}

// Follow implements [prove.System].
func (s *system) Follow(ctx context.Context, server int, reader, author string, on bool) error {
	c := s.clients[server].As(reader)
	if !on {
		return final(unchanged(c.Unfollow(ctx, reader, author)))
	}
	_, err := c.Follow(ctx, reader, author)
	return final(err)
}

// Block implements [prove.System].
func (s *system) Block(ctx context.Context, server int, agent, other string, on bool) error {
	c := s.clients[server].As(agent)
	if !on {
		return final(unchanged(c.Unblock(ctx, agent, other)))
	}
	_, err := c.Block(ctx, agent, other)
	return final(err)
}

// Delete implements [prove.System].
func (s *system) Delete(ctx context.Context, server int, author, key string) error {
	s.mu.Lock()
	id := s.ids[key]
	s.mu.Unlock()
	err := s.clients[server].As(author).DeletePost(ctx, id)
	if errors.Is(err, client.ErrNotFound) {
		return nil
	}
	return final(err)
}

// final wraps the errors of calls that the server will always refuse, and those that it asks to repeat later.
func final(err error) error {
	var refused *client.Error
	if errors.As(err, &refused) && refused.RetryAfter > 0 {
		return &prove.Later{Err: err, After: refused.RetryAfter}
	}
	for _, kind := range []error{client.ErrBadRequest, client.ErrForbidden, client.ErrConflict, client.ErrUnprocessable, client.ErrTooLarge} {
		if errors.Is(err, kind) {
			return fmt.Errorf("%w: %w", prove.ErrRefused, err)
		}
	}
	return err
}

// elastic makes a call to Elasticsearch and returns the names of the indices in the answer.
func (s *system) elastic(ctx context.Context, method, path string) (names []string, err error) {
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(s.place.Elastic, "/")+path, nil)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode >= 300 {
		return nil, fmt.Errorf("Elasticsearch: %s %s: %s", method, path, res.Status)
	}
	var found []struct{ Index string }
	if method == http.MethodGet {
		err = json.NewDecoder(res.Body).Decode(&found)
	}
	for _, f := range found {
		names = append(names, f.Index)
	}
	return names, err
}

// unchanged drops whether a call has changed anything: an earlier attempt may have.
func unchanged(_ bool, err error) error { return err }
