package fanout

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	timelines "github.com/freshet/freshet/engine/timeline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/timeline"
	timelineredis "github.com/freshet/freshet/social/timeline/redis"
)

var (
	seedFlag  = flag.Uint64("fanout.seed", 1, "first seed of the random schedules; 0: by the clock, to find something new")
	seedsFlag = flag.Int("fanout.seeds", 0, "how many random schedules run; 0: as many as the test says")
)

// TestModel runs random schedules of two servers over one store. Agents post, edit, delete, reply,
// follow, block, and change circles and groups. Readers build lists and scroll. Workers die, lose
// their lease and continue, or cannot reach the lists. Lists are evicted or expire, authors become
// celebrities and cease to be, and time passes. Between any two calls of one process, the others
// can run. At any time a page shows only posts that its reader may see, and none twice, and an
// agent sees its own change in the next call, on either server. When the queue is empty, every list
// must have exactly what the store would deliver above the list's floor, and so must pages.
//
// A failure reports its seed: to repeat it, run with -fanout.seed and -fanout.seeds 1.
func TestModel(t *testing.T) { model(t, inMemory, testenv.Schedules(100)) }

// TestModelOnRedis is TestModel with the lists in Redis.
func TestModelOnRedis(t *testing.T) {
	testenv.Redis(t) // skips the test without Redis
	model(t, func(t *testing.T, clock feed.Clock) (lists, outboxes timeline.Lists) {
		client, prefix := testenv.Redis(t)
		cfg := timelineredis.Config{KeyPrefix: prefix, Clock: clock}
		cfg.Cap = testCap
		lists = timelineredis.NewTimelines(client, cfg)
		cfg.Cap = testOutboxCap
		return lists, timelineredis.NewOutboxes(client, cfg)
	}, testenv.Schedules(15))
}

// modelStores is the number of stores among which the schedules of a model are divided; they run in
// parallel.
const modelStores = 4

func model(t *testing.T, open openLists, schedules int) {
	t.Helper()
	t.Parallel()
	first := *seedFlag
	if *seedsFlag > 0 {
		schedules = *seedsFlag
	}
	if first == 0 {
		first = uint64(time.Now().UnixNano())
	}
	t.Logf("%d schedules from seed %d", schedules, first)
	for store := range min(modelStores, schedules) {
		t.Run(fmt.Sprint("store ", store), func(t *testing.T) {
			t.Parallel()
			e := openEnv(t, open)
			for i := store; i < schedules; i += modelStores {
				w := newWorld(e, first+uint64(i))
				if err := w.run(); err != nil {
					t.Fatalf("seed %d: %v after\n%s", first+uint64(i), err, strings.Join(w.log, "\n"))
				}
			}
		})
	}
}

type world struct {
	*env
	timelines []*timelines.Timelines // of the servers a and b
	rnd       *rand.Rand
	agents    []string
	circles   []social.Circle
	posts     []social.Post
	procs     []*process
	log       []string
	serial    int
	last      map[[2]string]int // the serial of the last change between two agents
	all       int               // the number of changes of many agents
	erased    map[string]bool
	failed    error
}

func newWorld(e *env, seed uint64) *world {
	w := &world{env: e, rnd: rand.New(rand.NewPCG(seed, 7)), last: map[[2]string]int{}, erased: map[string]bool{}}
	w.timelines = []*timelines.Timelines{w.newTimelines(e.a), w.newTimelines(e.b)}
	for i := range 6 {
		w.agents = append(w.agents, fmt.Sprintf("m%d_%d", seed, i))
	}
	for i, terms := range []social.CircleTerms{{}, {Kind: social.KindGroup}, {Kind: social.KindEvent, History: social.HistoryAll}} {
		c := social.Circle{ID: fmt.Sprintf("c%d_%d", seed, i), Owner: w.agents[i%2], CircleTerms: terms}
		if terms.Kind == social.KindEvent {
			c.Until = e.clock().Add(time.Duration(w.rnd.IntN(60)) * time.Minute).Unix()
		}
		w.circles = append(w.circles, c)
	}
	return w
}

