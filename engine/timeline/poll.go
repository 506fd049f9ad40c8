package timeline

import (
	"context"
	"errors"
	"hash/maphash"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/internal/safego"
	"github.com/freshet/freshet/social"
	lists "github.com/freshet/freshet/social/timeline"
)

const (
	// checkTimeout is the timeout of one check.
	checkTimeout = 10 * time.Second
	// pulledFor is how long the followed authors that are pulled are cached for an agent. A
	// follow changes the agent's list, which is noticed at once; posts of an author who becomes
	// pulled are also pushed, for longer than this.
	pulledFor = 30 * time.Second
	// readersAtOnce is how many agents one statement queries.
	readersAtOnce = 500
	// storeCallsAtOnce is how many statements run at the store concurrently, and how many lists are
	// built, in addition to the requests that it serves.
	storeCallsAtOnce = 4
	// postsPerQuery is about how many posts one statement queries.
	postsPerQuery = 2000
	// orderFor is how long after its date a post that arrived in time is new to a watch at any
	// position in the timeline: it arrives [social.LateAfter] after its date at most, ids of one
	// second have no order, and lists lag a moment.
	orderFor = 2 * social.LateAfter
	// aheadMost is how far in the future a point may be: the clocks of servers differ less.
	aheadMost = 5 * time.Minute
	// buildsPerCheck is how many expired lists one check rebuilds.
	buildsPerCheck = 64
)

// round is one check of some timelines.
type round struct {
	w       *Watcher
	watches []*Watch
	public  []social.Entry        // newest public posts, if a watch's agent follows [social.Server]
	authors []string              // authors whose outboxes were checked
	boxes   map[string]lists.Head // their heads, if ready
	recent  lists.Position        // minimum position at which a post out of order is reported
	now     time.Time
	late    lateWindow
	// byPosition means that late posts are reported by their positions, up to the arrival at which the
	// watch begins.
	byPosition bool
}

// round begins a check of some watches. It goes by the clock of the store, if that was read.
func (w *Watcher) round(watches []*Watch, late lateWindow) round {
	r := round{w: w, watches: watches, now: w.cfg.Clock(), late: late}
	at := r.now
	if r.late.upTo > 0 {
		at = time.UnixMicro(r.late.upTo)
	}
	r.recent = lists.Position{At: at.Add(-orderFor).Unix()}
	return r
}

// Poll checks all watched timelines once and reports new posts. A later check covers stores that
// are unavailable now.
func (w *Watcher) Poll(ctx context.Context) {
	w.checking.Lock()
	defer w.checking.Unlock()
	ctx, cancel := context.WithTimeout(w.cfg.Begin(ctx), checkTimeout)
	defer cancel()
	watches := w.all()
	if len(watches) == 0 {
		return
	}
	r := w.round(watches, w.readLate(ctx))
	err := w.check(ctx, r.heads, r.news, r.lateNews, r.inboxes)
	if err == nil {
		w.resetPulled(&r)
	}
}

// check runs the steps of a check. Only one check runs at a time.
func (w *Watcher) check(ctx context.Context, steps ...func(context.Context) error) (err error) {
	for _, step := range steps {
		err = step(ctx)
		if err != nil {
			break
		}
	}
	switch {
	case err != nil && !w.failed && !errors.Is(err, context.Canceled):
		w.cfg.Log.WarnContext(ctx, "streams cannot report new posts; they stay open", "streams", w.count(), "error", err)
	case err == nil && w.failed:
		w.cfg.Log.InfoContext(ctx, "streams report new posts again")
	}
	w.failed = err != nil
	return err
}

// firstCheck checks for a watch that begins. A later check covers stores that are unavailable now.
func (w *Watcher) firstCheck(ctx context.Context, watch *Watch, since *Point) error {
	r := w.round([]*Watch{watch}, w.readLate(ctx))
	err := r.heads(ctx)
	if since != nil {
		since = r.reachable(watch, *since)
	}
	if since == nil {
		if err != nil || !watch.whole {
			list, err := w.stores.Posts.Pull(ctx, social.PullQuery{Reader: watch.agent, N: 1, Whole: true})
			if err != nil {
				return err
			}
			if len(list) > 0 {
				watch.newest = list[0].Position
			}
		}
		watch.seen = watch.newest
		watch.start = Point{w.named(ctx, watch.agent, watch.newest), r.late.upTo}
	} else {
		watch.seen, watch.start = since.Position, *since
		watch.resumes, r.byPosition = since.Arrived > 0, since.Arrived == 0
		if r.byPosition {
			watch.start.Arrived = r.late.upTo
		}
	}
	watch.reported, watch.arrived, watch.begins = watch.start.Position, watch.start.Arrived, true
	if err == nil {
		err = r.news(ctx)
	}
	if err == nil && watch.resumes {
		err = r.resume(ctx, watch)
	}
	if err == nil {
		err = r.inboxes(ctx)
	}
	if err != nil && ctx.Err() != nil {
		return err
	}
	return nil
}

// reachable returns a point without what lies in the future, as the point of another deployment, or of
// a clock that was ahead, may: nothing would be new for as long. Nil is the present head.
func (r *round) reachable(w *Watch, p Point) *Point {
	future := r.now
	if r.late.upTo > 0 {
		future = time.UnixMicro(r.late.upTo)
	}
	future = future.Add(aheadMost)
	if p.Arrived > future.UnixMicro() {
		p.Arrived = 0
	}
	if p.Position.At > future.Unix() && p.Position.Compare(w.newest) > 0 {
		return nil
	}
	return &p
}

