// Package timeline reads the timelines of agents, the pages of authors and groups, and replies, and
// watches timelines for news. Lists only propose posts; the social store decides what a reader sees.
package timeline

import (
	"cmp"
	"context"
	"errors"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/errgroup"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/engine/degraded"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/internal/safego"
	"github.com/freshet/freshet/social"
	lists "github.com/freshet/freshet/social/timeline"
)

// MaxLimit bounds a page of a timeline.
const MaxLimit = 100

const (
	// refills is how often a page that lost posts to the visibility query or to mutes is topped up.
	// One that has no post at all is topped up until mostExamined posts were examined: a reader who
	// scrolls meets no empty page, however much somebody whom they mute has written.
	refills      = 3
	mostExamined = 10_000
	// largestRefill is the maximum number of posts that one refill examines. Each examines twice as
	// many as the one before.
	largestRefill = 400
)

// outboxesAtOnce is how many missing outboxes are built for one page, which the store answers.
const outboxesAtOnce = 16

// Request asks for a page of an agent's timeline: all posts of the authors they follow.
type Request struct {
	Agent string
	Below social.Position // position of the cursor; zero means from the newest
	Limit int             // 1 to [MaxLimit]
}

// Page is a page of a timeline.
type Page struct {
	Posts []social.Card // newest first, each visible to the agent
	// Next is the position for the next page's Below: of the last post examined that the agent may
	// see, or one that names no post. A page may be short, even empty, although there is more. Zero
	// means that no such post was examined, and there is no more.
	Next     social.Position
	HasMore  bool
	Degraded []string // the missing parts, as in the engine's Answer
	// NewReader is as in the engine's Answer, for an empty timeline.
	NewReader bool

	strangers *strangers // spaces their mentions while the page is filled; nil means that it does not
}

// Stores are the stores that timelines are read from; all but CachedCards, Incomplete,
// Notifications and QueueBehind are required.
type Stores struct {
	Posts    Posts
	Lists    lists.Reader // of agents
	Outboxes lists.Reader // of authors whose posts are pulled
	Builder  ListBuilder
	Profiles catalog.Profiles
	// CachedCards answers with the lists while Posts is unavailable. Nil disables this.
	CachedCards social.CachedCards
	// Incomplete reports whether the lists lack accepted changes because they could not be reached: the
	// store answers instead. It must not block. Nil means never.
	Incomplete func() bool
	// Notifications are those of agents; required by [Timelines.Notifications] alone.
	Notifications social.Notifications
	// QueueBehind reports whether the lists lack changes accepted a while ago because their jobs are
	// waiting. The lists still answer, and pages say so. It must not block. Nil means never.
	QueueBehind func() bool
}

// Posts is the part of the social store that timelines use.
type Posts interface {
	social.Cards
	// Pull, Newest, Celebrities, Grid, CirclePosts, Liked and Replies are those of [social.Store].
	Pull(ctx context.Context, q social.PullQuery) ([]social.Entry, error)
	Newest(ctx context.Context, authors []string, below social.Position, n int) ([]social.Entry, error)
	Celebrities(ctx context.Context, reader string) (social.Pulled, error)
	Grid(ctx context.Context, reader, author string, below social.Position, n int) ([]social.Entry, error)
	CirclePosts(ctx context.Context, reader, circle string, below social.Position, n int) ([]social.Entry, error)
	Liked(ctx context.Context, agent string, below social.Position, n int) ([]social.Entry, error)
	Replies(ctx context.Context, q social.RepliesQuery) ([]social.Entry, error)
}

// ListBuilder builds missing lists.
type ListBuilder interface {
	// Build builds the agent's list, or waits while it is being built elsewhere, and returns nil
	// when it can be read. Otherwise the store answers instead. Errors wrap
	// [lists.ErrUnavailable] or [social.ErrUnavailable], or report that the list kept
	// changing. It may be called again.
	Build(ctx context.Context, agent string) error
	// Outbox builds the outboxes of authors in the same way.
	Outbox(ctx context.Context, authors []string) error
}

// Timelines reads timelines. It is safe for concurrent use.
type Timelines struct {
	stores  Stores
	showing Showing // the engine whose home uses them; nil means shown posts are not recorded
	cfg     Config
	heads   *lru.Cache[string, postHead]
}

