package engine

import (
	"context"
	"errors"
	"hash/maphash"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/freshet/freshet/internal/guard"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/timeline"
)

const (
	// lookLimit bounds one look.
	lookLimit = 10 * time.Second
	// pulledFor is how long it is not asked again whom an agent follows that is
	// pulled. A follow changes the agent's list, which is noticed at once; an author
	// who becomes pulled is pushed, too, for longer than this.
	pulledFor = 30 * time.Second
	// readersAtOnce is how many agents one statement asks about.
	readersAtOnce = 500
	// truthsAtOnce is how many statements the store is asked at once, and how many lists
	// are made, beside the requests that it answers.
	truthsAtOnce = 4
	// askedAtOnce is about how many posts one statement asks about.
	askedAtOnce = 2000
	// lateFor is for how long after its time a post is new to a watch wherever it comes
	// into the timeline: the clock of another server may be behind, ids of one second are
	// in no order, and lists take a moment.
	lateFor = time.Minute
	// buildsALook is how many lists one look makes that have expired meanwhile.
	buildsALook = 64
)

// target is an agent while they are looked at.
type target struct {
	*watched
	watches []*Watch
	list    timeline.Head
	newest  timeline.Position // of all that their timeline is read from
	state   uint64            // of all that it is read from: a hash of the heads
	whole   bool              // nothing that it is read from was left out
}

// seen is the position above which one of the watches has not looked.
func (t *target) seen() timeline.Position {
	least := t.watches[0].seen
	for _, w := range t.watches[1:] {
		if w.seen.Compare(least) < 0 {
			least = w.seen
		}
	}
	return least
}

// round is one look at some agents.
type round struct {
	w       *Watcher
	targets []*target
	public  []social.Entry           // newest public posts, where one of them follows [social.Server]
	authors []string                 // whose outboxes were looked at
	boxes   map[string]timeline.Head // their heads, of those that are ready
	recent  timeline.Position        // the oldest that a post which comes late is told at
}

func (w *Watcher) round(targets []*target) round {
	return round{w: w, targets: targets, recent: timeline.Position{At: w.clock().Add(-lateFor).Unix()}}
}

// Look looks at all watched timelines once and tells what is new. What cannot be
// asked now, the next look asks.
func (w *Watcher) Look(ctx context.Context) {
	w.looking.Lock()
	defer w.looking.Unlock()
	ctx, cancel := context.WithTimeout(w.begin(ctx), lookLimit)
	defer cancel()
	targets := w.targets()
	if len(targets) == 0 {
		return
	}
	err := w.look(ctx, targets)
	switch {
	case err != nil && !w.failed && !errors.Is(err, context.Canceled):
		w.log.WarnContext(ctx, "streams cannot tell what is new; they stay open", "streams_of", len(targets), "error", err)
	case err == nil && w.failed:
		w.log.InfoContext(ctx, "streams tell again what is new")
	}
	w.failed = err != nil
}

func (w *Watcher) targets() []*target {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := make([]*target, 0, len(w.agents))
	for _, a := range w.agents {
		if len(a.watches) > 0 {
			list = append(list, &target{watched: a, watches: slices.Clone(a.watches)})
		}
	}
	return list
}

func (w *Watcher) look(ctx context.Context, targets []*target) error {
	r := w.round(targets)
	if err := r.heads(ctx); err != nil {
		return err
	}
	return r.news(ctx)
}

// first looks for a watch that begins. The agent's other watches are not concerned.
func (w *Watcher) first(ctx context.Context, watch *Watch, since *social.Position) error {
	t := &target{watched: &watched{agent: watch.of.agent}, watches: []*Watch{watch}}
	r := w.round([]*target{t})
	err := r.heads(ctx)
	if since != nil {
		watch.begin(*since)
		if err == nil {
			err = r.news(ctx)
		}
		if err != nil && ctx.Err() == nil {
			err = nil // the next look
		}
		return err
	}
	if err != nil || !t.whole {
		list, err := w.stores.Posts.Pull(ctx, social.PullQuery{Reader: t.agent, N: 1, Whole: true})
		if err != nil {
			return err
		}
		if len(list) > 0 {
			t.newest = list[0].Position
		}
	}
	watch.begin(t.newest)
	if err == nil {
		err = r.news(ctx)
	}
	if err != nil && ctx.Err() != nil {
		return err
	}
	return nil // the next look
}

// begin has a watch begin after a position.
func (w *Watch) begin(at social.Position) {
	w.start, w.seen, w.told, w.begins = at, at, at, true
}

