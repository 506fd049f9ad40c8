package timelinetest

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/social/timeline"
)

var (
	seedFlag  = flag.Uint64("timeline.seed", 1, "first seed of the random schedules of timelines; 0: by the clock, to find something new")
	seedsFlag = flag.Int("timeline.seeds", 0, "how many random schedules run; 0: as many as the test says")
)

// seeds calls f with each seed, as the flags say.
func seeds(t *testing.T, count int, f func(seed uint64)) {
	t.Helper()
	first := *seedFlag
	if first == 0 {
		first = uint64(time.Now().UnixNano())
	}
	if *seedsFlag > 0 {
		count = *seedsFlag
	}
	t.Logf("%d schedules from seed %d", count, first)
	for i := range count {
		f(first + uint64(i))
	}
}

// Reference makes random calls and compares each result with that of a reference implementation.
// A failure reports its seed: repeat it with -timeline.seed and -timeline.seeds 1.
func Reference(t *testing.T, open Open, schedules int) {
	const most = 4
	env := open(t, most)
	seeds(t, schedules, func(seed uint64) {
		d := &differ{
			t: t, env: env, ctx: t.Context(), rnd: rand.New(rand.NewPCG(seed, 1)), seed: seed, ref: newReference(most),
			names: map[string]string{},
		}
		for i := range 3 {
			d.lists = append(d.lists, fmt.Sprintf("s%d_%d", seed, i))
		}
		for range 60 {
			d.step()
		}
		if err := env.A.Drop(d.ctx, d.lists); err != nil {
			t.Fatal(err)
		}
	})
}

// differ is one schedule.
type differ struct {
	t     *testing.T
	env   Env
	ctx   context.Context
	rnd   *rand.Rand
	seed  uint64
	ref   *reference
	lists []string
	builds
	names map[string]string // tokens and versions of the reference → those of the tested lists
	log   []string
}

type builds []struct{ list, token string } // with the reference's tokens

func (d *differ) step() {
	lists := d.env.A
	if d.rnd.IntN(2) == 0 {
		lists = d.env.B
	}
	steps := []struct {
		weight int
		run    func(timeline.Lists)
	}{
		{6, d.push},
		{3, d.remove},
		{4, d.begin},
		{5, d.commit},
		{4, d.replace},
		{6, d.read},
		{3, d.heads},
		{1, d.abandon},
		{1, d.clear},
		{1, d.drop},
		{2, d.advance},
	}
	sum := 0
	for _, s := range steps {
		sum += s.weight
	}
	at := d.rnd.IntN(sum)
	for _, s := range steps {
		at -= s.weight
		if at < 0 {
			s.run(lists)
			return
		}
	}
}

// same compares a result with the reference's.
func (d *differ) same(what string, err error, got, want any) {
	d.t.Helper()
	d.log = append(d.log, fmt.Sprintf("%s = %v", what, got))
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		d.t.Fatalf("seed %d: want %v, error %v, after\n%s", d.seed, want, err, strings.Join(d.log, "\n"))
	}
}

func (d *differ) list() string { return d.lists[d.rnd.IntN(len(d.lists))] }

// posts returns some posts of a few seconds.
func (d *differ) posts() (list []timeline.Position) {
	for range d.rnd.IntN(6) {
		n := d.rnd.IntN(16)
		list = append(list, pos(int64(n*n%5), fmt.Sprint(n)))
	}
	slices.SortFunc(list, func(a, b timeline.Position) int { return b.Compare(a) })
	return slices.Compact(list)
}

func (d *differ) floor() timeline.Position {
	all := d.posts()
	if len(all) > 3 {
		return all[3]
	}
	return timeline.Position{}
}

func (d *differ) push(l timeline.Lists) {
	additions, want := make([]timeline.Addition, len(d.lists)), make([]int, len(d.lists))
	d.heads(l)
	for i, list := range d.lists {
		version, known := d.version(list)
		if !known {
			version = d.ref.head(list).Version
		}
		additions[i] = timeline.Addition{List: list, Version: d.names[version], Entries: d.posts()}
		want[i] = d.ref.push(list, version, additions[i].Entries)
	}
	got, err := l.Push(d.ctx, additions)
	d.same(fmt.Sprint("push ", additions), err, got, want)
}

