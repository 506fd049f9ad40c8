package fanout

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/freshet/freshet/catalog"
	timelines "github.com/freshet/freshet/engine/timeline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/timeline"
)

const mostPages = 1000

// newTimelines returns timelines that read the lists under test as a server does.
func (w *world) newTimelines(f *Fanout) *timelines.Timelines {
	return timelines.New(timelines.Stores{
		Posts: shown{f.d.Store, w}, Lists: f.d.Lists, Outboxes: timeline.NewCopies(f.d.Outboxes, testOutboxCap, w.clock),
		Builder: building{f}, Profiles: noProfiles{},
	}, timelines.Config{Clock: w.clock})
}

// building builds lists as a server does, but does not share a build within the server: the process
// that began one may be suspended.
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

// shown checks that pages show no post that the store would not deliver at that moment.
type shown struct {
	social.Store
	w *world
}

func (s shown) Cards(ctx context.Context, reader string, posts []social.PostVersion) ([]social.Card, error) {
	cards, err := s.Store.Cards(ctx, reader, posts)
	if err != nil {
		return nil, err
	}
	due, err := s.w.due(reader)
	for i, c := range cards {
		if c.Visible && c.Reason != social.NoReason && !has(due, c.ID) {
			s.w.failed = fmt.Errorf("%s is shown %s, which is not due", reader, c.ID)
		}
		if c.Reason == social.Mention { // pages bound mentions by strangers; here all posts are compared
			cards[i].Reason = social.Member
		}
	}
	return cards, err
}

// due returns an agent's timeline as the store would deliver it. It also proposes posts that are
// being erased.
func (w *world) due(agent string) ([]social.Entry, error) {
	list, err := w.store.Pull(w.ctx, social.PullQuery{Reader: agent, N: 10_000, Whole: true})
	if err != nil {
		return nil, err
	}
	known := make([]social.PostVersion, len(list))
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

// scroll reads a timeline to its end, each page from a random server. No post may be repeated,
// whatever happens between the pages.
func (w *world) scroll(ctx context.Context, agent string, limit int) (all []social.Entry, err error) {
	r := timelines.Request{Agent: agent, Limit: limit}
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

func (w *world) pages() {
	agent, limit := pick(w, w.agents), 1+w.rnd.IntN(4)
	w.start("pages of "+agent, func(ctx context.Context) error {
		_, err := w.scroll(ctx, agent, limit)
		return err
	})
}

// sees checks that, of the posts that about selects, an agent's next call on any server shows all
// that are due and no other. Posts with pending jobs of their own may be missing, except the
// agent's own posts and those in before.
func (w *world) sees(agent string, about func(e social.Entry) bool, before []social.Post) error {
	w.advance(timeline.CopyTTL) // the maximal age of a copy of an outbox
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

func one(id string) func(e social.Entry) bool {
	return func(e social.Entry) bool { return e.ID == id }
}

func of(author string) func(e social.Entry) bool {
	return func(e social.Entry) bool { return e.Author == author }
}

// seesCircle checks that a member sees the posts addressed to a circle.
func (w *world) seesCircle(agent, circle string, before []social.Post) error {
	members, err := w.store.Members(w.ctx, circle, "", "", len(w.agents))
	if errors.Is(err, feed.ErrNotFound) {
		return nil
	}
	if err != nil || !slices.Contains(members, agent) {
		return err
	}
	ids := convert.Each(w.posts, func(p social.Post) string { return p.ID })
	statuses, err := w.store.ListStatuses(w.ctx, agent, ids)
	if err != nil {
		return err
	}
	return w.sees(agent, func(e social.Entry) bool {
		at := slices.Index(ids, e.ID)
		// What comes by a follow or a mention may wait for the job of that.
		return at >= 0 && slices.Contains(w.posts[at].Audience.Circles, circle) && statuses[at].Reason == social.Member
	}, before)
}

// compareScroll checks, when the queue is empty, that an agent reads what the store would deliver.
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
