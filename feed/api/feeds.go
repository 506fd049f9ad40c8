package api

import "github.com/freshet/freshet/feed"

// StoredFeeds is the data of GET /v1/feeds.
type StoredFeeds struct {
	Version int               `json:"version"` // of the ranking that holds them
	Feeds   []feed.StoredFeed `json:"feeds"`   // in the order of their names
}
