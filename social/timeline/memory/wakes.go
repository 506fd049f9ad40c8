package memory

import (
	"context"
	"sync"

	"github.com/freshet/freshet/social/timeline"
)

// Wakes implements [timeline.Wakes] within this process.
type Wakes struct {
	mu        sync.Mutex
	receivers map[*func(timeline.Wake)]bool
}

var _ timeline.Wakes = (*Wakes)(nil)

// NewWakes returns wakes without a receiver.
func NewWakes() *Wakes { return &Wakes{receivers: map[*func(timeline.Wake)]bool{}} }

// Send implements [timeline.Wakes]: the receivers have the wake when it returns.
func (w *Wakes) Send(wake timeline.Wake) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for f := range w.receivers {
		(*f)(wake)
	}
}

// Receive implements [timeline.Wakes].
func (w *Wakes) Receive(ctx context.Context, f func(timeline.Wake)) {
	w.set(&f, true)
	defer w.set(&f, false)
	<-ctx.Done()
}

func (w *Wakes) set(f *func(timeline.Wake), receives bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if receives {
		w.receivers[f] = true
	} else {
		delete(w.receivers, f)
	}
}
