package fanout

import (
	"context"
	"slices"
	"time"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// fewMembers is the maximum number of members that a circle has before and after a write, taken
// together, up to which the write updates their lists immediately.
const fewMembers = 20

// Store returns the social store, with writes that also run the jobs whose result the caller
// expects in the next call. These update the caller's own list after they create or delete a post,
// follow or block, and remove the data of an erased agent. Posts that are deleted, erased or no
// longer public are also removed from the cached cards, without querying the store, which may
// become unavailable right after. Errors are only the store's: a job that fails is left to the
// workers, and so are the jobs of events, which are the writes with a time.
func (f *Fanout) Store() social.Store { return store{f.d.Store, f} }

type store struct {
	social.Store
	f *Fanout
}

func (s store) CreatePost(ctx context.Context, p social.Post, c social.Creation) (social.Written, bool, error) {
	post, created, err := s.Store.CreatePost(ctx, p, c)
	if created && err == nil {
		// An event may have created a formerly public post again with a smaller audience.
		brief, cancel := s.f.brief(ctx)
		s.f.logLeft(ctx, s.f.removeCard(brief, &post.Post))
		cancel()
	}
	if err == nil && c.At.IsZero() && !post.IsReply() {
		s.f.dropUnless(ctx, []string{post.Author}, s.f.pushOwn(ctx, &post.Post))
	}
	return post, created, err
}

func (s store) DeletePost(ctx context.Context, id, by string, at time.Time) error {
	err := s.Store.DeletePost(ctx, id, by, at)
	if err != nil {
		return err
	}
	s.f.removeNow(ctx, id)
	if by == "" || !at.IsZero() { // an admin or an event; no answer has the post, even if lists do
		return nil
	}
	s.f.dropUnless(ctx, []string{by}, s.f.removeUnlisted(ctx, by, id))
	return nil
}

// Moderate also runs the jobs of a post that is hidden or restored, which remove it from the recall index, or put it
// back. The cached card of a post that is hidden is removed first, without querying the store, and the cached cards of
// an author who is suspended are hidden.
func (s store) Moderate(ctx context.Context, m social.Moderate) (bool, error) {
	changed, err := s.Store.Moderate(ctx, m)
	if err != nil {
		return changed, err
	}
	switch m.Action {
	case social.ActionHold, social.ActionRemove:
		s.f.removeNow(ctx, m.Object.ID)
	}
	switch m.Action {
	case social.ActionHold, social.ActionRemove, social.ActionRestore:
		s.f.logLeft(ctx, s.f.runInTime(ctx, row{jobs.Deliver, m.Object.ID}, row{jobs.Index, m.Object.ID}))
	case social.ActionSuspend:
		brief, cancel := s.f.brief(ctx)
		defer cancel()
		s.f.logLeft(ctx, s.f.hide(brief, m.Object.ID))
	}
	return changed, nil
}

// PutAuthor also hides the cached cards of an author who does not want to be recommended: those cached
// before do not say so.
func (s store) PutAuthor(ctx context.Context, a social.Author, at time.Time) error {
	err := s.Store.PutAuthor(ctx, a, at)
	if err == nil {
		s.hideUnrecommended(ctx, &a)
	}
	return err
}

// PatchAuthor does the same.
func (s store) PatchAuthor(ctx context.Context, id string, patch func(social.Author) (social.Author, error)) (social.Author, error) {
	was := true
	a, err := s.Store.PatchAuthor(ctx, id, func(stored social.Author) (social.Author, error) {
		was = stored.Recommend == nil || *stored.Recommend
		return patch(stored)
	})
	if err == nil && was {
		s.hideUnrecommended(ctx, &a)
	}
	return a, err
}

func (s store) hideUnrecommended(ctx context.Context, a *social.Author) {
	if a.Recommend == nil || *a.Recommend {
		return
	}
	brief, cancel := s.f.brief(ctx)
	defer cancel()
	s.f.logLeft(ctx, s.f.hide(brief, a.ID))
}

func (s store) Follow(ctx context.Context, agent, author string, at time.Time) (bool, error) {
	changed, err := s.Store.Follow(ctx, agent, author, at)
	s.followChanged(ctx, agent, author, at, err)
	return changed, err
}

func (s store) Unfollow(ctx context.Context, agent, author string, at time.Time) (bool, error) {
	changed, err := s.Store.Unfollow(ctx, agent, author, at)
	s.followChanged(ctx, agent, author, at, err)
	return changed, err
}

// followChanged runs the job of a follow even if nothing has changed: an earlier call may have been
// interrupted.
func (s store) followChanged(ctx context.Context, agent, author string, at time.Time, err error) {
	if err == nil && at.IsZero() && author != social.Server {
		s.f.runRows(ctx, row{jobs.AuthorAgent, jobs.PairKey(author, agent)})
	}
}

func (s store) FollowAll(ctx context.Context, edges []social.Edge, at time.Time) (int, []social.Rejected, error) {
	changed, rejected, err := s.Store.FollowAll(ctx, edges, at)
	if err == nil && at.IsZero() {
		agents := map[string]bool{}
		for _, e := range edges {
			agents[e.Agent] = true
		}
		for agent := range agents {
			s.f.runRows(ctx, row{jobs.AuthorAgent, jobs.PairKey(jobs.Everybody, agent)})
		}
	}
	return changed, rejected, err
}

func (s store) Block(ctx context.Context, agent, other string) (bool, error) {
	changed, err := s.Store.Block(ctx, agent, other)
	s.blockChanged(ctx, agent, other, err)
	return changed, err
}

func (s store) Unblock(ctx context.Context, agent, other string) (bool, error) {
	changed, err := s.Store.Unblock(ctx, agent, other)
	s.blockChanged(ctx, agent, other, err)
	return changed, err
}

func (s store) blockChanged(ctx context.Context, agent, other string, err error) {
	if err == nil {
		s.f.runRows(ctx, row{jobs.AuthorAgent, jobs.PairKey(other, agent)}, row{jobs.AuthorAgent, jobs.PairKey(agent, other)})
	}
}

func (s store) AddMember(ctx context.Context, circle, agent, by string, at time.Time) (bool, error) {
	changed, err := s.Store.AddMember(ctx, circle, agent, by, at)
	s.membersChanged(ctx, circle, []string{agent}, at, err)
	return changed, err
}

func (s store) RemoveMember(ctx context.Context, circle, agent, by string, at time.Time) (bool, error) {
	changed, err := s.Store.RemoveMember(ctx, circle, agent, by, at)
	s.membersChanged(ctx, circle, []string{agent}, at, err)
	return changed, err
}

func (s store) PutCircle(ctx context.Context, c social.Circle, members []string, at time.Time) (social.Circle, error) {
	before := s.members(ctx, c.ID, at)
	stored, err := s.Store.PutCircle(ctx, c, members, at)
	if members == nil {
		members = s.members(ctx, c.ID, at) // of a dropped circle that exists again
	}
	s.membersChanged(ctx, c.ID, append(before, members...), at, err)
	return stored, err
}

func (s store) ChangeCircle(ctx context.Context, id, by string, change social.CircleChange) (social.Circle, error) {
	before := s.members(ctx, id, time.Time{})
	c, err := s.Store.ChangeCircle(ctx, id, by, change)
	s.circleChanged(ctx, id, before, err)
	return c, err
}

func (s store) PatchCircle(ctx context.Context, id, by string, patch func(social.CircleChange) (social.CircleChange, error)) (social.Circle, error) {
	before := s.members(ctx, id, time.Time{})
	c, err := s.Store.PatchCircle(ctx, id, by, patch)
	s.circleChanged(ctx, id, before, err)
	return c, err
}

// circleChanged runs the jobs of those who were, or are, members of a changed circle.
func (s store) circleChanged(ctx context.Context, id string, before []string, err error) {
	s.membersChanged(ctx, id, append(before, s.members(ctx, id, time.Time{})...), time.Time{}, err)
}

func (s store) Mute(ctx context.Context, agent string, kind social.MuteKind, id string, until time.Time) (bool, error) {
	changed, err := s.Store.Mute(ctx, agent, kind, id, until)
	s.muteChanged(ctx, agent, kind, id, err)
	return changed, err
}

func (s store) Unmute(ctx context.Context, agent string, kind social.MuteKind, id string) (bool, error) {
	changed, err := s.Store.Unmute(ctx, agent, kind, id)
	s.muteChanged(ctx, agent, kind, id, err)
	return changed, err
}

func (s store) muteChanged(ctx context.Context, agent string, kind social.MuteKind, id string, err error) {
	if err == nil && kind == social.MuteCircle {
		s.f.runRows(ctx, row{jobs.Member, jobs.PairKey(id, agent)})
	}
}

func (s store) DropCircle(ctx context.Context, id, by string, at time.Time) error {
	before := s.members(ctx, id, at)
	err := s.Store.DropCircle(ctx, id, by, at)
	s.membersChanged(ctx, id, before, at, err)
	return err
}

func (s store) EraseAuthor(ctx context.Context, author string) error {
	return s.erased(ctx, author, s.Store.EraseAuthor(ctx, author))
}

func (s store) EraseAgent(ctx context.Context, agent string) error {
	return s.erased(ctx, agent, s.Store.EraseAgent(ctx, agent))
}

// erased hides the agent's cached cards, and then removes follows, likes and other data within the
// time limit of a write. It returns err, the result of the erasure in the store.
func (s store) erased(ctx context.Context, agent string, err error) error {
	if err == nil {
		brief, cancel := s.f.brief(ctx)
		s.f.logLeft(ctx, s.f.hide(brief, agent))
		cancel()
		s.f.dropUnless(ctx, []string{agent}, s.f.runInTime(ctx, row{jobs.Erase, agent}))
	}
	return err
}

// members returns at most [fewMembers]+1 members of a circle, and none if at is the time of an
// event.
func (s store) members(ctx context.Context, circle string, at time.Time) []string {
	if !at.IsZero() {
		return nil
	}
	list, _ := s.Members(ctx, circle, "", "", fewMembers+1) // the write gets the same error
	return list
}

func (s store) membersChanged(ctx context.Context, circle string, members []string, at time.Time, err error) {
	if err != nil || !at.IsZero() {
		return
	}
	slices.Sort(members)
	members = slices.Compact(members)
	if len(members) > fewMembers {
		return
	}
	var rows []row
	for _, agent := range members {
		rows = append(rows, row{jobs.Member, jobs.PairKey(circle, agent)})
	}
	s.f.runRows(ctx, rows...)
}
