package engine

import (
	"cmp"
	"context"
	"errors"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/errgroup"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/guard"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/timeline"
)

// MaxTimelineLimit bounds a page of a timeline.
const MaxTimelineLimit = 100

// refills is how often a page that lost posts to the truth query or to mutes is filled up.
const refills = 3

// outboxesAtOnce is how many missing outboxes are made for one page, which the store answers.
const outboxesAtOnce = 16

// TimelineRequest asks for a page of an agent's timeline: all posts by whom they follow.
type TimelineRequest struct {
	Agent string
	Below social.Position // what the cursor says; zero: from the newest
	Limit int             // 1 to [MaxTimelineLimit]
}

// TimelinePage is a page of a timeline.
type TimelinePage struct {
	Posts []social.Card // newest first, each visible to the agent
	// Next is the last position examined, for the next page's Below. A page may
	// be short, even empty, and there is more. Zero: nothing was examined.
	Next     social.Position
	HasMore  bool
	Degraded []string // what the answer lacks, as in [Answer]
	// NewReader is that of [Answer], of an empty timeline.
	NewReader bool
}

// TimelineStores are the stores that timelines are read from; all but Kept, Late
// and Behind are required.
type TimelineStores struct {
	Posts    TimelinePosts
	Lists    timeline.Reader // of agents
	Outboxes timeline.Reader // of authors whose posts are pulled
	Builder  ListBuilder
	Profiles catalog.Profiles
	// Kept answers with the lists while Posts cannot be asked; nil: nothing does.
	Kept social.KeptCards
	// Late reports whether the lists lack what was accepted, because they could not
	// be reached: the store answers instead. It must not block; nil: never.
	Late func() bool
	// Behind reports whether the lists lack what was accepted a while ago, because its jobs
	// wait. They answer, and pages say so. It must not block; nil: never.
	Behind func() bool
}

// TimelinePosts is the part of the social store that timelines use.
type TimelinePosts interface {
	social.Cards
	social.Tiles
	// Pull, Newest, Celebrities, Grid and Replies are those of [social.Store].
	Pull(ctx context.Context, q social.PullQuery) ([]social.Entry, error)
	Newest(ctx context.Context, authors []string, below social.Position, n int) ([]social.Entry, error)
	Celebrities(ctx context.Context, reader string) (social.Pulled, error)
	Grid(ctx context.Context, reader, author string, below social.Position, n int) ([]social.Entry, error)
	Replies(ctx context.Context, q social.RepliesQuery) ([]social.Entry, error)
}

// ListBuilder makes lists that do not exist.
type ListBuilder interface {
	// Build makes the agent's list, or waits while it is being built elsewhere, and
	// returns nil when it can be read. Otherwise the store answers instead. Errors
	// wrap [timeline.ErrUnavailable] or [social.ErrUnavailable], or say that the
	// list kept changing. It may be called again.
	Build(ctx context.Context, agent string) error
	// Outbox makes the outboxes of authors, likewise.
	Outbox(ctx context.Context, authors []string) error
}

// Timelines reads timelines. It is safe for concurrent use.
type Timelines struct {
	stores  TimelineStores
	showing Showing // the engine whose home they are a part of; nil: what is shown is not noted
	cfg     Config
	heads   *lru.Cache[string, postHead]
}

