package catalog

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/freshet/freshet/feed"
)

// Record is the stored record of an agent, one JSON object: the declared profile and, in
// separate parts, the learned features and the learning state that they are computed from. It
// is read and written as a whole, so learned features need no additional read, and concurrent
// writers do not undo each other's changes.
type Record struct {
	feed.Profile
	Weights  feed.Learned   `json:"learned,omitzero"`
	Learning *feed.Learning `json:"learning,omitempty"` // nil if there is none; omitted in caches
}

// ParseRecord parses a record. A part with learned data that cannot be parsed is dropped: the
// declared profile is kept, and learning starts anew.
func ParseRecord(data []byte) (Record, error) {
	var r Record
	err := json.Unmarshal(data, &r)
	if err != nil {
		r, err = parseParts(data)
	}
	r.Learned = r.Weights
	return r, err
}

// ParseProfile parses the profile in the stored record of an agent. It returns
// [feed.ErrNotFound] if there is no record, or one that only rejects acts from before an
// erasure.
func ParseProfile(agent string, data []byte) (feed.Profile, error) {
	if len(data) == 0 {
		return feed.Profile{}, fmt.Errorf("profile of %s: %w", agent, feed.ErrNotFound)
	}
	r, err := ParseRecord(data)
	if err != nil {
		return feed.Profile{}, fmt.Errorf("the profile of %s is damaged, put it again: %w", agent, err)
	}
	if !r.Known() {
		return feed.Profile{}, fmt.Errorf("profile of %s: %w", agent, feed.ErrNotFound)
	}
	return r.Profile, nil
}

// RecordChange changes a record. It returns false if there is nothing to write. exists reports
// whether the agent had a record.
type RecordChange func(r *Record, exists bool) (changed bool, err error)

// Records implements the changes of [Profiles] with one function that changes an agent's record
// atomically; what is the name of the operation in errors.
type Records func(ctx context.Context, what, agent string, change RecordChange) error

// EditProfile implements [Profiles].
func (c Records) EditProfile(ctx context.Context, agent string, change func(*feed.Profile) (bool, error)) (p feed.Profile, err error) {
	err = c(ctx, "edit profile", agent, func(r *Record, exists bool) (bool, error) {
		p = r.Profile
		p.Learned = feed.Learned{Alone: !exists || r.Weights.Alone}
		changed, err := change(&p)
		if err == nil && changed {
			r.Profile, r.Weights.Alone = p, false
			r.Learned = r.Weights
		}
		p = r.Profile
		return changed && err == nil, err
	})
	return p, err
}

// MuteItems implements [Profiles].
func (c Records) MuteItems(ctx context.Context, agent string, groups []string) error {
	return c(ctx, "mute items", agent, func(r *Record, _ bool) (bool, error) {
		r.Weights.Alone = false // the caller drops the record if this fails
		return r.MuteItems(groups)
	})
}

// RemoveProfile implements [Profiles].
func (c Records) RemoveProfile(ctx context.Context, agent string) error {
	return c(ctx, "remove profile", agent, func(r *Record, exists bool) (bool, error) {
		if !exists || r.Weights.Alone {
			return false, fmt.Errorf("profile of %s: %w", agent, feed.ErrNotFound)
		}
		r.Profile, r.Weights.Alone = feed.Profile{}, true
		return true, nil
	})
}

// Learn implements [Profiles].
func (c Records) Learn(ctx context.Context, agent string, change func(*feed.Learning) bool) error {
	return c(ctx, "learn", agent, func(r *Record, exists bool) (bool, error) { return r.Learn(exists, change), nil })
}

// parseParts parses each part of a record separately.
func parseParts(data []byte) (Record, error) {
	var r struct {
		feed.Profile
		Weights  part[feed.Learned]   `json:"learned"`
		Learning part[*feed.Learning] `json:"learning"`
	}
	err := json.Unmarshal(data, &r)
	return Record{Profile: r.Profile, Weights: r.Weights.value, Learning: r.Learning.value}, err
}

// part is a value, or the zero value if it cannot be parsed.
type part[T any] struct{ value T }

// UnmarshalJSON implements [json.Unmarshaler].
func (p *part[T]) UnmarshalJSON(data []byte) error {
	var value T
	if json.Unmarshal(data, &value) == nil {
		p.value = value
	}
	return nil
}

// RecordOf returns the record of a profile as returned by [Profiles].
func RecordOf(p feed.Profile) Record { return Record{Profile: p, Weights: p.Learned} }

// Learn changes the learning state and recomputes the learned features. exists reports whether
// the agent had a record.
func (r *Record) Learn(exists bool, change func(*feed.Learning) bool) (changed bool) {
	learning := r.Learning
	if learning == nil {
		learning = &feed.Learning{}
	}
	changed = change(learning)
	if !changed {
		return false
	}
	alone := !exists || r.Weights.Alone
	r.Learning, r.Weights = learning, learning.Learned()
	r.Weights.Alone = alone
	if learning.IsZero() {
		r.Learning = nil
	}
	return true
}

// Empty reports whether nothing is left to store.
func (r *Record) Empty() bool {
	return r.Weights.Alone && r.Learning == nil
}

// Known reports whether the agent has a profile or learned features. A record may exist only to
// reject acts from before an erasure.
func (r *Record) Known() bool { return !r.Weights.Alone || len(r.Weights.Features) > 0 }
