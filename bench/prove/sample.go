package prove

import (
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
}

// sampling is the pause between two looks at the processes, and keeping that between two samples
// that are kept.
const (
	sampling = 500 * time.Millisecond
	keeping  = 5 * time.Second
)

// sample adds up the CPU time of the system's processes and keeps samples, until the load ends. CPU
// time after the last look at a process that is killed is missing.
func (r *run) sample(ctx context.Context, began moment) {
	spent := map[int]time.Duration{}
	next := began + keeping
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
		r.tally.mu.Lock()
		now.Seconds = (r.now() - began).Seconds()
		r.tally.peak = max(r.tally.peak, now.Resident)
		if r.now() >= next {
			now.P99 = float64(r.tally.minute.ValueAtQuantile(99)) / 1000
			r.tally.minute.Reset()
			r.tally.samples = append(r.tally.samples, now)
			next += keeping
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
