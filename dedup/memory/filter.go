package memory

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/freshet/freshet/feed"
)

// filter is the Bloom filter of one day. It grows by layers, as a scalable Bloom filter does (P. S.
// Almeida et al. 2007): when a layer is full, one with twice the capacity and half the rate is
// added. The first has half the day's rate p, so that the total p/2 + p/4 + … does not exceed p.
type filter struct {
	day    feed.Day
	layers atomic.Pointer[[]*layer] // replaced, never changed, and never empty
	grows  sync.Mutex               // held while replacing layers
	warned atomic.Bool              // passing the capacity has been logged
	ended  time.Time                // when the day ended; set while its journal still exists
}

// newFilter returns a filter with a first layer for n members. Its probability of reporting a
// member that it does not hold is at most p.
func newFilter(day feed.Day, n uint64, p float64) *filter {
	return layered(day, newLayer(n, p/2))
}

func layered(day feed.Day, layers ...*layer) *filter {
	f := &filter{day: day}
	f.layers.Store(&layers)
	return f
}

// end sets the end of the day: midnight, or now if that is earlier.
func (f *filter) end(now time.Time) {
	f.ended = (f.day + 1).Start()
	if f.ended.After(now) {
		f.ended = now
	}
}

func (f *filter) all() []*layer { return *f.layers.Load() }

// add adds the member and reports whether it was new.
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

// grow adds a layer after the full one, unless another call already has, and returns the last
// layer.
func (f *filter) grow(full *layer) *layer {
	f.grows.Lock()
	defer f.grows.Unlock()
	layers := f.all()
	last := layers[len(layers)-1]
	if last != full {
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

// capacity returns the number of members that the first layer is sized for.
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