// NewTimelines returns a reader of timelines. Of the configuration it uses Log and Begin.
func NewTimelines(stores TimelineStores, cfg Config) *Timelines {
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

// Timeline reads one page. Lists and outboxes only propose ids; what is shown is
// for the social store to say, in one query for the page. Without the lists the
// store proposes too. While the store cannot be asked, the list proposes and what
// is kept of public posts is shown; where that is nothing, it is an error. Errors
// wrap [feed.ErrBadID], [feed.ErrBadLimit] or [social.ErrUnavailable].
func (t *Timelines) Timeline(ctx context.Context, r TimelineRequest) (TimelinePage, error) {
	if err := cmp.Or(feed.CheckLimit(r.Limit, MaxTimelineLimit), social.CheckAgent(r.Agent)); err != nil {
		return TimelinePage{}, err
	}
	read := &timelineRead{t: t, agent: r.Agent}
	ctx = t.cfg.Begin(ctx)
	page, err := read.page(ctx, r)
	if t.stores.Kept != nil && ctx.Err() == nil && errors.Is(err, social.ErrUnavailable) {
		page, err = read.keptPage(ctx, r, err)
	}
	if err != nil {
		return TimelinePage{}, err
	}
	page.NewReader = read.isNew(ctx, &page, r.Below)
	return t.answer(ctx, r.Agent, page, read.lacks)
}

// answer is a page for an agent, or "". What it shows is noted before it leaves.
func (t *Timelines) answer(ctx context.Context, agent string, page TimelinePage, lacks parts) (TimelinePage, error) {
	if t.showing != nil && agent != "" {
		ids := make([]string, 0, len(page.Posts))
		for i := range page.Posts {
			if page.Posts[i].Root == "" { // no feed shows a reply
				ids = append(ids, page.Posts[i].ID)
			}
		}
		noted, err := t.showing.Shown(ctx, agent, ids)
		if err != nil {
			return TimelinePage{}, err
		}
		if !noted {
			lacks |= lacksSession
		}
	}
	page.Degraded = lacks.names()
	countDegraded(lacks)
	return page, nil
}

// timelineRead is the reading of one page.
type timelineRead struct {
	t        *Timelines
	agent    string
	profile  feed.Profile
	unlisted social.Pulled // whom the agent follows and whose posts are pulled
	noLists  bool          // the store proposes
	lacks    parts
	heads    map[string]postHead // of what is proposed to home; nil: contents are read

	refusals *feed.Refusals // of the profile; nil: not asked for yet
}

func (r *timelineRead) page(ctx context.Context, req TimelineRequest) (page TimelinePage, err error) {
	if err := r.about(ctx); err != nil {
		return page, err
	}
	page.Posts, page.Next = []social.Card{}, req.Below
	for range 1 + refills {
		found, more, err := r.propose(ctx, page.Next, req.Limit)
		if err != nil {
			return page, err
		}
		if page.HasMore, err = r.show(ctx, &page, found, req.Limit); err != nil {
			return page, err
		}
		page.HasMore = page.HasMore || more
		if len(page.Posts) == req.Limit || !page.HasMore {
			break
		}
	}
	return page, nil
}

// about reads what every page needs: whose posts are pulled, and the mutes. Those
// are there also after an error of the store.
func (r *timelineRead) about(ctx context.Context) error {
	var group errgroup.Group
	var storeErr error
	group.Go(guard.Func(func() error {
		r.unlisted, storeErr = r.t.stores.Posts.Celebrities(ctx, r.agent)
		return nil
	}))
	group.Go(guard.Func(func() error { return r.readProfile(ctx) }))
	err := group.Wait()
	if err == nil {
		err = storeErr
	}
	return err
}

// readProfile reads the mutes. One that cannot be read is lacking, and none is no error.
func (r *timelineRead) readProfile(ctx context.Context) (err error) {
	r.profile, err = r.t.stores.Profiles.Profile(ctx, r.agent)
	switch {
	case errors.Is(err, feed.ErrNotFound):
		return nil
	case errors.Is(err, catalog.ErrUnavailable):
		r.lacks |= lacksCatalog
		return nil
	}
	return err
}

// show asks the store about the proposed posts and puts those that it shows on
// the page. left says that some were not examined, because the page is full.
func (r *timelineRead) show(ctx context.Context, page *TimelinePage, found []social.Position, limit int) (left bool, err error) {
	if len(found) == 0 {
		return false, nil
	}
	cards, err := r.t.stores.Posts.Cards(ctx, r.agent, each(found, r.known))
	if err != nil {
		return false, err
	}
	return page.put(cards, found, limit, r.shows), nil
}

// put puts the cards that are shown on the page; left: it is full, and some were not examined.
func (p *TimelinePage) put(cards []social.Card, found []social.Position, limit int, shows func(*social.Card, social.Position) bool) (left bool) {
	for i, c := range cards {
		if len(p.Posts) == limit {
			return true
		}
		if p.Next = found[i]; shows(&c, found[i]) {
			p.Posts = append(p.Posts, c)
		}
	}
	return false
}

// shows reports whether the timeline has a proposed post.
func (r *timelineRead) shows(c *social.Card, at social.Position) bool {
	return c.Visible && c.Reason != social.NoReason && c.CreatedAt == at.At && !r.mutes(c)
}

// mutes reports whether the agent's profile refuses a post. Languages do not
// count: nothing is left out but what the reader has muted, and their own never.
func (r *timelineRead) mutes(c *social.Card) bool {
	if c.Author.ID == r.agent || !r.profile.HasMutes() {
		return false
	}
	if r.refusals == nil {
		r.refusals = r.profile.Refusals()
	}
	if r.refusals.Author(c.Author.ID) || r.refusals.Ref(feed.Ref{ID: c.ID, Group: c.ID}) {
		return true
	}
	if len(r.profile.MutedTags) == 0 {
		return false
	}
	_, muted := r.refusals.Tag(r.tags(c))
	return muted
}
