package memory

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/freshet/freshet/feed"
)

// filter is the Bloom filter of one day. It grows by layers, as a scalable Bloom filter
// does (P. S. Almeida et al. 2007): a full layer is followed by one of twice the capacity and
// half the rate. The first has half the day's rate p, so that p/2 + p/4 + … stays at p.
type filter struct {
	day    feed.Day
	layers atomic.Pointer[[]*layer] // replaced, never changed, and never empty
	grows  sync.Mutex               // held to replace layers
	warned atomic.Bool              // passing the capacity has been logged
	ended  time.Time                // when the day ended, where its journal is still there
}

// newFilter makes a filter that begins with a layer for n members, and takes a member it
// does not hold for one it does with probability p at most.
func newFilter(day feed.Day, n uint64, p float64) *filter {
	return layered(day, newLayer(n, p/2))
}

func layered(day feed.Day, layers ...*layer) *filter {
	f := &filter{day: day}
	f.layers.Store(&layers)
	return f
}

// end ends the day, at now or earlier.
func (f *filter) end(now time.Time) {
	if f.ended = (f.day + 1).Start(); f.ended.After(now) {
		f.ended = now
	}
}

func (f *filter) all() []*layer { return *f.layers.Load() }

// add adds the member and reports whether it was not there before.
func (f *filter) add(p probe) bool {
	layers := f.all()
	last := len(layers) - 1
	for _, l := range layers[:last] {
		if l.has(p) {
			return false
		}
	}
	if layers[last].full() && !layers[last].has(p) {
		return f.grow(layers[last]).add(p)
	}
	return layers[last].add(p)
}

// grow adds a layer behind the one that is full, unless another call has, and returns
// the last one.
func (f *filter) grow(full *layer) *layer {
	f.grows.Lock()
	defer f.grows.Unlock()
	layers := f.all()
	if last := layers[len(layers)-1]; last != full {
		return last
	}
	next := newLayer(2*full.capacity, full.rate/2)
	layers = append(slices.Clone(layers), next)
	f.layers.Store(&layers)
	return next
}

// addImpression adds <agent>:<group>, using buf for the member.
func (f *filter) addImpression(buf []byte, agent, group string) []byte {
	buf = append(append(append(buf[:0], agent...), ':'), group...)
	f.add(hashMember(buf))
	return buf
}

func (f *filter) count() (n int64) {
	for _, l := range f.all() {
		n += l.count.Load()
	}
	return n
}

// capacity is the number of members that the first layer is sized for.
func (f *filter) capacity() uint64 { return f.all()[0].capacity }

func (f *filter) fill() float64 { return float64(f.count()) / float64(f.capacity()) }

func (f *filter) falsePositives() float64 {
	passes := 1.0
	for _, l := range f.all() {
		passes *= 1 - l.falsePositives()
	}
	return 1 - passes
}

func (f *filter) bytes() (n int) {
	for _, l := range f.all() {
		n += 8 * len(l.words)
	}
	return n
}

func (f *filter) empty() bool { return f.all()[0].ones.Load() == 0 }
