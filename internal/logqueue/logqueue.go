// Package logqueue prevents a log whose reader stalls from blocking the process. Lines go to a
// bounded queue, and one goroutine writes them: a pipe whose reader stalls or ends blocks only that
// goroutine. Lines that do not fit are dropped, counted, and reported in the log once it can be
// written again.
//
// A process that is killed loses the queued lines.
package logqueue

import (
	"bytes"
	"context"
	"io"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Size is the maximum size of the queue in bytes: some 5,000 lines.
const Size = 1 << 20

var droppedTotal = promauto.NewCounter(prometheus.CounterOpts{
	Name: "freshet_log_dropped_total",
	Help: "Log lines dropped because nobody read the log or it could not be written.",
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
	wake    chan struct{} // buffer of 1: something is in the queue
	wrote   chan struct{} // closed after each chunk
}

// New starts a Writer to out that queues at most size bytes. report returns the line that reports
// the number of dropped lines; it is written in their place. The goroutine runs until the process
// ends: a write to a stalled pipe cannot be interrupted.
func New(out io.Writer, size int, report func(dropped int) []byte) *Writer {
	w := &Writer{out: out, size: size, report: report, wake: make(chan struct{}, 1), wrote: make(chan struct{})}
	go w.run()
	return w
}

// Write queues the line p, or drops it if it does not fit.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	// After a dropped line the following ones are dropped too, until the queue is written: the
	// report is then at the place where all of them are missing.
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

// take moves the queue into chunk, followed by the report of dropped lines. It returns false if
// there is nothing to write.
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

// done counts the lines of a chunk that could not be written. They are lost, without a retry, as a
// reader that has ended does not come back.
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