// network prepares a part: many agents follow many, and have lists.
func (w *world) network() {
	for _, agent := range w.agents {
		for _, author := range w.agents[:2] {
			if agent != author && w.rnd.IntN(3) > 0 {
				_, _ = w.store.Follow(w.ctx, agent, author, zero)
			}
		}
		if w.rnd.IntN(4) > 0 {
			_ = w.a.timelines.run(w.ctx, agent)
		}
	}
	for _, c := range w.circles {
		_, _ = w.store.PutCircle(w.ctx, c, nil, zero)
	}
}

type action struct {
	weight int
	run    func()
}

// run has two parts, each with its own mixture of actions. After each part all processes and jobs
// complete.
func (w *world) run() error {
	for range 2 {
		w.network()
		actions := w.actions()
		for range 100 + w.rnd.IntN(200) {
			w.step(actions)
			if w.failed != nil {
				return w.failed
			}
		}
		if err := w.settle(); err != nil {
			return err
		}
	}
	w.advance(jobs.CompletedTTL + time.Minute)
	_, err := w.store.Sweep(w.ctx, 10_000)
	return errors.Join(err, w.lists.Drop(w.ctx, w.agents), w.outboxes.Drop(w.ctx, w.agents))
}

func (w *world) actions() []action {
	all := []action{
		{12, w.publish},
		{3, w.reply},
		{5, w.remove},
		{2, w.edit},
		{12, w.follow},
		{3, w.block},
		{6, w.member},
		{1, w.circle},
		{20, w.reader},
		{6, w.outboxReader},
		{12, w.pages},
		{30, w.worker},
		{3, w.kill},
		{1, w.vanish},
		{4, w.pass},
		{2, w.crossing},
	}
	for i := range all {
		all[i].weight *= w.rnd.IntN(3)
	}
	if w.rnd.IntN(8) == 0 {
		all = append(all, action{1, w.erase})
	}
	return append(all, action{100, w.proceed})
}

func (w *world) step(actions []action) {
	if len(w.procs) > 7 {
		w.proceed()
		return
	}
	sum := 0
	for _, a := range actions {
		sum += a.weight
	}
	n := w.rnd.IntN(sum)
	for _, a := range actions {
		if n -= a.weight; n < 0 {
			a.run()
			return
		}
	}
}

func (w *world) note(format string, args ...any) { w.log = append(w.log, fmt.Sprintf(format, args...)) }

func pick[T any](w *world, list []T) T { return list[w.rnd.IntN(len(list))] }

func (w *world) server() *Fanout { return pick(w, []*Fanout{w.a, w.b}) }

// start begins a process, which may only fail with an expected error.
func (w *world) start(name string, body func(ctx context.Context) error) {
	w.startChange(change{name: name, do: func(ctx context.Context) (bool, error) { return false, body(ctx) }})
}

// change is an action of one agent that affects what another receives.
type change struct {
	name string
	pair [2]string
	do   func(ctx context.Context) (changed bool, err error)
	// look checks the result. It gets the posts that must all be shown although their own jobs are
	// pending: those from before the change, or none if nothing changed.
	look func(before []social.Post) error
}

