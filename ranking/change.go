package ranking

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/freshet/freshet/feed"
)

// Bounds of the texts that describe a change, in characters.
const (
	MaxBy  = 64
	MaxWhy = 500
)

// MaxHistory is the maximum number of versions in a history.
const MaxHistory = 100

// changeTries is how often an unconditional change is attempted when others change the ranking at
// the same time.
const changeTries = 10

// Edit changes some parameters and leaves the others.
type Edit func(*feed.Ranking) error

// Experiment is a wanted variant. Its Edit, nil for none, starts from the parameters of the
// variant, or from the live ones if it is new. The parameters of a running variant cannot be
// changed: its counts belong to those it began with.
type Experiment struct {
	Name   string
	Share  float64 // 0 to 1
	Edit   Edit
	Limits *feed.Limits // nil leaves them unchanged
}

// Change describes a change of the live ranking, and who makes it.
type Change struct {
	Edit Edit // nil leaves the live parameters unchanged
	// Experiments is the whole list of those to run. Nil means those that run now.
	Experiments []Experiment
	// Feeds returns the stored feeds, given the ranking that has been changed otherwise. Nil leaves
	// them unchanged.
	Feeds   func(*feed.Live) ([]feed.StoredFeed, error)
	By, Why string
	// If is the version that must be the newest. Nil means any.
	If *int
}

// Change stores a new version and puts it in force. Errors wrap [feed.ErrInvalid] for unusable
// values, [feed.ErrChanged] if a version other than c.If is the newest, or [ErrUnavailable]; then
// the old version stays in force.
func (l *Live) Change(ctx context.Context, c Change) (Version, error) {
	return l.append(ctx, c.By, c.Why, c.If, func(base Version) (*feed.Live, error) {
		return c.of(base.Live, l.cfg.HalfLives)
	})
}

// Revert stores a new version with the ranking of an older one, including its experiments and their agents, whose
// runs begin again; version 0 is the configuration's. Stored feeds stay as they are: people read them. The error is [feed.ErrNotFound] if the version does not
// exist; other errors are those of Change.
func (l *Live) Revert(ctx context.Context, to int, by, why string, onlyIf *int) (Version, error) {
	old, err := l.At(ctx, to)
	if err != nil {
		return Version{}, err
	}
	if why == "" {
		why = fmt.Sprintf("reverted to version %d", to)
	}
	return l.append(ctx, by, why, onlyIf, func(base Version) (*feed.Live, error) {
		next := old.Live
		next.Feeds = base.Live.Feeds
		return &next, next.Validate()
	})
}

// At returns one version, 0 for the configuration's, or [feed.ErrNotFound] if it does not exist.
func (l *Live) At(ctx context.Context, version int) (Version, error) {
	if version == 0 {
		return l.configured(), nil
	}
	return l.store.At(ctx, version)
}

// History returns the newest versions, newest first, at most limit, followed by the
// configuration's if there is room.
func (l *Live) History(ctx context.Context, limit int) ([]Version, error) {
	if limit < 1 || limit > MaxHistory {
		return nil, fmt.Errorf("%w: limit must be 1 to %d, not %d", feed.ErrBadLimit, MaxHistory, limit)
	}
	list, err := l.store.Versions(ctx, limit)
	if err == nil && len(list) < limit {
		list = append(list, l.configured())
	}
	return list, err
}

// of applies the change to a ranking.
func (c Change) of(old feed.Live, kept feed.HalfLives) (*feed.Live, error) {
	next := feed.Live{Ranking: old.Ranking, Variants: old.Variants, Feeds: old.Feeds}
	if err := c.Edit.do(&next.Ranking, kept); err != nil {
		return nil, err
	}
	if c.Feeds != nil {
		if err := c.changeFeeds(&next, kept); err != nil {
			return nil, err
		}
	}
	if c.Experiments == nil {
		return &next, nil
	}
	wanted := make([]feed.Variant, len(c.Experiments))
	for i, x := range c.Experiments {
		v, known := old.Variant(x.Name)
		if !known {
			v = feed.Variant{Name: x.Name, Ranking: next.Ranking}
		}
		v.Share = x.Share
		if x.Limits != nil {
			v.Limits = *x.Limits
		}
		before := v.Ranking
		if err := x.Edit.do(&v.Ranking, kept); err != nil {
			return nil, fmt.Errorf("experiment %q: %w", x.Name, err)
		}
		other := v.Ranking.Changes(before)
		if known && other != "" {
			return nil, feed.Errorf(feed.ErrInvalid, "experiment %q runs with other parameters than %s, and its counts belong to those; use another name, or end it first", x.Name, other)
		}
		wanted[i] = v
	}
	var err error
	next.Variants, err = Assign(old.Variants, wanted)
	return &next, err
}

