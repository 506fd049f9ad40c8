package timelinetest

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/freshet/freshet/social/timeline"
)

// Model runs random schedules of everything that servers do with lists: posts and deletions,
// follows, the jobs that these cause, readers that build lists, workers that die or continue after
// they have lost their lease, lists that expire, and time. Processes are interleaved between any
// two of their calls. After each step every list must be complete above its floor, except for
// entries that a waiting job would add or remove. When all jobs are done, it must be equal to the
// store.
//
// A failure reports its seed: repeat it with -timeline.seed and -timeline.seeds 1.
func Model(t *testing.T, open Open, schedules int) {
	const most = 4
	env := open(t, most)
	seeds(t, schedules, func(seed uint64) {
		w := newSystem(t, env, seed, most)
		if err := w.run(); err != nil {
			t.Fatalf("seed %d: %v after\n%s", seed, err, w.story())
		}
		if err := env.A.Drop(t.Context(), w.agents); err != nil {
			t.Fatal(err)
		}
	})
}

// system is one schedule: a social store with its queue, and the processes that use them.
type system struct {
	*fixture
	most    int
	rnd     *rand.Rand
	agents  []string
	authors []string
	posts   []*post
	follows map[pair]bool
	rows    map[job]*row
	procs   []*process
	serial  int
	log     []line
	failed  error
}

// line is a line of the log. It is formatted only when a schedule fails.
type line struct {
	format string
	args   []any
}

func (l line) String() string { return fmt.Sprintf(l.format, l.args...) }

// pause logs what a process has done and suspends it. After false it must end.
type pause func(format string, args ...any) bool

type post struct {
	timeline.Position
	author  string
	deleted bool
}

type pair struct{ agent, author string }

// job is a key of the queue: a post to deliver, or a pair.
type job struct {
	post *post
	pair pair
}

// row is a job that is not done. Each change of its post or pair raises the generation.
type row struct {
	generation int
	lease      int // the process that has it, or 0
}

// process runs step by step, under the control of the schedule.
type process struct {
	number   int
	name     string
	next     func() (line, bool)
	stop     func()
	patience float64 // processes with the least mostly run first, so some are suspended for long
}

func newSystem(t *testing.T, env Env, seed uint64, most int) *system {
	w := &system{
		fixture: &fixture{Env: env, t: t, ctx: t.Context()}, most: most, rnd: rand.New(rand.NewPCG(seed, 2)),
		authors: []string{"x", "y"}, follows: map[pair]bool{}, rows: map[job]*row{},
	}
	for i := range 1 + w.rnd.IntN(2) {
		w.agents = append(w.agents, fmt.Sprintf("m%d_%d", seed, i))
	}
	return w
}

// run runs the schedule, lets the remaining processes and jobs finish, and checks the result.
func (w *system) run() error {
	all := w.events()
	for range 60 + w.rnd.IntN(120) {
		w.step(all)
		if err := w.check(); err != nil {
			return err
		}
	}
	for len(w.procs) > 0 || len(w.rows) > 0 {
		if len(w.procs) == 0 { // the workers of rows that are still leased have died
			for _, r := range w.rows {
				r.lease = 0
			}
			w.work()
		}
		w.proceed()
		if err := w.check(); err != nil {
			return err
		}
	}
	return w.settled()
}

// event is a kind of step with its relative frequency.
type event struct {
	weight int
	run    func()
}

// events draws the frequency of each kind of step in this schedule, so that some schedules are free
// of certain kinds and others have many: some failures occur only if others do not interfere.
func (w *system) events() []event {
	all := []event{
		{6, w.publish}, {4, w.delete}, {6, w.follow}, {8, w.read}, {20, w.work}, {6, w.expire}, {2, w.kill}, {2, w.vanish}, {1, w.pass},
	}
	for i := range all {
		all[i].weight *= w.rnd.IntN(3)
	}
	return append(all, event{40, w.proceed})
}

func (w *system) step(all []event) {
	if len(w.procs) > 5 {
		w.proceed()
		return
	}
	sum := 0
	for _, e := range all {
		sum += e.weight
	}
	n := w.rnd.IntN(sum)
	for _, e := range all {
		n -= e.weight
		if n < 0 {
			e.run()
			return
		}
	}
}