// startChange begins a change. If it succeeded and the lists could be reached, look mostly runs
// right after it, unless another change of the same pair began meanwhile.
func (w *world) startChange(c change) {
	w.serial++
	w.last[c.pair], w.last[[2]string{c.pair[1], c.pair[0]}] = w.serial, w.serial
	serial, all, before := w.serial, w.all, w.posts
	var changed, answered bool
	w.late = false
	p := newProcess(w.ctx, fmt.Sprint(w.serial, " ", c.name), func(ctx context.Context) {
		var err error
		changed, err = c.do(ctx)
		if answered = err == nil; !answered && !expected(err) {
			w.failed = fmt.Errorf("%s: %w", c.name, err)
		}
	})
	p.patience, p.late = w.rnd.Float64(), w.late
	p.look = func() error {
		if c.look == nil || !answered || p.dead || p.late || w.last[c.pair] != serial || w.all != all || w.rnd.IntN(4) == 0 {
			return nil
		}
		if changed {
			return c.look(before)
		}
		if w.waits(c.pair) { // of another change, whose process may be dead
			return nil
		}
		return c.look(nil)
	}
	w.note("%s begins", p.name)
	w.procs = append(w.procs, p)
	w.reap(len(w.procs) - 1)
}

// waits reports whether jobs for the lists of two agents are open.
func (w *world) waits(pair [2]string) bool {
	for r := range w.open() {
		if r.kind != jobs.AuthorAgent && r.kind != jobs.Member {
			continue
		}
		if _, agent, err := jobs.SplitPair(r.key); err == nil && slices.Contains(pair[:], agent) {
			return true
		}
	}
	return false
}

func expected(err error) bool {
	return slices.ContainsFunc([]error{
		errKilled, feed.ErrNotFound, feed.ErrForbidden, feed.ErrRule, timeline.ErrUnavailable,
		jobs.ErrWait, errBuilding,
	}, func(ok error) bool { return errors.Is(err, ok) })
}

// proceed lets one process make a step: mostly the one with the least patience, so that some are
// suspended for a long time.
func (w *world) proceed() {
	if len(w.procs) == 0 {
		return
	}
	i := w.rnd.IntN(len(w.procs))
	if w.rnd.IntN(8) > 0 {
		first := slices.MinFunc(w.procs, func(a, b *process) int { return cmp.Compare(a.patience, b.patience) })
		i = slices.Index(w.procs, first)
	}
	p, v := w.procs[i], goOn
	if w.rnd.IntN(60) == 0 {
		v = pick(w, []verdict{failBefore, failAfter})
	}
	w.note("%s: %s (%d)", p.name, p.next, v)
	w.late = false
	p.step(v)
	p.late = p.late || w.late
	w.reap(i)
}

func (w *world) reap(i int) {
	p := w.procs[i]
	if !p.ended {
		return
	}
	w.note("%s ends", p.name)
	w.procs = slices.Delete(w.procs, i, i+1)
	if err := p.look(); err != nil && w.failed == nil {
		w.failed = fmt.Errorf("after %s: %w", p.name, err)
	}
}

func (w *world) kill() {
	if len(w.procs) > 0 {
		i := w.rnd.IntN(len(w.procs))
		w.note("%s dies", w.procs[i].name)
		w.procs[i].kill()
		w.reap(i)
	}
}

func (w *world) publish() {
	w.serial++
	author, to := pick(w, w.agents[:2]), social.Audience{}
	switch w.rnd.IntN(4) {
	case 0:
		to.Followers, to.Circles = w.rnd.IntN(2) == 0, []string{pick(w, w.circles).ID}
	case 1:
	default:
		to.Public, to.Followers = w.rnd.IntN(2) == 0, true
	}
	var mentions []string
	if w.rnd.IntN(4) == 0 {
		mentions = []string{pick(w, w.agents)}
	}
	p := post(w.env, fmt.Sprintf("%s-%d", w.agents[0], w.serial), author, int64(w.rnd.IntN(8)), to, mentions...)
	f := w.server()
	w.startChange(change{
		name: fmt.Sprintf("%s posts %s %+v", author, p.ID, to), pair: [2]string{author, p.ID},
		do: func(ctx context.Context) (bool, error) {
			stored, _, err := f.Store().CreatePost(ctx, p, social.Creation{})
			if err == nil {
				w.posts = append(w.posts, stored.Post)
			}
			return true, err
		},
		look: func(before []social.Post) error { return w.sees(author, one(p.ID), before) },
	})
}

