package prove

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// late is the time after which a page is late, from the moment it was due.
const late = time.Second

// tally counts what happened in a run.
type tally struct {
	repeated, repeatedMarked, leaked, leakedMarked, empty, emptyMarked, late, dropped atomic.Int64

	mu             sync.Mutex
	micro          *hdrhistogram.Histogram // of pages, in microseconds, from the moment they were due
	minute         *hdrhistogram.Histogram // since the last sample
	pages          int64
	entries        int64
	errors         map[string]int // by their text
	kept           map[string]int // findings, by kind
	findings       []Finding
	samples        []Sample
	cpu            time.Duration // of the system, during the load
	peak           float64       // resident MiB
	took           time.Duration // of the load
	lost           int
	lostUnanswered int // may have been in pages whose calls were given up
}

func newTally() *tally {
	return &tally{micro: newHistogram(), minute: newHistogram(), errors: map[string]int{}, kept: map[string]int{}}
}

func newHistogram() *hdrhistogram.Histogram { return hdrhistogram.New(1, 120_000_000, 3) }

// answered counts a page.
func (t *tally) answered(took time.Duration, entries int) {
	if took > late {
		t.late.Add(1)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pages++
	t.entries += int64(entries)
	_ = t.micro.RecordValue(max(1, took.Microseconds()))
	_ = t.minute.RecordValue(max(1, took.Microseconds()))
}

// failed counts a call that was refused or given up.
func (t *tally) failed(k kind, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.errors[string(k)+": "+err.Error()]++
}
