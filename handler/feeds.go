package handler

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/ranking"
)

// storedFeedBody is the body of PUT /v1/feeds/{name}.
type storedFeedBody struct {
	All     feed.Conditions `json:"all"`
	Any     feed.Conditions `json:"any"`
	None    feed.Conditions `json:"none"`
	Ranking proposal        `json:"ranking"`
	Readers []string        `json:"readers"`
	By      string          `json:"by"`
	Why     string          `json:"why"`
}

// feedName returns the name of a stored feed in the path.
func feedName(c *call) (string, error) {
	name := c.gin.Param("name")
	return name, feed.CheckFeedName(name)
}

// feedAnswer is an answer with stored feeds and the version of the ranking that holds them.
type feedAnswer struct {
	version int
	data    any
}

func (a feedAnswer) send(c *call) error {
	c.gin.Writer.Header()["Etag"] = []string{rankingTag(a.version)}
	return c.succeed(a.data)
}

// getFeeds answers GET /v1/feeds with all stored feeds.
func (s *server) getFeeds(ctx context.Context, _ *call, _ string) (any, error) {
	v, err := s.deps.Rankings.Current(ctx)
	all := v.Live.Feeds
	if all == nil {
		all = []feed.StoredFeed{}
	}
	return feedAnswer{v.Version, api.StoredFeeds{Version: v.Version, Feeds: all}}, err
}

// getFeed answers GET /v1/feeds/{name}.
func (s *server) getFeed(ctx context.Context, _ *call, name string) (any, error) {
	v, err := s.deps.Rankings.Current(ctx)
	if err != nil {
		return nil, err
	}
	return storedFeed(v, name)
}

// storedFeed returns the answer with one feed of a version.
func storedFeed(v ranking.Version, name string) (any, error) {
	f, ok := v.Live.Feed(feed.Name(name))
	if !ok {
		return nil, feed.Errorf(feed.ErrNotFound, "there is no stored feed %s", name)
	}
	return feedAnswer{v.Version, f}, nil
}

// putFeed answers PUT /v1/feeds/{name} with the feed as stored. It replaces a feed of that name.
func (s *server) putFeed(ctx context.Context, c *call, name string, in *storedFeedBody) (any, error) {
	if in.Readers != nil && len(in.Readers) == 0 {
		return nil, fmt.Errorf("%w: readers is an empty list, and a feed without readers is for everyone; leave it out if that is meant, or delete the feed", feed.ErrInvalid)
	}
	f := feed.StoredFeed{Name: feed.Name(name), Filter: feed.Filter{All: in.All, Any: in.Any, None: in.None}, Readers: in.Readers}
	if in.Ranking.names() {
		f.Ranking = json.RawMessage(in.Ranking)
	}
	why := in.Why
	if why == "" {
		why = "stored the feed " + name
	}
	v, err := s.changeFeeds(ctx, c, in.By, why, func(live *feed.Live) ([]feed.StoredFeed, error) {
		if err := f.Validate(live.Ranking); err != nil {
			return nil, err
		}
		return live.WithFeed(f), nil
	})
	if err != nil {
		return nil, err
	}
	return storedFeed(v, name)
}

// deleteFeed answers DELETE /v1/feeds/{name}.
func (s *server) deleteFeed(ctx context.Context, c *call, name string) (any, error) {
	_, err := s.changeFeeds(ctx, c, rankingBy, "deleted the feed "+name, func(live *feed.Live) ([]feed.StoredFeed, error) {
		return live.WithoutFeed(feed.Name(name))
	})
	return empty{}, err
}

// changeFeeds stores a version of the ranking with other feeds.
func (s *server) changeFeeds(ctx context.Context, c *call, by, why string, feeds func(*feed.Live) ([]feed.StoredFeed, error)) (ranking.Version, error) {
	onlyIf, err := ifMatch(c.gin.Request)
	if err != nil {
		return ranking.Version{}, err
	}
	v, err := s.deps.Rankings.Change(ctx, ranking.Change{Feeds: feeds, By: by, Why: why, If: onlyIf})
	if err != nil {
		return v, fmt.Errorf("feeds: %w", err)
	}
	return v, nil
}