func (d *differ) remove(l timeline.Lists) {
	names, some := ids(d.posts()...), d.lists[d.rnd.IntN(len(d.lists)):]
	for _, list := range some {
		d.ref.remove(list, names)
	}
	d.same(fmt.Sprint("remove ", some, names), l.Remove(d.ctx, some, names), nil, nil)
}

func (d *differ) begin(l timeline.Lists) {
	list := d.list()
	want, state := d.ref.begin(list)
	token, got, err := l.Begin(d.ctx, list)
	d.same("begin "+list, err, fmt.Sprint(token != "", got), fmt.Sprint(want != "", state))
	if token != "" {
		d.names[want] = token
		d.builds = append(d.builds, struct{ list, token string }{list, want})
	}
}

// build returns one of the last three builds that began.
func (d *differ) build() (list, token string, ok bool) {
	if len(d.builds) == 0 {
		return "", "", false
	}
	b := d.builds[max(0, len(d.builds)-1-d.rnd.IntN(3))]
	return b.list, b.token, true
}

func (d *differ) commit(l timeline.Lists) {
	list, token, ok := d.build()
	if !ok {
		return
	}
	c := timeline.Content{Entries: d.posts(), Floor: d.floor()}
	want := d.ref.commit(list, token, c)
	got, err := l.Commit(d.ctx, list, d.names[token], c)
	d.same(fmt.Sprint("commit ", list, token, c), err, got, want)
}

func (d *differ) abandon(l timeline.Lists) {
	list, token, ok := d.build()
	if !ok {
		return
	}
	d.ref.abandon(list, token)
	d.same("abandon "+list+token, l.Abandon(d.ctx, list, d.names[token]), nil, nil)
}

func (d *differ) replace(l timeline.Lists) {
	list := d.list()
	version, known := d.version(list)
	if !known {
		return
	}
	c := timeline.Change{Version: version, Remove: ids(d.posts()...), Add: d.posts(), Floor: d.floor()}
	want := d.ref.replace(list, c)
	c.Version = d.names[version]
	got, err := l.Replace(d.ctx, list, c)
	d.same(fmt.Sprint("replace ", list, c), err, got, want)
}

// version returns a list's version or an older one. known reports whether the tested lists' version
// for it is known.
func (d *differ) version(list string) (version string, known bool) {
	version = d.ref.head(list).Version
	if d.ref.names > 0 && d.rnd.IntN(4) == 0 {
		version = fmt.Sprint("ref", 1+d.rnd.IntN(d.ref.names))
	}
	return version, d.names[version] != "" || version == ""
}

func (d *differ) read(l timeline.Lists) {
	n, below := d.rnd.IntN(6), timeline.Position{}
	all := d.posts()
	if len(all) > 0 && d.rnd.IntN(2) == 0 {
		below = all[0]
	}
	want := make([]timeline.Page, len(d.lists))
	for i, list := range d.lists {
		want[i] = d.ref.read(list, below, n)
	}
	got, err := l.ReadMany(d.ctx, d.lists, below, n)
	d.same(fmt.Sprintf("read %d below %v", n, below), err, got, want)
}

func (d *differ) heads(l timeline.Lists) {
	got, err := l.Heads(d.ctx, d.lists)
	if err != nil {
		d.t.Fatal(err)
	}
	versions, failed := l.Versions(d.ctx, d.lists)
	d.same("versions", failed, versions, convert.Each(got, func(h timeline.Head) string { return h.Version }))
	for i, list := range d.lists {
		want := d.ref.head(list)
		known := d.names[want.Version]
		if known == "" {
			d.names[want.Version] = got[i].Version
		}
		want.Version = d.names[want.Version]
		d.same("head "+list, err, got[i], want)
	}
}

func (d *differ) clear(l timeline.Lists) {
	list := d.list()
	d.ref.clear(list)
	d.same("clear "+list, l.ClearToken(d.ctx, []string{list}), nil, nil)
}

func (d *differ) drop(l timeline.Lists) {
	list := d.list()
	delete(d.ref.lists, list)
	d.same("drop "+list, l.Drop(d.ctx, []string{list}), nil, nil)
}

func (d *differ) advance(timeline.Lists) {
	some := []time.Duration{time.Second, 5 * time.Second, timeline.TakeOver, timeline.BuildTTL, timeline.TTL / 2, timeline.TTL}
	by := some[d.rnd.IntN(len(some))]
	d.ref.now = d.ref.now.Add(by)
	d.env.Advance(by)
	d.log = append(d.log, "advance "+by.String())
}