// New returns a reader of timelines. Of the configuration it uses Log and Begin.
func New(stores Stores, cfg Config) *Timelines {
	heads, _ := lru.New[string, postHead](rememberedHeads) // fails only for a size that is not positive
	return &Timelines{stores: stores, cfg: cfg.withDefaults(), heads: heads}
}

// Warm builds the agent's list, so that their first page does not wait for it. Errors are those
// of [ListBuilder], or wrap [feed.ErrBadID].
func (t *Timelines) Warm(ctx context.Context, agent string) error {
	if err := social.CheckAgent(agent); err != nil {
		return err
	}
	return t.stores.Builder.Build(t.cfg.Begin(ctx), agent)
}

// Timeline reads one page. Lists and outboxes only propose ids; the social store decides, in one
// query for the page, which are shown. Without the lists the store proposes too. While the store
// is unavailable, the list proposes and cached public posts are shown; if there are none, it is
// an error. Errors wrap [feed.ErrBadID], [feed.ErrBadLimit] or [social.ErrUnavailable].
func (t *Timelines) Timeline(ctx context.Context, r Request) (Page, error) {
	if err := cmp.Or(feed.CheckLimit(r.Limit, MaxLimit), social.CheckAgent(r.Agent)); err != nil {
		return Page{}, err
	}
	read := &pageRead{t: t, agent: r.Agent}
	ctx = t.cfg.Begin(ctx)
	page, err := read.page(ctx, r)
	if errors.Is(err, social.ErrUnavailable) {
		page, err = read.keptPage(ctx, r, err)
	}
	if err != nil {
		return Page{}, err
	}
	page.NewReader = read.isNew(ctx, &page, r.Below)
	return t.answer(ctx, r.Agent, page, read.missing)
}

// answer completes a page for an agent, or "". It records the posts as shown before it returns.
func (t *Timelines) answer(ctx context.Context, agent string, page Page, missing degraded.Parts) (Page, error) {
	if t.showing != nil && agent != "" {
		ids := make([]string, 0, len(page.Posts))
		for i := range page.Posts {
			if page.Posts[i].Root == "" { // no feed shows a reply
				ids = append(ids, page.Posts[i].ID)
			}
		}
		noted, err := t.showing.Shown(ctx, agent, ids)
		if err != nil {
			return Page{}, err
		}
		if !noted {
			missing |= degraded.Session
		}
	}
	page.Degraded = missing.Names()
	missing.Count()
	return page, nil
}

// pageRead holds the state of reading one page.
type pageRead struct {
	t        *Timelines
	agent    string
	profile  feed.Profile
	unlisted social.Pulled // the followed authors whose posts are pulled
	noLists  bool          // the store proposes instead
	missing  degraded.Parts
	heads    map[string]postHead // of posts proposed to home; nil means contents are read

	refusals *feed.Refusals // of the profile; nil until first used
}

func (r *pageRead) page(ctx context.Context, req Request) (page Page, err error) {
	ctx = social.BeginRead(ctx)
	if err := r.about(ctx); err != nil {
		return page, err
	}
	page.strangers = newStrangers(req.Limit)
	err = r.fill(ctx, &page, pageSource{from: req.Below, limit: req.Limit, next: r.propose, shows: r.shows})
	page.strangers.finish(&page, req.Limit)
	page.strangers = nil
	return page, err
}

// pageSource is what a page is filled from.
type pageSource struct {
	from      social.Position // of the cursor; zero means the beginning
	limit     int
	ascending bool // the oldest first
	// next returns the next n positions after another one. more reports that there are more.
	next  func(ctx context.Context, after social.Position, n int) (found []social.Position, more bool, err error)
	shows func(*social.Card, social.Position) bool
}

// fill fills a page from a source, and tops it up.
func (r *pageRead) fill(ctx context.Context, page *Page, from pageSource) error {
	page.Posts = []social.Card{}
	at, n, examined := from.from, from.limit, 0
	for tries := 0; ; tries++ {
		found, more, err := from.next(ctx, at, n)
		if err != nil {
			return err
		}
		left, err := r.show(ctx, page, found, from.limit, from.shows)
		if err != nil {
			return err
		}
		page.HasMore = left || more
		if page.full(from.limit) || !page.HasMore {
			return nil
		}
		at, examined = found[len(found)-1], examined+len(found)
		enough := examined >= mostExamined || tries >= refills && len(page.Posts) > 0
		if enough && page.passed(from.from, at, !from.ascending) {
			return nil
		}
		n = min(2*n, max(largestRefill, from.limit))
	}
}

