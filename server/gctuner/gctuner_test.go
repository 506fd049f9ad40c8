package gctuner

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/freshet/freshet/internal/testenv"
)

func TestPercent(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		live uint64
		want int
	}{
		{0, 100}, {1, MostPercent}, {20 * mib, MostPercent}, {32 * mib, 700}, {64 * mib, 300}, {100 * mib, 156}, {128 * mib, 100}, {200 * mib, 100}, {Floor, 100}, {1 << 40, 100},
	} {
		assert.Equal(t, c.want, percent(c.live), "%d MiB", c.live/mib)
	}
}

func current() int {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return int(sample[0].Value.Uint64())
}

// TestRun checks that GOGC follows the heap, and is Go's default again at the end.
func TestRun(t *testing.T) {
	t.Setenv("GOGC", "")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { Run(ctx); close(ended) }()
	runtime.GC()
	testenv.WaitFor(t, func() bool { return current() > 400 }, "a small heap is collected rarely")
	large := make([]byte, Floor)
	runtime.GC()
	testenv.WaitFor(t, func() bool { return current() == 100 }, "a large heap is collected as by default")
	runtime.KeepAlive(large)
	cancel()
	<-ended
	assert.Equal(t, 100, current())
}

// TestRunLeavesGOGC checks that an environment with GOGC decides by itself.
func TestRunLeavesGOGC(t *testing.T) {
	t.Setenv("GOGC", "50")
	before := debug.SetGCPercent(50)
	defer debug.SetGCPercent(before)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	Run(ctx) // returns at once
	assert.NoError(t, ctx.Err())
	assert.Equal(t, 50, current())
}
