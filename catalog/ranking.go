package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/freshet/freshet/feed"
)

// ErrRankingChanged is wrapped by the error of an [Rankings.AppendRanking]
// whose version is not the next one any more: somebody else was faster. Read
// the newest and decide again.
var ErrRankingChanged = errors.New("the ranking was changed meanwhile")

// RankingVersion is one state of the live ranking, and who made it so. Versions
// are stored whole and never change.
type RankingVersion struct {
	Version int       `json:"version"` // 1 is the first that is stored
	At      time.Time `json:"at"`      // UTC, to the millisecond
	By      string    `json:"by"`
	Why     string    `json:"why"`
	Live    feed.Live `json:"live"`
}

// Validate says what is wrong with a version that was read; the error wraps
// [feed.ErrBadRanking].
func (v RankingVersion) Validate() error {
	if v.Version < 1 {
		return fmt.Errorf("%w: versions begin at 1, not %d", feed.ErrBadRanking, v.Version)
	}
	if err := v.Live.Validate(); err != nil {
		return fmt.Errorf("ranking version %d: %w", v.Version, err)
	}
	return nil
}

// Rankings keeps the versions of the live ranking. Nothing is ever removed, so
// the versions are 1 to the newest without a gap.
//
// AppendRanking stores v if v.Version is one more than the newest, else it
// fails with [ErrRankingChanged] and stores nothing: of several servers that
// append the same version at once exactly one succeeds. When it returns without
// an error, every call of the others that starts later sees the version, on
// every server. After another error it may or may not be stored.
//
// Ranking returns the newest version, [ErrNotFound] where none is stored. It is
// one cheap read: every server asks each second. RankingAt returns one version,
// or [ErrNotFound]. RankingVersions returns the newest ones, at most limit,
// newest first. What they return is valid; a stored version that this server
// cannot use is an error.
type Rankings interface {
	Ranking(ctx context.Context) (RankingVersion, error)
	RankingAt(ctx context.Context, version int) (RankingVersion, error)
	RankingVersions(ctx context.Context, limit int) ([]RankingVersion, error)
	AppendRanking(ctx context.Context, v RankingVersion) error
}

// ParseRankingVersion reads a version as it was stored, as JSON, and checks it.
// The error says what to do. It wraps none of the sentinels, because what is
// stored is not the caller's fault.
func ParseRankingVersion(data []byte) (RankingVersion, error) {
	var v RankingVersion
	err := json.Unmarshal(data, &v)
	if err == nil {
		err = v.Validate()
	}
	if err == nil {
		return v, nil
	}
	return RankingVersion{}, fmt.Errorf("the stored ranking version %d is damaged, or of a newer freshet (then upgrade this one): %s", v.Version, err.Error())
}