// passed makes the next page begin after the last position examined, at, or as little before as
// names no post: the agent may not see the posts since the request's cursor, from. It returns
// false if no such position is after from.
func (p *Page) passed(from, at social.Position, descending bool) bool {
	if !p.Next.Zero() {
		return true
	}
	next := at.Before(descending)
	moves := next.Compare(from) > 0
	if descending {
		moves = next.Below(from)
	}
	if moves || from.Zero() {
		p.Next = next
		return true
	}
	return false
}

// about reads the inputs of every page: the authors whose posts are pulled, and the mutes. The
// mutes are read even if the store fails.
func (r *pageRead) about(ctx context.Context) error {
	var group errgroup.Group
	var storeErr error
	group.Go(safego.Func(func() error {
		r.unlisted, storeErr = r.t.stores.Posts.Celebrities(ctx, r.agent)
		return nil
	}))
	group.Go(safego.Func(func() error { return r.readProfile(ctx) }))
	err := group.Wait()
	if err == nil {
		err = storeErr
	}
	return err
}

// readProfile reads the mutes. Without a profile there are none; if it is unreadable, the page is
// degraded.
func (r *pageRead) readProfile(ctx context.Context) (err error) {
	r.profile, err = r.t.stores.Profiles.Profile(ctx, r.agent)
	switch {
	case errors.Is(err, feed.ErrNotFound):
		return nil
	case errors.Is(err, catalog.ErrUnavailable):
		r.missing |= degraded.Catalog
		return nil
	}
	return err
}

// show queries the store for the proposed posts and puts those to show on the page. left reports
// that some were not examined, because the page is full.
func (r *pageRead) show(ctx context.Context, page *Page, found []social.Position, limit int, shows func(*social.Card, social.Position) bool) (left bool, err error) {
	if len(found) == 0 {
		return false, nil
	}
	cards, err := r.t.stores.Posts.Cards(ctx, r.agent, convert.Each(found, r.known))
	if err != nil {
		return false, err
	}
	return page.put(cards, found, limit, shows), nil
}

// put puts the cards to show on the page. left reports that it is full and some were not
// examined. A cursor names only what the agent may see: not a post that was deleted, or hidden from
// them, since it was proposed.
func (p *Page) put(cards []social.Card, found []social.Position, limit int, shows func(*social.Card, social.Position) bool) (left bool) {
	for i, c := range cards {
		if p.full(limit) {
			return true
		}
		if c.Visible {
			p.Next = found[i]
		}
		switch {
		case !shows(&c, found[i]):
		case p.strangers != nil:
			p.strangers.add(p, c)
		default:
			p.Posts = append(p.Posts, c)
		}
	}
	return false
}

// full reports whether every position of the page is taken.
func (p *Page) full(limit int) bool {
	if p.strangers != nil {
		limit -= len(p.strangers.held)
	}
	return len(p.Posts) >= limit
}

// shows reports whether the timeline shows a proposed post.
func (r *pageRead) shows(c *social.Card, at social.Position) bool {
	return c.Reason != social.NoReason && asProposed(c, at) && !r.mutes(c)
}

// asProposed reports whether the reader may see a post that has the time at which a list proposed
// it: one that was created again is proposed again.
func asProposed(c *social.Card, at social.Position) bool { return c.Visible && c.CreatedAt == at.At }

// mutes reports whether the agent's profile mutes a post. Languages do not count: only what the
// reader has muted is left out, and never their own posts.
func (r *pageRead) mutes(c *social.Card) bool {
	if c.Author.ID == r.agent || !r.profile.HasMutes() {
		return false
	}
	if r.refusals == nil {
		r.refusals = r.profile.Refusals()
	}
	if r.refusals.Author(c.Author.ID) || r.refusals.Ref(feed.Ref{ID: c.ID, Group: c.ID}) {
		return true
	}
	if len(r.profile.MutedTags) > 0 {
		_, muted := r.refusals.Tag(r.tags(c))
		if muted {
			return true
		}
	}
	if len(r.profile.MutedWords) == 0 {
		return false
	}
	_, muted := r.refusals.Word(c.Texts())
	return muted
}