// heads looks at all that the timelines are read from.
func (r *round) heads(ctx context.Context) error {
	if err := r.lists(ctx); err != nil {
		return err
	}
	if err := r.build(ctx); err != nil {
		return err
	}
	if err := r.follows(ctx); err != nil {
		return err
	}
	if err := r.outboxes(ctx); err != nil {
		return err
	}
	if slices.ContainsFunc(r.targets, func(t *target) bool { return t.pulled.Server }) {
		var err error
		if r.public, err = r.w.stores.Posts.NewestPublic(ctx, MostNew); err != nil {
			return err
		}
	}
	public := maphash.Comparable(r.w.seed, len(r.public))
	for _, e := range r.public {
		public ^= maphash.Comparable(r.w.seed, e.Position)
	}
	for _, t := range r.targets {
		r.top(t, public)
	}
	return nil
}

// top takes the newest and the state of what a timeline is read from; public is the state
// of the public posts.
func (r *round) top(t *target, public uint64) {
	t.whole = t.list.State == timeline.Ready
	t.newest = t.list.Newest
	t.state = maphash.Comparable(r.w.seed, t.list)
	for _, author := range t.pulled.Authors {
		box, ok := r.boxes[author]
		t.whole = t.whole && ok
		t.newest = later(t.newest, box.Newest)
		t.state = maphash.Comparable(r.w.seed, [2]uint64{t.state, maphash.Comparable(r.w.seed, box)})
	}
	if t.pulled.Server && len(r.public) > 0 {
		t.newest = later(t.newest, r.public[0].Position)
		t.state ^= public
	}
}

func later(a, b timeline.Position) timeline.Position {
	if b.Compare(a) > 0 {
		return b
	}
	return a
}

func (r *round) lists(ctx context.Context) error {
	heads, err := r.w.stores.Lists.Heads(ctx, agentsOf(r.targets))
	if err != nil {
		return err
	}
	for i, t := range r.targets {
		t.list = heads[i]
	}
	return nil
}

// build makes the lists that do not exist, because nothing is pushed into those. It
// does not wait for those that are being built.
func (r *round) build(ctx context.Context) error {
	var missing []*target
	for _, t := range r.targets {
		if t.list.State == timeline.None && len(missing) < buildsALook {
			missing = append(missing, t)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	var g errgroup.Group
	g.SetLimit(truthsAtOnce)
	for _, t := range missing {
		g.Go(guard.Func(func() error {
			err := r.w.stores.Builder.Build(ctx, t.agent)
			if errors.Is(err, timeline.ErrUnavailable) || errors.Is(err, social.ErrUnavailable) || ctx.Err() != nil {
				return err
			}
			return nil // it is not ready, which its head says
		}))
	}
	if err := g.Wait(); err != nil {
		return err
	}
	built := round{w: r.w, targets: missing}
	return built.lists(ctx)
}

// follows asks whom agents follow that is pulled, where that may have changed.
func (r *round) follows(ctx context.Context) error {
	now := r.w.clock()
	var old []*target
	for _, t := range r.targets {
		if t.read.IsZero() || t.version != t.list.Version || now.Sub(t.read) >= pulledFor {
			old = append(old, t)
		}
	}
	for some := range slices.Chunk(old, readersAtOnce) {
		pulled, err := r.w.stores.Posts.CelebritiesOf(ctx, agentsOf(some))
		if err != nil {
			return err
		}
		for i, t := range some {
			t.pulled, t.version, t.read = pulled[i], t.list.Version, now
		}
	}
	return nil
}

// outboxes looks at the outboxes of all authors that are pulled, each once, and
// has those made that do not exist.
func (r *round) outboxes(ctx context.Context) error {
	for _, t := range r.targets {
		r.authors = append(r.authors, t.pulled.Authors...)
	}
	slices.Sort(r.authors)
	r.authors = slices.Compact(r.authors)
	r.boxes = make(map[string]timeline.Head, len(r.authors))
	if len(r.authors) == 0 {
		return nil
	}
	heads, err := r.w.stores.Outboxes.Heads(ctx, r.authors)
	if err != nil {
		return err
	}
	var missing []string
	for i, h := range heads {
		if h.State == timeline.Ready {
			r.boxes[r.authors[i]] = h
		} else if len(missing) < outboxesAtOnce {
			missing = append(missing, r.authors[i])
		}
	}
	if len(missing) == 0 {
		return nil
	}
	if err := r.w.stores.Builder.Outbox(ctx, missing); err != nil {
		r.w.log.DebugContext(ctx, "outboxes cannot be built; the next look tries again", "error", err)
	}
	return ctx.Err()
}

func agentsOf(targets []*target) []string {
	names := make([]string, len(targets))
	for i, t := range targets {
		names[i] = t.agent
	}
	return names
}
