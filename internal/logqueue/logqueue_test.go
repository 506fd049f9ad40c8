package logqueue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pipe is the destination of a log. It can stall or fail.
type pipe struct {
	mu    sync.Mutex
	got   strings.Builder
	stall chan struct{} // writes block until it is closed; nil means they do not
	ended error
}

func (p *pipe) Write(b []byte) (int, error) {
	if p.stall != nil {
		<-p.stall
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended != nil {
		return 0, p.ended
	}
	return p.got.Write(b)
}

func (p *pipe) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.got.String()
}

func report(n int) []byte { return fmt.Appendf(nil, "dropped %d\n", n) }

// bubble runs f with a Writer whose goroutine ends with the bubble.
func bubble(t *testing.T, out *pipe, size int, f func(t *testing.T, w *Writer)) {
	synctest.Test(t, func(t *testing.T) {
		w := New(out, size, report)
		defer close(w.wake)
		f(t, w)
	})
}

func TestLinesInOrder(t *testing.T) {
	out := &pipe{}
	bubble(t, out, 1000, func(t *testing.T, w *Writer) {
		for i := range 50 {
			_, err := fmt.Fprintf(w, "line %d\n", i)
			require.NoError(t, err)
			if i%7 == 0 {
				synctest.Wait()
			}
		}
		require.NoError(t, w.Flush(t.Context()))
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		require.Len(t, lines, 50)
		for i, line := range lines {
			assert.Equal(t, fmt.Sprintf("line %d", i), line)
		}
	})
}

// TestReaderStalled fills the queue while the destination stalls: writers do not
// block, lines that do not fit are counted, and a report replaces them.
func TestReaderStalled(t *testing.T) {
	out := &pipe{}
	bubble(t, out, 30, func(t *testing.T, w *Writer) {
		out.stall = make(chan struct{}) // created in the bubble, so that waiting for it counts as idle
		before := testutil.ToFloat64(droppedTotal)
		fmt.Fprint(w, "first\n") // the goroutine takes it and stalls
		synctest.Wait()
		for i := range 20 {
			fmt.Fprintf(w, "line %02d\n", i) // 8 bytes each: three fit
		}
		fmt.Fprint(w, "x\n") // it would fit, but earlier lines are missing
		assert.Equal(t, before+18, testutil.ToFloat64(droppedTotal))

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		assert.ErrorIs(t, w.Flush(ctx), context.DeadlineExceeded)
		assert.Equal(t, time.Second, time.Since(began), "it waits as long as it may, and no longer")

		close(out.stall)
		require.NoError(t, w.Flush(t.Context()))
		fmt.Fprint(w, "later\n")
		require.NoError(t, w.Flush(t.Context()))
		assert.Equal(t, "first\nline 00\nline 01\nline 02\ndropped 18\nlater\n", out.String())
	})
}

// TestReaderEnded checks that lines are counted as dropped when the destination has failed.
func TestReaderEnded(t *testing.T) {
	out := &pipe{ended: errors.New("broken pipe")}
	bubble(t, out, 100, func(t *testing.T, w *Writer) {
		before := testutil.ToFloat64(droppedTotal)
		for range 3 {
			fmt.Fprint(w, "line\n")
			require.NoError(t, w.Flush(t.Context()))
		}
		assert.Equal(t, before+3, testutil.ToFloat64(droppedTotal))
	})
}

func TestLineLargerThanQueue(t *testing.T) {
	out := &pipe{}
	bubble(t, out, 10, func(t *testing.T, w *Writer) {
		fmt.Fprint(w, strings.Repeat("x", 11))
		require.NoError(t, w.Flush(t.Context()))
		assert.Equal(t, "dropped 1\n", out.String())
	})
}