// changeFeeds changes the stored feeds. None may weight a sum that is not kept, unless the live ranking
// does.
func (c Change) changeFeeds(next *feed.Live, kept feed.HalfLives) (err error) {
	if next.Feeds, err = c.Feeds(next); err != nil {
		return err
	}
	for i := range next.Feeds {
		own, err := next.Feeds[i].Ranked(next.Ranking)
		if err != nil {
			return err
		}
		if kept.Check(next.Ranking) != nil {
			continue
		}
		if err := kept.Check(own); err != nil {
			return fmt.Errorf("feed %s: %w", next.Feeds[i].Name, err)
		}
	}
	return nil
}

// do edits a ranking. It may still weight a sum that is not kept if it did before.
func (e Edit) do(r *feed.Ranking, kept feed.HalfLives) error {
	if e == nil {
		return nil
	}
	before := *r
	if err := e(r); err != nil {
		return err
	}
	if err := r.Validate(); err != nil {
		return err
	}
	if kept.Check(before) != nil {
		return nil
	}
	return kept.Check(*r)
}

// append stores the successor of the newest version and puts it in force. If another server was
// faster it computes the successor of that version, unless the caller requires a version to
// change.
func (l *Live) append(ctx context.Context, by, why string, onlyIf *int, follows func(base Version) (*feed.Live, error)) (Version, error) {
	if err := errors.Join(checkText("by", by, MaxBy), checkText("why", why, MaxWhy)); err != nil {
		return Version{}, err
	}
	if err := l.changing.Acquire(ctx, 1); err != nil {
		return Version{}, err
	}
	defer l.changing.Release(1)
	for try := 1; ; try++ {
		base, err := l.newest(ctx)
		if err != nil {
			return base, err
		}
		if onlyIf != nil && *onlyIf != base.Version {
			return base, feed.Errorf(feed.ErrChanged, "the ranking was changed concurrently: version %d is in force, not %d; read it again", base.Version, *onlyIf)
		}
		live, err := follows(base)
		if err != nil {
			return base, err
		}
		if live.Same(&base.Live) {
			live.Continue(&base.Live)
		} else {
			live.Begin(base.Version + 1)
		}
		v := Version{Version: base.Version + 1, At: l.cfg.Clock().UTC().Truncate(time.Millisecond), By: by, Why: why, Live: *live}
		err = l.store.Append(ctx, v)
		switch {
		case err == nil:
			l.appended(ctx, v)
			return v, nil
		case !errors.Is(err, feed.ErrChanged) || onlyIf != nil || try == changeTries:
			return base, err
		}
	}
}

// appended puts a version in force that this server has stored, unless a newer one is by now. If
// no time is left for that, Run does it.
func (l *Live) appended(ctx context.Context, v Version) {
	if l.reading.Acquire(ctx, 1) != nil {
		return
	}
	defer l.reading.Release(1)
	if v.Version > l.InForce().Version {
		l.apply(ctx, v)
	}
}

// checkText rejects text that would garble a log or a terminal.
func checkText(what, text string, most int) error {
	n := utf8.RuneCountInString(text)
	if n > most || !utf8.ValidString(text) {
		return feed.Errorf(feed.ErrInvalid, "bad ranking parameters: %s must have at most %d characters of UTF-8, this one has %d", what, most, n)
	}
	i := strings.IndexFunc(text, unicode.IsControl)
	if i >= 0 {
		return feed.Errorf(feed.ErrInvalid, "bad ranking parameters: %s has a control character at position %d", what, i+1)
	}
	return nil
}
