package timeline

import (
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/internal/safego"
	"github.com/freshet/freshet/social"
)

// inboxesPerCheck is how many inboxes one check reads. What others have is reported by the next ones.
const inboxesPerCheck = 500

// inbox holds the state of its agent's notifications that a watch knows.
type inbox struct {
	state  social.InboxState // of when they were read last
	newest int64             // the number of the newest that the agent may know of
	unread int               // as reported; a watch begins as if it had reported none
}

// unknownInbox is the state of none.
var unknownInbox = social.InboxState{Last: -1}

// inboxes reports notifications to the watches whose agents have new ones, or have seen some of them. A
// statement tells of hundreds of agents whether anything has changed.
func (r *round) inboxes(ctx context.Context) error {
	if r.w.stores.Notifications == nil {
		return nil
	}
	moved := map[string]social.InboxState{}
	for some := range slices.Chunk(r.watches, readersAtOnce) {
		states, err := r.w.stores.Notifications.InboxStates(ctx, agentsOf(some))
		if err != nil {
			return err
		}
		for i, w := range some {
			if w.inbox.state != states[i] && len(moved) < inboxesPerCheck {
				moved[w.agent] = states[i]
			}
		}
	}
	var watches []*Watch
	for _, w := range r.watches {
		if _, ok := moved[w.agent]; ok {
			watches = append(watches, w)
		}
	}
	return r.readInboxes(ctx, watches)
}

// readInboxes reads the inboxes of some watches, each agent's once.
func (r *round) readInboxes(ctx context.Context, watches []*Watch) error {
	if len(watches) == 0 {
		return nil
	}
	of := map[string][]*Watch{}
	var agents []string
	for _, w := range watches {
		if len(of[w.agent]) == 0 {
			agents = append(agents, w.agent)
		}
		of[w.agent] = append(of[w.agent], w)
	}
	profiles, err := r.w.stores.Profiles.ProfilesOf(ctx, agents)
	switch {
	case errors.Is(err, catalog.ErrUnavailable): // mutes are unknown
		profiles = make([]feed.Profile, len(agents))
	case err != nil:
		return err
	}
	boxes := make([]social.Inbox, len(agents))
	var g errgroup.Group
	g.SetLimit(storeCallsAtOnce)
	for i, agent := range agents {
		g.Go(safego.Func(func() (err error) {
			boxes[i], err = r.w.stores.Notifications.Notifications(ctx, agent)
			if errors.Is(err, feed.ErrForbidden) { // none are kept
				err = nil
			}
			if err == nil {
				boxes[i].List, err = withoutMutedContent(boxes[i].List, profiles[i], func(ids []string) ([]social.Card, error) {
					return r.w.stores.Posts.CardsOf(ctx, convert.Each(ids, func(id string) social.Asked { return social.Asked{Reader: agent, ID: id} }))
				})
			}
			return err
		}))
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for i, agent := range agents {
		notices := noticesOf(boxes[i], profiles[i])
		for _, w := range of[agent] {
			w.readInbox(boxes[i].InboxState, notices)
		}
	}
	return nil
}

// readInbox reports the number of unread notices if it has changed, or if one has something new.
func (w *Watch) readInbox(state social.InboxState, all []*notice) {
	unread, newest := unreadOf(all), w.inbox.newest
	for _, n := range all {
		if n.Unread {
			newest = max(newest, n.Marker)
		}
	}
	told := unread != w.inbox.unread || newest > w.inbox.newest
	w.inbox = inbox{state: state, newest: newest, unread: unread}
	if !told {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unread = &unread
	signal(w.ready)
}

// TakeUnread returns the number of unread notices, at most [MostNew], if there is a new one or the number has
// changed since the last call. A watch begins as if it had been 0.
func (w *Watch) TakeUnread() (n int, changed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.unread == nil {
		return 0, false
	}
	n = *w.unread
	w.unread = nil
	return n, true
}
