package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
)

// Profile returns the agent's profile, or [feed.ErrNotFound].
func (e *Engine) Profile(ctx context.Context, agent string) (feed.Profile, error) {
	return e.stores.Catalog.Profile(ctx, agent)
}

// edit waits for the agent's turn to change its profile; the ticket must be left. A catalog
// starts a change over where another one came first: many at once would be made many times.
func (e *Engine) edit(ctx context.Context, agent string) (*ticket, error) {
	return e.edits.enter(ctx, turnOf{agent: agent}, e.cfg.Clock(), 0)
}

// PutProfile replaces the agent's profile by [feed.Profile.Replace] in [Engine.EditProfile].
func (e *Engine) PutProfile(ctx context.Context, agent string, p feed.Profile) error {
	_, err := e.EditProfile(ctx, agent, func(stored *feed.Profile) (bool, error) {
		stored.Replace(p)
		return true, nil
	})
	return err
}

// EditProfile changes the agent's profile by change, as [catalog.Profiles] describes it,
// and answers the profile that is stored then. Where it refuses other items than
// before, the agent's session ends, because it was ranked for the old one. Errors wrap
// [feed.ErrInvalid] where the profile would not be valid, or are those of change.
func (e *Engine) EditProfile(ctx context.Context, agent string, change func(*feed.Profile) (bool, error)) (feed.Profile, error) {
	ctx = e.cfg.Begin(ctx)
	if err := feed.CheckAgentID(agent); err != nil {
		return feed.Profile{}, err
	}
	edit, err := e.edit(ctx, agent)
	if err != nil {
		return feed.Profile{}, err
	}
	defer edit.leave()
	// edited is a change that is valid, and whether other items are refused by it.
	edited := func(p *feed.Profile) (changed, other bool, err error) {
		before := *p
		if changed, err = change(p); err != nil || !changed {
			return false, false, err
		}
		return true, !before.SameMutes(*p), p.Validate()
	}
	// Before and after: if ending the session failed after the profile was
	// changed, changing it again would find nothing to end it for.
	old, err := e.stores.Catalog.Profile(ctx, agent)
	if errors.Is(err, feed.ErrNotFound) {
		old, err = feed.Profile{Learned: feed.Learned{Alone: true}}, nil
	}
	if err != nil {
		return feed.Profile{}, err
	}
	if _, other, err := edited(&old); err == nil && other {
		if err := e.endSession(ctx, agent); err != nil {
			return feed.Profile{}, err
		}
	}
	other := false
	p, err := e.stores.Catalog.EditProfile(ctx, agent, func(p *feed.Profile) (changed bool, err error) {
		changed, other, err = edited(p)
		return changed, err
	})
	if err == nil && other {
		err = e.endSession(ctx, agent)
	}
	return p, err
}

// endSession ends a session that was ranked for another profile. While sessions cannot be
// reached it stays: each page leaves out what the profile refuses by then.
func (e *Engine) endSession(ctx context.Context, agent string) error {
	if err := e.stores.Sessions.Delete(ctx, agent); !errors.Is(err, cache.ErrUnavailable) {
		return err
	}
	return nil
}

// RemoveProfile deletes the agent's profile; [feed.ErrNotFound] where there
// is none. Mutes end with it, and so does the session.
func (e *Engine) RemoveProfile(ctx context.Context, agent string) error {
	ctx = e.cfg.Begin(ctx)
	if err := feed.CheckAgentID(agent); err != nil {
		return err
	}
	edit, err := e.edit(ctx, agent)
	if err != nil {
		return err
	}
	defer edit.leave()
	old, err := e.stores.Catalog.Profile(ctx, agent)
	if err != nil {
		return err
	}
	if old.Learned.Alone { // what was learned is no profile, and stays
		return fmt.Errorf("profile of %s: %w", agent, feed.ErrNotFound)
	}
	if err := e.stores.Catalog.RemoveProfile(ctx, agent); err != nil && !errors.Is(err, feed.ErrNotFound) {
		return err
	}
	if !old.HasMutes() {
		return nil
	}
	return e.endSession(ctx, agent)
}

// Forget deletes the agent's profile, what was learned of them and what is remembered
// of their clicks and likes, their session and what is pending, whatever there is of
// them. After an error forget again.
func (e *Engine) Forget(ctx context.Context, agent string) error {
	if err := e.ForgetLearned(ctx, agent); err != nil {
		return err
	}
	if err := e.RemoveProfile(ctx, agent); err != nil && !errors.Is(err, feed.ErrNotFound) {
		return err
	}
	if e.stores.Popularity != nil {
		if err := e.stores.Popularity.Forget(e.cfg.Begin(ctx), agent); err != nil {
			return err
		}
	}
	if err := e.stores.Sessions.Forget(e.cfg.Begin(ctx), agent); err != nil {
		return err
	}
	return e.stores.Seen.Forget(e.cfg.Begin(ctx), agent)
}

// refs looks up the group of each item, and what the item is. An id that is unknown stands
// for its own group.
func (e *Engine) refs(ctx context.Context, ids []string) ([]feed.Ref, []feed.Doc, error) {
	docs, err := e.stores.Catalog.Docs(ctx, ids)
	if err != nil {
		return nil, nil, err
	}
	refs := make([]feed.Ref, len(ids))
	for i, id := range ids {
		refs[i] = feed.Ref{ID: id, Group: id}
		if docs[i].Missing() {
			continue
		}
		if refs[i].Group, _, err = docs[i].Head(); err != nil {
			return nil, nil, err
		}
	}
	return refs, docs, nil
}

// Learned tells what was learned of an agent, by the profile that has it, and what
// it does to the relevance of items by the agent's ranking. What the ranking gives no
// weight has neither score nor factor.
func (e *Engine) Learned(agent string, p *feed.Profile) []feed.LearnedGain {
	l := &p.Learned
	_, ranking := e.cfg.Rankings.For(agent)
	known := map[feed.Feature]bool{}
	gains := l.Effects(ranking.Learned, ranking.Base, e.cfg.Clock().Unix())
	for _, g := range gains {
		known[g.Feature] = true
	}
	for _, f := range l.Features {
		if !known[f.Feature] {
			gains = append(gains, feed.LearnedGain{Feature: f.Feature, ActCounts: f.ActCounts})
		}
	}
	recall.SortLearned(gains)
	return gains
}

// ForgetLearned deletes what was learned of an agent, whatever there is of it. What
// they did before, and other servers have not learned yet, does not count any more.
func (e *Engine) ForgetLearned(ctx context.Context, agent string) error {
	ctx = e.cfg.Begin(ctx)
	if err := feed.CheckAgentID(agent); err != nil {
		return err
	}
	if e.stores.Learner != nil { // what they did before is not to be learned after
		if err := e.stores.Learner.Flush(ctx); err != nil {
			return err
		}
	}
	now := e.cfg.Clock()
	return e.stores.Catalog.Learn(ctx, agent, func(l *feed.Learning) bool {
		l.Erase(now)
		return true
	})
}
