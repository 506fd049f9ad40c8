package load

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// result holds the counters of one action.
type result struct {
	requests, errors, repeats, items, degraded atomic.Int64

	mu    sync.Mutex
	micro *hdrhistogram.Histogram // latency in microseconds
	why   map[string]int          // errors by their message
}

func newResult() *result {
	return &result{micro: hdrhistogram.New(1, 120_000_000, 3), why: map[string]int{}}
}

// well reports whether there were requests, all with the right answer.
func (r *result) well() bool {
	return r.errors.Load() == 0 && r.repeats.Load() == 0 && r.requests.Load() > 0
}

func (r *result) add(took time.Duration, items int, err error, degraded bool) {
	r.requests.Add(1)
	r.items.Add(int64(items))
	if degraded {
		r.degraded.Add(1)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.micro.RecordValue(max(1, took.Microseconds()))
	if err != nil {
		r.errors.Add(1)
		r.why[err.Error()]++
	}
}

func (r *result) print(w io.Writer, action string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	ms := func(q float64) float64 { return float64(r.micro.ValueAtQuantile(q)) / 1000 }
	fmt.Fprintf(w, "%-10s %9d %8d %8d %9d %9d %9.2f %9.2f %9.2f %9.2f\n", action,
		r.requests.Load(), r.errors.Load(), r.repeats.Load(), r.items.Load(), r.degraded.Load(),
		ms(50), ms(95), ms(99), float64(r.micro.Max())/1000)
}

// printErrors prints the most frequent errors.
func (r *result) printErrors(w io.Writer, action string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	most := slices.SortedFunc(maps.Keys(r.why), func(a, b string) int { return cmp.Compare(r.why[b], r.why[a]) })
	for _, why := range most[:min(len(most), 5)] {
		fmt.Fprintf(w, "%s: %d times: %s\n", action, r.why[why], why)
	}
}