// reply answers a post or a reply. No list may contain the reply.
func (w *world) reply() {
	if len(w.posts) == 0 {
		return
	}
	w.serial++
	r := social.Post{Author: pick(w, w.agents), Caption: "r", ReplyTo: pick(w, w.posts).ID, Mentions: []string{pick(w, w.agents)}}
	f := w.server()
	w.start(fmt.Sprintf("%s replies to %s", r.Author, r.ReplyTo), func(ctx context.Context) error {
		stored, _, err := f.Store().CreatePost(ctx, r, social.Creation{})
		if err == nil {
			w.posts = append(w.posts, stored.Post)
		}
		return err
	})
}

func (w *world) remove() {
	if len(w.posts) == 0 {
		return
	}
	p, f, by := pick(w, w.posts), w.server(), ""
	if w.rnd.IntN(2) == 0 {
		by = p.Author
	}
	w.startChange(change{
		name: "delete " + p.ID, pair: [2]string{p.Author, p.ID},
		do:   func(ctx context.Context) (bool, error) { return true, f.Store().DeletePost(ctx, p.ID, by, zero) },
		look: func(before []social.Post) error { return w.sees(p.Author, one(p.ID), before) },
	})
}

func (w *world) edit() {
	if len(w.posts) > 0 {
		caption := fmt.Sprint(w.serial)
		_, _ = w.store.EditPost(w.ctx, pick(w, w.posts).ID, "", social.Edit{Caption: &caption}, zero)
	}
}

func (w *world) follow() {
	agent, author, f := pick(w, w.agents), pick(w, w.agents[:2]), w.server()
	if agent == author {
		return
	}
	c := change{
		name: agent + " follows " + author, pair: [2]string{agent, author},
		do:   func(ctx context.Context) (bool, error) { return f.Store().Follow(ctx, agent, author, zero) },
		look: func(before []social.Post) error { return w.sees(agent, of(author), before) },
	}
	if w.rnd.IntN(5) < 2 {
		c.name = agent + " unfollows " + author
		c.do = func(ctx context.Context) (bool, error) { return f.Store().Unfollow(ctx, agent, author, zero) }
	}
	w.startChange(c)
}

// crossing has all agents follow an author, or none, as an event does.
func (w *world) crossing() {
	author, on := pick(w, w.agents[:2]), w.rnd.IntN(2) == 0
	w.note("all follow %s: %v", author, on)
	w.all++
	for _, agent := range w.agents {
		switch {
		case agent == author:
		case on:
			_, _ = w.store.Follow(w.ctx, agent, author, zero)
		default:
			_, _ = w.store.Unfollow(w.ctx, agent, author, zero)
		}
	}
}

func (w *world) block() {
	agent, other, f := pick(w, w.agents), pick(w, w.agents[:2]), w.server()
	if agent == other {
		return
	}
	on := w.rnd.IntN(2) == 0
	w.startChange(change{
		name: fmt.Sprintf("%s blocks %s: %v", agent, other, on), pair: [2]string{agent, other},
		do: func(ctx context.Context) (bool, error) {
			if on {
				return f.Store().Block(ctx, agent, other)
			}
			return f.Store().Unblock(ctx, agent, other)
		},
		look: func(before []social.Post) error {
			return errors.Join(w.sees(agent, of(other), before), w.sees(other, of(agent), before))
		},
	})
}

func (w *world) member() {
	circle, agent, f, on := pick(w, w.circles), pick(w, w.agents), w.server(), w.rnd.IntN(2) == 0
	invited := on && circle.Open() && w.rnd.IntN(2) == 0
	w.startChange(change{
		name: fmt.Sprintf("%s in %s: %v, invited: %v", agent, circle.ID, on, invited), pair: [2]string{agent, circle.Owner},
		do: func(ctx context.Context) (bool, error) {
			switch {
			case invited:
				if _, err := f.Store().Invite(ctx, circle.ID, agent, circle.Owner); err != nil {
					return false, err
				}
				return f.Store().AddMember(ctx, circle.ID, agent, agent, zero)
			case on:
				return f.Store().AddMember(ctx, circle.ID, agent, "", zero)
			}
			return f.Store().RemoveMember(ctx, circle.ID, agent, agent, zero)
		},
		look: func(before []social.Post) error { return w.seesCircle(agent, circle.ID, before) },
	})
}

