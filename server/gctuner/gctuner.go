// Package gctuner sets the garbage collector for a server: collections are rarer while the heap is
// small, and more frequent near the memory limit of a container.
//
// By default Go collects when the heap has doubled since the last collection: with 20 MiB in use
// that is after every 20 MiB, many times a second under load, for memory that no machine lacks. The
// tuner lets a small heap grow further, up to [Floor], and leaves a larger one to Go's default. An
// environment that sets GOGC decides by itself.
package gctuner

import (
	"context"
	"log/slog"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/freshet/freshet/internal/periodic"
)

const (
	// Floor is the size in bytes up to which the heap may grow before it is collected, if its live
	// objects are so many that [MostPercent] allows it.
	Floor = 256 << 20
	// MostPercent is the largest GOGC that the tuner sets, for heaps with little in use.
	MostPercent = 800
	// leastPercent is Go's default.
	leastPercent = 100
	// every is the time between two looks at the heap. After a jump the next collection may come late
	// by what is allocated in it.
	every = 250 * time.Millisecond
	// step is the smallest change of GOGC, in percent, that is worth stopping the process for.
	step = 10
)

// ofLimit is the share of a container's memory that Go may use. The rest is for SQLite, whose memory
// Go does not count, and for what the kernel keeps for the process.
const ofLimit = 0.8

// LimitMemory sets Go's memory limit from that of the control group (cgroup) of the process, if it
// has one and the environment does not set GOMEMLIMIT.
func LimitMemory(ctx context.Context, log *slog.Logger) {
	limit, err := memlimit.Set(memlimit.WithRatio(ofLimit))
	if err != nil {
		log.DebugContext(ctx, "no memory limit could be read; set GOMEMLIMIT if there is one", "error", err)
		return
	}
	log.DebugContext(ctx, "memory limit", "bytes", limit)
}

// Run adjusts GOGC to the live heap until ctx ends, unless the environment sets GOGC.
func Run(ctx context.Context) {
	if os.Getenv("GOGC") != "" {
		return
	}
	now := leastPercent
	defer func() { debug.SetGCPercent(leastPercent) }()
	for range periodic.Now(ctx, every) {
		want := percent(live())
		if want*100 > now*(100+step) || want*100 < now*(100-step) || want == leastPercent && now != want {
			debug.SetGCPercent(want)
			now = want
		}
	}
}

// percent returns the GOGC for a heap with that many live bytes.
func percent(live uint64) int {
	if live == 0 {
		return leastPercent // nothing was collected yet
	}
	if live >= Floor {
		return leastPercent
	}
	return int(min(max((Floor-live)*100/live, leastPercent), MostPercent))
}

// live returns the bytes that were in use at the last collection; 0 before the first.
func live() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return sample[0].Value.Uint64()
}
