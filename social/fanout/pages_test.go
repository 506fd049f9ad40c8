package fanout

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/timeline"
)

// mostPages is how many pages a scroll of the model has at most.
const mostPages = 1000

// newTimelines reads pages as a server does, from the lists under test.
func (w *world) newTimelines(f *Fanout) *engine.Timelines {
	return engine.NewTimelines(engine.TimelineStores{
		Posts: shown{f.d.Store, w}, Lists: f.d.Lists, Outboxes: timeline.NewCopies(f.d.Outboxes, testOutboxCap, w.clock),
		Builder: building{f}, Profiles: noProfiles{},
	}, engine.Config{Clock: w.clock})
}

// building builds as a server does, but shares no build within it: the process
// that has begun one may stand still.
type building struct{ f *Fanout }

func (b building) Build(ctx context.Context, agent string) error {
	return b.f.timelines.run(ctx, agent)
}

func (b building) Outbox(ctx context.Context, authors []string) error {
	var errs []error
	for _, author := range authors {
		errs = append(errs, b.f.outboxes.run(ctx, author))
	}
	return errors.Join(errs...)
}

type noProfiles struct{ catalog.Profiles }

func (noProfiles) Profile(context.Context, string) (feed.Profile, error) {
	return feed.Profile{}, feed.ErrNotFound
}

func (noProfiles) ProfilesOf(_ context.Context, agents []string) ([]feed.Profile, error) {
	return make([]feed.Profile, len(agents)), nil
}

// shown compares what pages show with what the store would deliver at that moment.
type shown struct {
	social.Store
	w *world
}

func (s shown) Cards(ctx context.Context, reader string, posts []social.Known) ([]social.Card, error) {
	cards, err := s.Store.Cards(ctx, reader, posts)
	if err != nil {
		return nil, err
	}
	due, err := s.w.due(reader)
	for _, c := range cards {
		if c.Visible && c.Reason != social.NoReason && !has(due, c.ID) {
			s.w.failed = fmt.Errorf("%s is shown %s, which is not due", reader, c.ID)
		}
	}
	return cards, err
}

// due is an agent's timeline as the store would deliver it. It proposes posts that
// are being erased, too.
func (w *world) due(agent string) ([]social.Entry, error) {
	list, err := w.store.Pull(w.ctx, social.PullQuery{Reader: agent, N: 10_000, Whole: true})
	if err != nil {
		return nil, err
	}
	known := make([]social.Known, len(list))
	for i, e := range list {
		known[i].ID = e.ID
	}
	cards, err := w.store.Cards(w.ctx, agent, known)
	var due []social.Entry
	for i, c := range cards {
		if c.Visible && c.Reason != social.NoReason {
			due = append(due, list[i])
		}
	}
	return due, err
}

func has(list []social.Entry, id string) bool {
	return slices.ContainsFunc(list, func(e social.Entry) bool { return e.ID == id })
}

// scroll reads a timeline to its end, from one of the servers for each page.
// Nothing may come twice, whatever goes on between the pages.
func (w *world) scroll(ctx context.Context, agent string, limit int) (all []social.Entry, err error) {
	r := engine.TimelineRequest{Agent: agent, Limit: limit}
	for range mostPages {
		page, err := pick(w, w.timelines).Timeline(ctx, r)
		if err != nil {
			return nil, err
		}
		for i := range page.Posts {
			c := &page.Posts[i]
			at := social.Position{At: c.CreatedAt, ID: c.ID}
			if len(all) > 0 && at.Compare(all[len(all)-1].Position) >= 0 {
				return nil, fmt.Errorf("%s gets %s after %v", agent, c.ID, all)
			}
			all = append(all, social.Entry{Position: at, Author: c.Author.ID})
		}
		if !page.HasMore {
			return all, nil
		}
		r.Below = page.Next
	}
	return nil, fmt.Errorf("%s scrolls without an end", agent)
}

// pages is a reader who scrolls while everything else goes on.
func (w *world) pages() {
	agent, limit := pick(w, w.agents), 1+w.rnd.IntN(4)
	w.start("pages of "+agent, func(ctx context.Context) error {
		_, err := w.scroll(ctx, agent, limit)
		return err
	})
}

// sees checks that an agent's next call, on any server, shows of some posts all
// that are due and nothing else. Posts whose own jobs wait may be missing, but not
// the agent's, nor those of before the change.
func (w *world) sees(agent string, about func(e social.Entry) bool, before []social.Post) error {
	w.advance(timeline.CopyTTL) // an outbox may be as old as that
	due, err := w.due(agent)
	if err != nil {
		return err
	}
	shown, err := w.scroll(w.ctx, agent, 1+w.rnd.IntN(6))
	if err != nil {
		return err
	}
	open := w.open()
	for _, e := range due {
		_, coming := open[row{jobs.Deliver, e.ID}]
		coming = coming && e.Author != agent && (w.delivery(e.Author) == social.Pull || !among(before, e.ID))
		if about(e) && !has(shown, e.ID) && !coming {
			return fmt.Errorf("%s does not see %s: %v, due is %v", agent, e.ID, shown, due)
		}
	}
	for _, e := range shown {
		if about(e) && !has(due, e.ID) {
			return fmt.Errorf("%s still sees %s", agent, e.ID)
		}
	}
	return nil
}

func among(list []social.Post, id string) bool {
	return slices.ContainsFunc(list, func(p social.Post) bool { return p.ID == id })
}

// one is the post of an id.
func one(id string) func(e social.Entry) bool {
	return func(e social.Entry) bool { return e.ID == id }
}

// of are the posts of an author.
func of(author string) func(e social.Entry) bool {
	return func(e social.Entry) bool { return e.Author == author }
}

// seesCircle checks that a member sees what is addressed to a circle.
func (w *world) seesCircle(agent, circle string, before []social.Post) error {
	members, err := w.store.Members(w.ctx, circle, "", len(w.agents))
	if err != nil || !slices.Contains(members, agent) {
		return err
	}
	return w.sees(agent, func(e social.Entry) bool {
		return slices.ContainsFunc(w.posts, func(p social.Post) bool { return p.ID == e.ID && slices.Contains(p.Audience.Circles, circle) })
	}, before)
}

// compareScroll compares what an agent reads with what the store would deliver,
// when the queue is empty.
func (w *world) compareScroll(agent string) error {
	due, err := w.due(agent)
	if err != nil {
		return err
	}
	shown, err := w.scroll(w.ctx, agent, 1+w.rnd.IntN(6))
	if err == nil && !slices.Equal(shown, due) {
		err = fmt.Errorf("its pages have %v, want %v", shown, due)
	}
	return err
}
