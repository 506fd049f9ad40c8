package prove

import (
	"cmp"
	"context"
	"os"
	"strconv"
	"strings"
	"time"
)

// Sample holds the use of memory and files by the system's processes at a moment of the load.
type Sample struct {
	Seconds     float64 `json:"seconds"`
	P99         float64 `json:"p99_ms"` // of the pages since the last sample
	Resident    float64 `json:"resident_mib"`
	Descriptors int     `json:"descriptors"`
	Goroutines  int     `json:"goroutines,omitempty"` // 0 if the system does not tell
	Stored
}

// sampling is the pause between two looks at the processes, and keeping the least between two samples
// that are kept, of which there are about sixty.
const (
	sampling = 500 * time.Millisecond
	keeping  = 5 * time.Second
)

// looking bounds a look at what is stored.
const looking = 5 * time.Second

// look adds to a sample what takes calls to know. What does not answer, as during a fault, is as in
// the sample before.
func (r *run) look(ctx context.Context, s *Sample) {
	ctx, cancel := context.WithTimeout(ctx, looking)
	defer cancel()
	r.tally.mu.Lock()
	if n := len(r.tally.samples); n > 0 {
		s.Goroutines, s.Stored = r.tally.samples[n-1].Goroutines, r.tally.samples[n-1].Stored
	}
	r.tally.mu.Unlock()
	counter, ok := r.sys.(Counter)
	if ok {
		s.Goroutines = cmp.Or(counter.Goroutines(ctx), s.Goroutines)
	}
	if r.services.Look == nil {
		return
	}
	stored, err := r.services.Look(ctx)
	if err == nil {
		s.Stored = stored
	}
}

// sample adds up the CPU time of the system's processes and keeps samples, until the load ends. CPU
// time after the last look at a process that is killed is missing.
func (r *run) sample(ctx context.Context, began moment) {
	spent := map[int]time.Duration{}
	apart := max(keeping, r.o.For/60)
	next := began + apart
	for {
		var now Sample
		for _, pid := range r.sys.Processes() {
			cpu, resident, descriptors := usage(pid)
			now.Resident += resident
			now.Descriptors += descriptors
			before, known := spent[pid]
			if known && cpu > before {
				r.tally.cpu += cpu - before
			}
			spent[pid] = cpu
		}
		keep := r.now() >= next
		if keep {
			r.look(ctx, &now)
		}
		r.tally.mu.Lock()
		now.Seconds = (r.now() - began).Seconds()
		r.tally.peak = max(r.tally.peak, now.Resident)
		if keep {
			now.P99 = float64(r.tally.minute.ValueAtQuantile(99)) / 1000
			r.tally.minute.Reset()
			r.tally.samples = append(r.tally.samples, now)
			next += apart
		}
		r.tally.mu.Unlock()
		if pause(ctx, sampling) != nil {
			return
		}
	}
}

// usage returns the CPU time, the resident MiB and the open descriptors of a process; zeros where
// the system does not tell.
func usage(pid int) (cpu time.Duration, resident float64, descriptors int) {
	dir := "/proc/" + strconv.Itoa(pid)
	stat, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return 0, 0, 0
	}
	_, after, _ := strings.Cut(string(stat), ") ") // the name may contain anything
	fields := strings.Fields(after)
	const user, system, pages, ticks = 11, 12, 21, 100 // Linux reports 100 ticks a second on every platform
	if len(fields) <= pages {
		return 0, 0, 0
	}
	number := func(at int) int64 { n, _ := strconv.ParseInt(fields[at], 10, 64); return n }
	open, _ := os.ReadDir(dir + "/fd")
	cpu = time.Duration(number(user)+number(system)) * time.Second / ticks
	return cpu, float64(number(pages)) * float64(os.Getpagesize()) / (1 << 20), len(open)
}