func (w *world) circle() {
	c, f := pick(w, w.circles), w.server()
	members := []string{pick(w, w.agents), pick(w, w.agents)}
	drop := w.rnd.IntN(3) == 0
	if w.rnd.IntN(3) == 0 {
		members = nil
	}
	w.all++
	w.start(fmt.Sprintf("circle %+v %v dropped: %v", c, members, drop), func(ctx context.Context) error {
		if drop {
			return f.Store().DropCircle(ctx, c.ID, "", zero)
		}
		_, err := f.Store().PutCircle(ctx, c, members, zero)
		if errors.Is(err, feed.ErrInvalid) && c.Until > 0 && c.Until <= w.clock().Unix() {
			return nil // it has ended
		}
		return err
	})
}

func (w *world) erase() {
	agent := pick(w, w.agents)
	w.note("%s is erased", agent)
	w.all++
	if err := w.store.EraseAgent(w.ctx, agent); err != nil {
		w.failed = err
	}
	w.erased[agent] = true
}

// leftByErasure reports whether a post of an erased author may remain in the list of an agent who has
// followed that id again before the post was deleted: no page shows it.
func (w *world) leftByErasure(agent, id string) (bool, error) {
	posts, err := w.store.PostsByID(w.ctx, []string{id})
	if err != nil || !posts[0].Deleted || !w.erased[posts[0].Author] {
		return false, err
	}
	following, err := w.store.Following(w.ctx, agent, "", "", len(w.agents))
	return slices.Contains(following, posts[0].Author), err
}

func (w *world) reader() {
	agent, f := pick(w, w.agents), w.server()
	w.start("build "+agent, func(ctx context.Context) error { return f.timelines.run(ctx, agent) })
}

// outboxReader reads the outboxes of pulled authors that an agent follows.
func (w *world) outboxReader() {
	agent, f := pick(w, w.agents), w.server()
	pulled, err := w.store.Celebrities(w.ctx, agent)
	if err != nil {
		w.failed = err
	}
	if len(pulled.Authors) > 0 {
		author := pick(w, pulled.Authors)
		w.start("outbox "+author, func(ctx context.Context) error { return f.outboxes.run(ctx, author) })
	}
}

func (w *world) worker() {
	list, err := w.store.Lease(w.ctx, 1+w.rnd.IntN(4), 30*time.Second)
	if err != nil {
		w.failed = err
	}
	f := w.server()
	for len(list) > 0 {
		kind, run, keys := list[0].Kind, []jobs.Job{}, ""
		list = slices.DeleteFunc(list, func(j jobs.Job) bool {
			chosen := j.Kind == kind && len(run) < max(f.handlers[kind].Batch, 1)
			if chosen {
				run, keys = append(run, j), keys+" "+j.Key
			}
			return chosen
		})
		w.start(fmt.Sprint(kind, keys), func(ctx context.Context) error { return finish(f, ctx, run...) })
	}
}

// vanish evicts the lists of an agent.
func (w *world) vanish() {
	agent := []string{pick(w, w.agents)}
	w.note("the lists of %s are gone", agent)
	if err := errors.Join(w.lists.Drop(w.ctx, agent), w.outboxes.Drop(w.ctx, agent)); err != nil {
		w.failed = err
	}
}

