package engine

import (
	"github.com/freshet/freshet/engine/timeline"
)

// Names of version 0.1 for what is in [timeline], for code written for it. They go with version 0.3.
//
//nolint:revive // described where they are declared
type (
	// Deprecated: use [timeline.Timelines].
	Timelines = timeline.Timelines
	// Deprecated: use [timeline.Stores].
	TimelineStores = timeline.Stores
	// Deprecated: use [timeline.Posts].
	TimelinePosts = timeline.Posts
	// Deprecated: use [timeline.Request].
	TimelineRequest = timeline.Request
	// Deprecated: use [timeline.Page].
	TimelinePage = timeline.Page
	// Deprecated: use [timeline.AuthorRequest].
	AuthorRequest = timeline.AuthorRequest
	// Deprecated: use [timeline.CircleRequest].
	CircleRequest = timeline.CircleRequest
	// Deprecated: use [timeline.RepliesRequest].
	RepliesRequest = timeline.RepliesRequest
	// Deprecated: use [timeline.ListBuilder].
	ListBuilder = timeline.ListBuilder
	// Deprecated: use [timeline.Showing].
	Showing = timeline.Showing
	// Deprecated: use [timeline.Watcher].
	Watcher = timeline.Watcher
	// Deprecated: use [timeline.Watch].
	Watch = timeline.Watch
	// Deprecated: use [timeline.WatchStores].
	WatchStores = timeline.WatchStores
	// Deprecated: use [timeline.WatchPosts].
	WatchPosts = timeline.WatchPosts
	// Deprecated: use [timeline.News].
	News = timeline.News
)

// Bounds of version 0.1; see [timeline].
const (
	// Deprecated: use [timeline.MaxLimit].
	MaxTimelineLimit = timeline.MaxLimit
	// Deprecated: use [timeline.PollEvery].
	PollEvery = timeline.PollEvery
	// Deprecated: use [timeline.MostNew].
	MostNew = timeline.MostNew
	// Deprecated: use [timeline.AgentWatches].
	AgentWatches = timeline.AgentWatches
)

// NewTimelines returns a reader of timelines. Of the configuration it uses Log and Begin.
//
// Deprecated: use [timeline.New].
func NewTimelines(stores TimelineStores, cfg Config) *Timelines {
	return timeline.New(stores, cfg.timelines())
}

// NewWatcher returns a watcher of at most most watches at once, 0 for no bound.
//
// Deprecated: use [timeline.NewWatcher].
func NewWatcher(stores WatchStores, most int, cfg Config) *Watcher {
	return timeline.NewWatcher(stores, most, cfg.timelines())
}

func (c Config) timelines() timeline.Config {
	return timeline.Config{Clock: c.Clock, Log: c.Log, Begin: c.Begin}
}