func (w *system) note(format string, args ...any) {
	w.log = append(w.log, line{format, args})
}

// story returns the log of the schedule.
func (w *system) story() string {
	var b strings.Builder
	for _, l := range w.log {
		fmt.Fprintln(&b, l)
	}
	return b.String()
}

func (w *system) agent() string { return w.agents[w.rnd.IntN(len(w.agents))] }

func (w *system) author() string { return w.authors[w.rnd.IntN(len(w.authors))] }

func (w *system) lists() timeline.Lists {
	if w.rnd.IntN(2) == 0 {
		return w.A
	}
	return w.B
}

// mark marks a job dirty.
func (w *system) mark(j job) {
	if w.rows[j] == nil {
		w.rows[j] = new(row)
	}
	w.rows[j].generation++
}

func (w *system) publish() {
	w.serial++
	p := &post{Position: pos(int64(w.rnd.IntN(8)), fmt.Sprint(w.serial)), author: w.author()}
	if w.rnd.IntN(2) == 0 { // the other half is backdated
		p.At = int64(w.serial)
	}
	w.posts = append(w.posts, p)
	w.mark(job{post: p})
	w.note("%s publishes %s at %d", p.author, p.ID, p.At)
}

func (w *system) delete() {
	if len(w.posts) == 0 {
		return
	}
	p := w.posts[w.rnd.IntN(len(w.posts))]
	if !p.deleted {
		p.deleted = true
		w.mark(job{post: p})
		w.note("%s is deleted", p.ID)
	}
}

func (w *system) follow() {
	p := pair{w.agent(), w.author()}
	w.follows[p] = !w.follows[p]
	w.mark(job{pair: p})
	w.note("%s follows %s: %v", p.agent, p.author, w.follows[p])
}

func (w *system) read() {
	agent := w.agent()
	w.start("reader "+agent, w.reader(agent))
}

func (w *system) pass() {
	w.Advance(timeline.TakeOver)
	w.note("%s pass", timeline.TakeOver)
}

// vanish deletes a list like an eviction or an expiry.
func (w *system) vanish() {
	list := w.agent()
	w.must(w.A.Drop(w.ctx, []string{list}))
	w.note("the list of %s is gone", list)
}

// must records an unexpected error of the lists.
func (w *system) must(err error) {
	if err != nil && w.failed == nil {
		w.failed = err
	}
}

// start starts a process. Its body calls pause between its steps, and must end when that returns
// false.
func (w *system) start(name string, body func(pause)) int {
	w.serial++
	number := w.serial
	next, stop := iter.Pull(func(yield func(line) bool) {
		body(func(format string, args ...any) bool { return yield(line{format, args}) })
	})
	w.procs = append(w.procs, &process{number, name, next, stop, w.rnd.Float64()})
	w.note("%d begins: %s", number, name)
	return number
}

// proceed runs one step of one of the processes.
func (w *system) proceed() {
	if len(w.procs) == 0 {
		return
	}
	i := w.rnd.IntN(len(w.procs))
	if w.rnd.IntN(3) > 0 {
		first := slices.MinFunc(w.procs, func(a, b *process) int { return cmp.Compare(a.patience, b.patience) })
		i = slices.Index(w.procs, first)
	}
	done, more := w.procs[i].next()
	if !more {
		done.format = "ends"
	}
	w.note("%d: %s", w.procs[i].number, done)
	if !more {
		w.procs = slices.Delete(w.procs, i, i+1)
	}
}

// kill ends a process at its current step.
func (w *system) kill() {
	if len(w.procs) == 0 {
		return
	}
	i := w.rnd.IntN(len(w.procs))
	w.procs[i].stop()
	w.note("%d dies", w.procs[i].number)
	w.procs = slices.Delete(w.procs, i, i+1)
}

// jobs returns the remaining jobs in a deterministic order.
func (w *system) jobs() []job {
	return slices.SortedFunc(maps.Keys(w.rows), func(a, b job) int { return strings.Compare(a.name(), b.name()) })
}

func (j job) name() string {
	if j.post != nil {
		return "deliver " + j.post.ID
	}
	return "pair " + j.pair.agent + " " + j.pair.author
}