// pass lets leases expire. It kills jobs that switch an author's delivery: the grace period covers
// them, so they may not be suspended that long.
func (w *world) pass() {
	for i := len(w.procs) - 1; i >= 0; i-- {
		if strings.Contains(w.procs[i].name, " "+string(jobs.Author)+" ") {
			w.procs[i].kill()
			w.reap(i)
		}
	}
	d := pick(w, []time.Duration{11 * time.Second, 31 * time.Second, grace, grace})
	if w.rnd.IntN(8) == 0 {
		d = timeline.TTL + time.Minute
	}
	w.advance(d)
	w.note("%s pass", d)
}

// settle completes all processes and jobs, and then compares the lists.
func (w *world) settle() error {
	for range 3000 {
		if w.failed != nil {
			return w.failed
		}
		if len(w.procs) > 0 {
			w.proceed()
			continue
		}
		before := len(w.log)
		if w.worker(); len(w.log) > before {
			continue
		}
		if len(w.open()) == 0 {
			w.advance(timeline.CopyTTL)
			return w.compare()
		}
		w.advance(10 * time.Second)
	}
	return fmt.Errorf("jobs are left: %v", w.open())
}

// compare compares every list with the store.
func (w *world) compare() error {
	for _, agent := range w.agents {
		if err := errors.Join(w.compareList(agent), w.compareScroll(agent)); err != nil {
			return fmt.Errorf("%s: %w", agent, err)
		}
		if d := w.delivery(agent); d == social.Push {
			continue
		} else if d == social.Both {
			return fmt.Errorf("%s is on the way for good", agent)
		}
		if err := w.compareOutbox(agent); err != nil {
			return fmt.Errorf("outbox of %s: %w", agent, err)
		}
	}
	for _, p := range w.posts {
		now, err := w.store.PostsByID(w.ctx, []string{p.ID})
		if err != nil {
			return err
		}
		it, ok := w.items.byID[p.ID]
		if want := p.Audience.Public && !p.IsReply() && !now[0].Deleted; ok != want || ok && it.Summary != now[0].Caption {
			return fmt.Errorf("%s: its item is %+v", p.ID, it)
		}
	}
	return nil
}

func (w *world) compareList(agent string) error {
	have, err := w.lists.Read(w.ctx, agent, timeline.Position{}, 100)
	if err != nil || have.State != timeline.Ready {
		return err
	}
	due, err := w.store.Pull(w.ctx, social.PullQuery{Reader: agent, N: 1000})
	if err != nil {
		return err
	}
	want := above(due, have.Floor)
	for _, p := range want {
		if !slices.Contains(have.Entries, p) {
			return fmt.Errorf("%v is missing: %+v, want %v", p, have, want)
		}
	}
	for _, p := range have.Entries {
		if slices.Contains(want, p) {
			continue
		}
		left, err := w.leftByErasure(agent, p.ID)
		if err != nil {
			return err
		}
		if left {
			continue
		}
		// Entries of authors who are now pulled may remain.
		s, err := w.store.ListStatuses(w.ctx, agent, []string{p.ID})
		if err != nil {
			return err
		}
		if s[0].Reason != social.Follow || w.delivery(s[0].Author) != social.Pull {
			return fmt.Errorf("%v does not belong there: %+v, want %v", p, have, want)
		}
	}
	return nil
}

func (w *world) compareOutbox(author string) error {
	have, err := w.outboxes.Read(w.ctx, author, timeline.Position{}, 100)
	if err != nil || have.State != timeline.Ready {
		return err
	}
	due, err := w.store.Newest(w.ctx, []string{author}, social.Position{}, 1000)
	if want := above(due, have.Floor); err == nil && !slices.Equal(want, have.Entries) {
		err = fmt.Errorf("%+v, want %v", have, want)
	}
	return err
}

// above returns the entries above a floor.
func above(list []social.Entry, floor timeline.Position) (out []timeline.Position) {
	for _, e := range list {
		if p := e.Position; p.Above(floor) {
			out = append(out, p)
		}
	}
	return out
}

func isWait(err error) bool { return errors.Is(err, jobs.ErrWait) }
