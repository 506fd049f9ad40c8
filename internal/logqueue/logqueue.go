// Package logqueue keeps a log that nobody reads from stopping the process. Lines go
// to a bounded queue, and one goroutine writes them: a pipe whose reader stalls or
// ends blocks that goroutine and nothing else. Lines that do not fit are dropped,
// counted, and reported in the log once it is read again.
//
// A process that is killed loses the lines that are in the queue.
package logqueue

import (
	"bytes"
	"context"
	"io"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Size is how many bytes wait at most: some 5,000 lines.
const Size = 1 << 20

var droppedTotal = promauto.NewCounter(prometheus.CounterOpts{
	Name: "freshet_log_dropped_total",
	Help: "Log lines that were dropped, because nobody read the log or it could not be written.",
})

// Writer is an [io.Writer] that never blocks and never fails. It is safe for
// concurrent use. The zero Writer is not valid; use [New].
type Writer struct {
	out    io.Writer
	size   int
	report func(dropped int) []byte

	mu      sync.Mutex
	queue   bytes.Buffer
	dropped int           // lines since the last report
	writing bool          // the goroutine is writing a chunk
	wake    chan struct{} // 1 buffered: something is in the queue
	wrote   chan struct{} // closed after each chunk
}

// New starts a Writer to out that holds size bytes at most. Report makes the line that
// tells how many lines were dropped; it stands where they are missing. The goroutine
// runs until the process ends: a write to a stalled pipe cannot be interrupted.
func New(out io.Writer, size int, report func(dropped int) []byte) *Writer {
	w := &Writer{out: out, size: size, report: report, wake: make(chan struct{}, 1), wrote: make(chan struct{})}
	go w.run()
	return w
}

// Write queues the line p, or drops it where it does not fit.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	// After a dropped line the following are dropped too, until the queue is written:
	// the report then stands where all of them are missing.
	if w.dropped > 0 || w.queue.Len()+len(p) > w.size {
		w.dropped++
		droppedTotal.Inc()
	} else {
		w.queue.Write(p)
	}
	select {
	case w.wake <- struct{}{}:
	default:
	}
	return len(p), nil
}

// Flush waits until everything that was queued before is written, or ctx ends.
func (w *Writer) Flush(ctx context.Context) error {
	for {
		w.mu.Lock()
		done := w.queue.Len() == 0 && w.dropped == 0 && !w.writing
		wrote := w.wrote
		w.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-wrote:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (w *Writer) run() {
	var chunk bytes.Buffer
	for range w.wake {
		for w.take(&chunk) {
			_, err := w.out.Write(chunk.Bytes())
			w.done(chunk.Bytes(), err)
		}
	}
}

// take moves what is queued into chunk, with the report of what was dropped after it.
// It returns false where there is nothing.
func (w *Writer) take(chunk *bytes.Buffer) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	chunk.Reset()
	*chunk, w.queue = w.queue, *chunk
	if w.dropped > 0 {
		chunk.Write(w.report(w.dropped))
		w.dropped = 0
	}
	w.writing = chunk.Len() > 0
	return w.writing
}

// done counts the lines of a chunk that could not be written: they are lost, and
// nothing is tried again, as a reader that has ended does not come back.
func (w *Writer) done(chunk []byte, err error) {
	if err != nil {
		droppedTotal.Add(float64(bytes.Count(chunk, []byte("\n"))))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writing = false
	close(w.wrote)
	w.wrote = make(chan struct{})
}
