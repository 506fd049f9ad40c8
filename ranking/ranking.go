// Package ranking manages how readers' pages are ranked, and how that changes while servers run:
// versions that are stored and never change ([Store]), the one in force on each server ([Live]),
// and experiments, whose agents [Assign] chooses.
//
// The stores are in ranking/sqlite and ranking/elastic, their conformance suite in
// ranking/rankingtest. The parameters of a ranking are defined in feed.
package ranking

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/freshet/freshet/feed"
)

// ErrUnavailable is wrapped by errors which mean that the store is unreachable; a later retry may
// help.
var ErrUnavailable = &feed.Outage{Text: "the ranking store is unavailable", Shown: "the ranking cannot be read or changed now; try again later"}

// Version is one state of the live ranking, and who made it. Versions are stored whole and never
// change.
type Version struct {
	Version int       `json:"version"` // 1 is the first stored version
	At      time.Time `json:"at"`      // UTC, to the millisecond
	By      string    `json:"by"`
	Why     string    `json:"why"`
	Live    feed.Live `json:"live"`
}

// Validate checks a version that was read; the error wraps [feed.ErrInvalid].
func (v Version) Validate() error {
	if v.Version < 1 {
		return feed.Errorf(feed.ErrInvalid, "bad ranking parameters: the version must be at least 1, not %d", v.Version)
	}
	if err := v.Live.Validate(); err != nil {
		return fmt.Errorf("ranking version %d: %w", v.Version, err)
	}
	return nil
}

// Encode validates a version and encodes it for storage; the error wraps [feed.ErrInvalid].
func (v Version) Encode() ([]byte, error) {
	if err := v.Validate(); err != nil {
		return nil, err
	}
	data, err := json.Marshal(v)
	if err != nil {
		return nil, feed.Errorf(feed.ErrInvalid, "bad ranking parameters: %w", err)
	}
	return data, nil
}

// Store stores the versions of the live ranking. Nothing is ever removed, so they are numbered
// from 1 to the newest without a gap.
//
// The versions that it returns are valid: a stored version that this server cannot use is an
// error. Other errors wrap [ErrUnavailable], or are those of a context that has ended. Reading
// again is always safe.
type Store interface {
	// Newest returns the newest version, or [feed.ErrNotFound] if none is stored. It is one cheap
	// read, because every server calls it each second.
	Newest(ctx context.Context) (Version, error)
	// At returns one version, or [feed.ErrNotFound] if it does not exist.
	At(ctx context.Context, version int) (Version, error)
	// Versions returns the newest ones, newest first, at most limit; none if none is stored.
	Versions(ctx context.Context, limit int) ([]Version, error)
	// Append stores v if v.Version is one more than the newest; otherwise it fails with
	// [feed.ErrChanged] and stores nothing: of several servers that append the same version at
	// once exactly one succeeds. After success, every read that starts later sees the version, on
	// every server. The error is [feed.ErrInvalid] for an invalid version. After another error it
	// may or may not be stored: read the newest before appending again.
	Append(ctx context.Context, v Version) error
}

// ParseVersion decodes a version from its stored JSON, and validates it. The error says what to
// do. It wraps none of the sentinels, because stored data is not the caller's fault.
func ParseVersion(data []byte) (Version, error) {
	var v Version
	err := json.Unmarshal(data, &v)
	if err == nil {
		err = v.Validate()
	}
	if err == nil {
		return v, nil
	}
	return Version{}, fmt.Errorf("the stored ranking version %d is damaged, or written by a newer version of freshet (then upgrade this one): %s", v.Version, err.Error())
}
