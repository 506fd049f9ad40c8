package media

import (
	"container/list"
	"context"
	"sync"
)

// budget is a number of bytes, which may change, that calls take in the order in which they ask.
type budget struct {
	mu     sync.Mutex
	most   int64
	taken  int64
	queued list.List // of waiting
}

type waiting struct {
	bytes int64
	taken chan struct{} // closed when they are
}

// limit returns the whole budget.
func (b *budget) limit() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.most
}

// resize changes the budget. What is taken beyond it stays taken until it is released.
func (b *budget) resize(most int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.most = most
	b.serve()
}

// take waits until the bytes are free, and takes them. The error is the context's.
func (b *budget) take(ctx context.Context, bytes int64) error {
	b.mu.Lock()
	w := waiting{bytes, make(chan struct{})}
	place := b.queued.PushBack(w)
	b.serve()
	b.mu.Unlock()
	select {
	case <-w.taken:
		return nil
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-w.taken: // at the same moment
		b.taken -= bytes
	default:
		b.queued.Remove(place)
	}
	b.serve() // one that asked for more may have held up others
	return ctx.Err()
}

// release gives back what was taken.
func (b *budget) release(bytes int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken -= bytes
	b.serve()
}

// serve gives the first in the queue what they wait for, as long as it is free.
func (b *budget) serve() {
	for first := b.queued.Front(); first != nil; first = b.queued.Front() {
		w := first.Value.(waiting)
		if w.bytes > b.most-b.taken {
			return
		}
		b.taken += w.bytes
		b.queued.Remove(first)
		close(w.taken)
	}
}
