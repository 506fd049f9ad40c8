// Package trending finds the items that readers currently like and comment most: the items and
// public posts of the last week with the highest [feed.TrendOf]. One server computes the [Set]
// every few minutes ([Live]); all servers read it from a [Store] in Redis (trending/redis).
// [Source] proposes it to home. The conformance suite of stores is in trending/trendingtest.
package trending

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/terms"
)

// ErrUnavailable is wrapped by errors that mean that the store could not be reached or that no
// set is known yet; a later retry may succeed.
var ErrUnavailable = &feed.Outage{Text: "trending items are not available", Shown: "trending items are not available yet; try again in a few seconds"}

// Entry is a trending item or public post.
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
	Story      []byte // see [feed.Sketch]; bytes, because it is binary
}

// Age returns the entry's age at a moment.
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

// Set lists the trending items of a moment. It is shared and must not be changed.
type Set struct {
	At       int64   // Unix seconds
	Revision string  // differs from that of any set with other content
	Entries  []Entry // one per group, the highest trend first
}

// Store stores one set for any number of servers, and the lease of the server that computes the
// next one. Errors wrap [ErrUnavailable] or are the context's. It is safe for concurrent use.
type Store interface {
	// Read returns the stored set; nil if it has the known revision or there is none.
	Read(ctx context.Context, known string) (*Set, error)
	// Lease reserves the computation of the next set for a server, for the duration d. It
	// returns false if any server, this one included, already holds the lease.
	Lease(ctx context.Context, server string, d time.Duration) (bool, error)
	// Keep replaces the set and releases the server's lease. If the server no longer holds the
	// lease, Keep does nothing and returns false.
	Keep(ctx context.Context, server string, s *Set) (bool, error)
}

// HeadBytes is the number of leading bytes of an encoded set that contain its revision, see
// [RevisionOf].
const HeadBytes = 64

// format is the first word of an encoded set. A server that reads another format keeps using
// the set that it has.
const format = "1"

// NewSet returns the set of these entries as of a moment, in Unix seconds. The entries must not
// be changed afterwards.
func NewSet(at int64, entries []Entry) *Set {
	s := &Set{At: at, Entries: entries}
	sum := sha256.Sum256(s.body())
	s.Revision = strconv.FormatInt(at, 10) + "-" + hex.EncodeToString(sum[:8])
	return s
}

func (s *Set) body() []byte {
	body, err := json.Marshal(s.Entries)
	if err != nil { // only a number that is not finite cannot be encoded
		return []byte("[]")
	}
	return body
}

// Encode returns the stored form of the set: a line with the format, the revision and the time,
// then the entries as JSON.
func (s *Set) Encode() []byte {
	head := format + " " + s.Revision + " " + strconv.FormatInt(s.At, 10) + "\n"
	return append([]byte(head), s.body()...)
}

// RevisionOf returns the revision of an encoded set; its first [HeadBytes] are enough. It
// returns "" for any other data.
func RevisionOf(data []byte) string {
	words := bytes.SplitN(data, []byte(" "), 3)
	if len(words) < 3 || string(words[0]) != format {
		return ""
	}
	return string(words[1])
}

var errFormat = errors.New("the stored trending set has an unknown format")

// Decode parses the output of [Set.Encode].
func Decode(data []byte) (*Set, error) {
	head, body, found := bytes.Cut(data, []byte("\n"))
	words := strings.Fields(string(head))
	known := len(words) == 3 && words[0] == format
	if !found || !known || len(head) >= HeadBytes {
		return nil, errFormat
	}
	at, err := strconv.ParseInt(words[2], 10, 64)
	s := &Set{At: at, Revision: words[1]}
	if err := cmp.Or(err, json.Unmarshal(body, &s.Entries)); err != nil {
		return nil, fmt.Errorf("%w: %w", errFormat, err)
	}
	return s, nil
}
