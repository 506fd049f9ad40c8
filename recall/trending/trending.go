// Package trending finds what readers like and comment at the moment: the items and
// public posts of the last week with the highest [feed.TrendOf]. One server computes
// the [Set] every few minutes ([Live]); all servers read it from a [Store]: in Redis
// (trending/redis) or in this process (trending/memory). [Source] proposes it to
// home. The conformance suite of stores is in trending/trendingtest.
package trending

import (
	"context"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/terms"
)

// ErrUnavailable is wrapped by errors that say the store could not be asked, or that
// no set is known yet; asking again later may help.
var ErrUnavailable = &feed.Outage{Text: "what is trending is not known", Shown: "what is trending is not known yet; try again in some seconds"}

// Entry is an item or a public post that trends.
type Entry struct {
	ID         string
	Group      string // never empty
	UpdateTime int64  // Unix seconds
	Reactions  float64
	Trend      feed.Trend // when the set was computed
	Author     string
	Lang       string
	Site       string // see [feed.Site]
	Tags       []string
	Story      []byte // see [feed.Sketch]; bytes, because it is no text
}

// Age is how old it is at a moment.
func (e *Entry) Age(at time.Time) time.Duration { return at.Sub(time.Unix(e.UpdateTime, 0)) }

// Item returns the entry as the item that a profile's mutes are checked against.
func (e *Entry) Item() feed.Item {
	return feed.Item{ID: e.ID, GroupID: e.Group, AuthorID: e.Author, Lang: e.Lang, Tags: e.Tags}
}

// Candidate returns the entry as a candidate without a score.
func (e *Entry) Candidate() feed.Candidate {
	c := feed.Candidate{
		ID: e.ID, Group: e.Group, Source: SourceName, UpdateTime: e.UpdateTime,
		Traits: feed.Traits{Author: e.Author, Site: e.Site, Story: string(e.Story)},
	}
	if len(e.Tags) > 0 {
		c.Tag = terms.Fold(e.Tags[0])
	}
	return c
}

// Set lists the items that trend at a moment. It is shared and must not be changed.
type Set struct {
	At       int64   // Unix seconds
	Revision string  // tells it from every other one with other content
	Entries  []Entry // each of another group; the highest trend first
}

// Store keeps one set for any number of servers, and the lease of the one that
// computes the next. Errors wrap [ErrUnavailable] or are the context's. It is safe
// for concurrent use.
type Store interface {
	// Read returns the set that is kept; nil where it has the known revision, or
	// there is none.
	Read(ctx context.Context, known string) (*Set, error)
	// Lease reserves the computation of the next set for a server, for some time;
	// false: it is reserved, for another server or for this one.
	Lease(ctx context.Context, server string, d time.Duration) (bool, error)
	// Keep replaces the set and ends the server's lease. Without the lease, which may
	// have run out, it does nothing and answers false.
	Keep(ctx context.Context, server string, s *Set) (bool, error)
}
