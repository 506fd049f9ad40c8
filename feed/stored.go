package feed

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// Bounds of stored feeds.
const (
	MaxStoredFeeds = 200
	maxFeedReaders = 1000 // agents in a list of readers
	// maxFeedsBytes bounds all stored feeds together, as JSON: every server reads them each second.
	maxFeedsBytes = 1 << 20
)

// StoredFeed is a named feed that an operator has stored. It is in force with the version of the
// ranking that holds it.
type StoredFeed struct {
	Name Name `json:"name"`
	Filter
	// Ranking holds the parameters that differ from the live ranking, in the form of GET /v1/ranking.
	Ranking json.RawMessage `json:"ranking,omitempty"`
	// Readers are the agents who may read it; none means everyone.
	Readers []string `json:"readers,omitempty"`
}

// Validate checks the feed; live is the ranking that its parameters change. The error wraps
// [ErrInvalid].
func (f *StoredFeed) Validate(live Ranking) error {
	if err := cmp.Or(CheckFeedName(string(f.Name)), f.Filter.Validate()); err != nil {
		return err
	}
	if len(f.Readers) > maxFeedReaders {
		return Errorf(ErrInvalid, "bad feed: at most %d readers can be listed, not %d; without a list everyone may read it", maxFeedReaders, len(f.Readers))
	}
	for _, agent := range f.Readers {
		if err := CheckAgentID(agent); err != nil {
			return fmt.Errorf("readers: %w", err)
		}
	}
	_, err := f.Ranked(live)
	return err
}

// Ranked returns the live ranking with the parameters of the feed. The error wraps [ErrInvalid].
func (f *StoredFeed) Ranked(live Ranking) (Ranking, error) {
	if len(f.Ranking) == 0 {
		return live, nil
	}
	own := live
	err := own.Propose(f.Ranking)
	if err == nil {
		err = own.Validate()
	}
	if err != nil {
		return live, fmt.Errorf("feed %s: %w", f.Name, err)
	}
	return own, nil
}

// ReadBy reports whether the agent may read it.
func (f *StoredFeed) ReadBy(agent string) bool {
	return len(f.Readers) == 0 || slices.Contains(f.Readers, agent)
}

// Feed returns the stored feed with this name; ok is false if there is none.
func (l *Live) Feed(name Name) (f StoredFeed, ok bool) {
	at, ok := slices.BinarySearchFunc(l.Feeds, name, compareFeeds)
	if !ok {
		return StoredFeed{}, false
	}
	return l.Feeds[at], true
}

// WithFeed returns the stored feeds with one added, or replaced if it has the name of another.
func (l *Live) WithFeed(f StoredFeed) []StoredFeed {
	all := slices.Clone(l.Feeds)
	at, ok := slices.BinarySearchFunc(all, f.Name, compareFeeds)
	if ok {
		all[at] = f
		return all
	}
	return slices.Insert(all, at, f)
}

// WithoutFeed returns the stored feeds without one. The error wraps [ErrNotFound].
func (l *Live) WithoutFeed(name Name) ([]StoredFeed, error) {
	at, ok := slices.BinarySearchFunc(l.Feeds, name, compareFeeds)
	if !ok {
		return nil, Errorf(ErrNotFound, "there is no stored feed %s", name)
	}
	return slices.Delete(slices.Clone(l.Feeds), at, at+1), nil
}

func compareFeeds(f StoredFeed, name Name) int { return cmp.Compare(f.Name, name) }

// validateFeeds checks the stored feeds.
func (l *Live) validateFeeds() error {
	if len(l.Feeds) > MaxStoredFeeds {
		return Errorf(ErrInvalid, "bad feeds: at most %d can be stored, not %d; delete some", MaxStoredFeeds, len(l.Feeds))
	}
	size := 0
	for i := range l.Feeds {
		f := &l.Feeds[i]
		size += f.size()
		if size > maxFeedsBytes {
			return Errorf(ErrInvalid, "bad feeds: together they may have at most %d bytes; delete some, or name fewer readers and conditions", maxFeedsBytes)
		}
		if i > 0 && l.Feeds[i-1].Name >= f.Name {
			return Errorf(ErrInvalid, "bad feeds: they are not in the order of their names, at %s", f.Name)
		}
		if err := f.Validate(l.Ranking); err != nil {
			return fmt.Errorf("feed %s: %w", f.Name, err)
		}
	}
	return nil
}

// size returns about how many bytes the feed has as JSON.
func (f *StoredFeed) size() int {
	n := len(f.Name) + len(f.Ranking)
	for _, agent := range f.Readers {
		n += len(agent) + 3
	}
	for _, c := range []*Conditions{&f.All, &f.Any, &f.None} {
		for _, list := range c.Lists() {
			for _, term := range list {
				n += len(term) + 3
			}
		}
	}
	return n
}

// Base returns the ranking of the agents in no variant, which named feeds are ranked by.
func (l *Live) Base() Ranking { return l.Ranking }
