package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
)

// Profile returns the agent's profile, or [feed.ErrNotFound].
func (e *Engine) Profile(ctx context.Context, agent string) (feed.Profile, error) {
	return e.stores.Catalog.Profile(ctx, agent)
}

// edit waits for the agent's turn to change its profile; the caller must leave the ticket. A
// catalog restarts a change when another one was committed first, so many concurrent changes
// would each be retried many times.
func (e *Engine) edit(ctx context.Context, agent string) (*ticket, error) {
	return e.edits.enter(ctx, turnOf{agent: agent}, e.cfg.Clock(), 0)
}

// PutProfile replaces the agent's profile, using [feed.Profile.Replace] in [Engine.EditProfile].
func (e *Engine) PutProfile(ctx context.Context, agent string, p feed.Profile) error {
	_, err := e.EditProfile(ctx, agent, func(stored *feed.Profile) (bool, error) {
		stored.Replace(p)
		return true, nil
	})
	return err
}

// EditProfile applies change to the agent's profile, as [catalog.Profiles] describes, and returns
// the stored profile. If the profile then refuses other items than before, the agent's session
// ends, because it was ranked for the old one. What was learned from hiding an item that it no longer
// mutes is taken back. Errors wrap [feed.ErrInvalid] if the profile would
// be invalid, or are those of change.
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
	// edited applies change, validates the result and reports whether it refuses other items.
	edited := func(p *feed.Profile) (changed, other bool, err error) {
		before := *p
		if changed, err = change(p); err != nil || !changed {
			return false, false, err
		}
		return true, !before.SameMutes(*p), p.Validate()
	}
	// The session ends both before and after the change: if only the end after it failed, a retry
	// would find nothing changed and would not end the session.
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
	var muted []string
	p, err := e.stores.Catalog.EditProfile(ctx, agent, func(p *feed.Profile) (changed bool, err error) {
		muted = slices.Clone(p.MutedItems)
		changed, other, err = edited(p)
		return changed, err
	})
	if err != nil {
		return p, err
	}
	e.unmuted(ctx, agent, muted, p.MutedItems)
	if other {
		err = e.endSession(ctx, agent)
	}
	return p, err
}

// endSession ends a session that was ranked for another profile. If the session store is
// unreachable the session remains: each page leaves out items that the profile then refuses.
func (e *Engine) endSession(ctx context.Context, agent string) error {
	if err := e.stores.Sessions.Delete(ctx, agent); !errors.Is(err, cache.ErrUnavailable) {
		return err
	}
	return nil
}

// RemoveProfile deletes the agent's profile, or returns [feed.ErrNotFound] if there is none. If it
// had mutes, the session ends too, and what was learned from hiding items is taken back.
func (e *Engine) RemoveProfile(ctx context.Context, agent string) error {
	muted, err := e.removeProfile(ctx, agent)
	if err == nil {
		e.unmuted(ctx, agent, muted, nil)
	}
	return err
}

// removeProfile returns the items that were muted.
func (e *Engine) removeProfile(ctx context.Context, agent string) (muted []string, err error) {
	ctx = e.cfg.Begin(ctx)
	if err := feed.CheckAgentID(agent); err != nil {
		return nil, err
	}
	edit, err := e.edit(ctx, agent)
	if err != nil {
		return nil, err
	}
	defer edit.leave()
	old, err := e.stores.Catalog.Profile(ctx, agent)
	if err != nil {
		return nil, err
	}
	if old.Learned.Alone { // learned features alone are not a profile, and remain
		return nil, fmt.Errorf("profile of %s: %w", agent, feed.ErrNotFound)
	}
	if err := e.stores.Catalog.RemoveProfile(ctx, agent); err != nil && !errors.Is(err, feed.ErrNotFound) {
		return nil, err
	}
	if !old.HasMutes() {
		return nil, nil
	}
	return slices.Clone(old.MutedItems), e.endSession(ctx, agent)
}

// Forget deletes everything that the engine's stores have about an agent, as [Engine.Personal] lists it. After an
// error, call it again.
func (e *Engine) Forget(ctx context.Context, agent string) error {
	defer e.noted.forgetAgent(agent) // also if a store fails
	return e.Personal().Erase(ctx, agent)
}

// refs looks up the items and their groups, also those of items that were removed. An unknown id
// counts as its own group, as does a post, which is not read: its doc has no content.
func (e *Engine) refs(ctx context.Context, ids []string) ([]feed.Ref, []feed.Doc, error) {
	refs, docs := make([]feed.Ref, len(ids)), make([]feed.Doc, len(ids))
	var items []string
	for i, id := range ids {
		refs[i], docs[i] = feed.Ref{ID: id, Group: id}, feed.Doc{ID: id}
		if !e.isPost(id) {
			items = append(items, id)
		}
	}
	if len(items) == 0 {
		return refs, docs, nil
	}
	found, err := e.stores.Catalog.Docs(ctx, items)
	if err != nil {
		return nil, nil, err
	}
	for i, id := range ids {
		if e.isPost(id) {
			continue
		}
		docs[i], found = found[0], found[1:]
		if docs[i].Missing() {
			continue
		}
		if refs[i].Group, _, err = docs[i].Head(); err != nil {
			return nil, nil, err
		}
	}
	return refs, docs, e.removedGroups(ctx, refs, docs)
}

// removedGroups sets the groups of items that were removed. While these cannot be read, an item
// counts as its own group.
func (e *Engine) removedGroups(ctx context.Context, refs []feed.Ref, docs []feed.Doc) error {
	var removed []string
	for i := range docs {
		if docs[i].Missing() && !e.isPost(docs[i].ID) {
			removed = append(removed, docs[i].ID)
		}
	}
	if e.stores.Groups == nil || len(removed) == 0 {
		return nil
	}
	groups, err := e.stores.Groups.GroupsOf(ctx, removed)
	if err != nil && !errors.Is(err, catalog.ErrUnavailable) {
		return err
	}
	for i := range refs {
		if docs[i].Missing() {
			refs[i].Group = cmp.Or(groups[refs[i].ID], refs[i].Group)
		}
	}
	return nil
}

// isPost reports whether an id is that of a post in the social store.
func (e *Engine) isPost(id string) bool { return e.stores.Posts != nil && feed.IsPost(id) }

// Learned returns the features in the agent's profile that were learned, with their effect on the
// relevance of items under the agent's ranking. Features without weight in that ranking have
// neither score nor factor.
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

// ForgetLearned deletes all learned features of an agent, if any. Earlier acts that other servers
// have not processed yet are then ignored.
func (e *Engine) ForgetLearned(ctx context.Context, agent string) error {
	ctx = e.cfg.Begin(ctx)
	if err := feed.CheckAgentID(agent); err != nil {
		return err
	}
	if e.stores.Learner != nil { // earlier acts must not be learned afterwards
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

// LastErased returns when an agent was last erased, in Unix microseconds, 0 if never; and whether something is stored
// with the profile since: interests, mutes, hidden items, or what was learned.
func (e *Engine) LastErased(ctx context.Context, agent string) (erased int64, used bool, err error) {
	ctx = e.cfg.Begin(ctx)
	err = e.stores.Catalog.Learn(ctx, agent, func(l *feed.Learning) bool {
		erased, used = l.Erased, len(l.Features) > 0
		return false
	})
	if err != nil {
		return 0, false, err
	}
	p, err := e.stores.Catalog.Profile(ctx, agent)
	if errors.Is(err, feed.ErrNotFound) {
		return erased, used, nil
	}
	return erased, used || !p.Learned.Alone, err
}