// named returns the head of an agent's timeline if the agent may see that post, and otherwise a
// position shortly before that names no post. Lists may still have a post that was deleted, or
// hidden from the agent.
func (w *Watcher) named(ctx context.Context, agent string, head social.Position) social.Position {
	if head.Zero() {
		return head
	}
	cards, err := w.stores.Posts.CardsOf(ctx, []social.Asked{{Reader: agent, ID: head.ID}})
	if err != nil || !cards[0].Visible {
		return head.Before(false)
	}
	return head
}

// heads reads the heads of all sources of the timelines.
func (r *round) heads(ctx context.Context) error {
	for _, step := range []func(context.Context) error{r.lists, r.build, r.follows, r.outboxes} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if r.pullsServer() {
		var err error
		if r.public, err = r.w.stores.Posts.NewestPublic(ctx, MostNew); err != nil {
			return err
		}
	}
	public := maphash.Comparable(r.w.seed, len(r.public))
	for _, e := range r.public {
		public ^= maphash.Comparable(r.w.seed, e.Position)
	}
	for _, w := range r.watches {
		r.top(w, public)
	}
	return nil
}

// pullsServer reports whether the agent of a watch follows [social.Server].
func (r *round) pullsServer() bool {
	return slices.ContainsFunc(r.watches, func(w *Watch) bool { return w.pulled.Server })
}

// top sets the newest position and the state of a timeline from its sources; public is the state
// of the public posts.
func (r *round) top(w *Watch, public uint64) {
	before := w.state
	w.whole = w.list.State == lists.Ready
	w.newest = w.list.Newest
	w.state = maphash.Comparable(r.w.seed, w.list)
	for _, author := range w.pulled.Authors {
		box, ok := r.boxes[author]
		w.whole = w.whole && ok
		w.newest = later(w.newest, box.Newest)
		w.state = maphash.Comparable(r.w.seed, [2]uint64{w.state, maphash.Comparable(r.w.seed, box)})
	}
	if w.pulled.Server && len(r.public) > 0 {
		w.newest = later(w.newest, r.public[0].Position)
		w.state ^= public
	}
	if w.state != before {
		w.changed = r.now
	}
}

func later(a, b lists.Position) lists.Position {
	if b.Compare(a) > 0 {
		return b
	}
	return a
}

func (r *round) lists(ctx context.Context) error {
	heads, err := r.w.stores.Lists.Heads(ctx, agentsOf(r.watches))
	if err != nil {
		return err
	}
	for i, w := range r.watches {
		w.list = heads[i]
	}
	return nil
}

// build builds the missing lists, because nothing is pushed into those. It does not wait for
// lists that are already being built.
func (r *round) build(ctx context.Context) error {
	var missing []*Watch
	for _, w := range r.watches {
		if w.list.State == lists.None && len(missing) < buildsPerCheck {
			missing = append(missing, w)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	var g errgroup.Group
	g.SetLimit(storeCallsAtOnce)
	for _, w := range missing {
		g.Go(safego.Func(func() error {
			err := r.w.stores.Builder.Build(ctx, w.agent)
			if errors.Is(err, lists.ErrUnavailable) || errors.Is(err, social.ErrUnavailable) || ctx.Err() != nil {
				return err
			}
			return nil // the list is not ready, which its head shows
		}))
	}
	if err := g.Wait(); err != nil {
		return err
	}
	built := round{w: r.w, watches: missing}
	return built.lists(ctx)
}

// follows reads the followed authors that are pulled, for agents for whom they may have changed.
func (r *round) follows(ctx context.Context) error {
	now := r.w.cfg.Clock()
	var old []*Watch
	for _, w := range r.watches {
		if w.read.IsZero() || w.version != w.list.Version || now.Sub(w.read) >= pulledFor {
			old = append(old, w)
		}
	}
	for some := range slices.Chunk(old, readersAtOnce) {
		pulled, err := r.w.stores.Posts.CelebritiesOf(ctx, agentsOf(some))
		if err != nil {
			return err
		}
		for i, w := range some {
			w.pulled, w.version, w.read = pulled[i], w.list.Version, now
		}
		r.w.addPulled(pulled)
	}
	return nil
}

// outboxes reads the heads of the outboxes of all pulled authors, each once, and has missing ones
// built.
func (r *round) outboxes(ctx context.Context) error {
	for _, w := range r.watches {
		r.authors = append(r.authors, w.pulled.Authors...)
	}
	slices.Sort(r.authors)
	r.authors = slices.Compact(r.authors)
	r.boxes = make(map[string]lists.Head, len(r.authors))
	if len(r.authors) == 0 {
		return nil
	}
	heads, err := r.w.stores.Outboxes.Heads(ctx, r.authors)
	if err != nil {
		return err
	}
	var missing []string
	for i, h := range heads {
		if h.State == lists.Ready {
			r.boxes[r.authors[i]] = h
		} else if len(missing) < outboxesAtOnce {
			missing = append(missing, r.authors[i])
		}
	}
	if len(missing) == 0 {
		return nil
	}
	if err := r.w.stores.Builder.Outbox(ctx, missing); err != nil {
		r.w.cfg.Log.DebugContext(ctx, "cannot build outboxes; the next check retries", "error", err)
	}
	return ctx.Err()
}

func agentsOf(watches []*Watch) []string {
	return convert.Each(watches, func(w *Watch) string { return w.agent })
}
