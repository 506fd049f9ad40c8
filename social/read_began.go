package social

import (
	"context"
	"time"
)

type readKey struct{}

// BeginRead returns a context for the reads of one answer: they need to see what was committed before
// this call, and not what was committed since. Without it, each read sees what was committed before
// that read. Do not use it for a read that follows a write of the same request.
func BeginRead(ctx context.Context) context.Context {
	return context.WithValue(ctx, readKey{}, time.Now())
}

// ReadBegan returns when [BeginRead] was called for the context; otherwise now.
func ReadBegan(ctx context.Context) time.Time {
	at, ok := ctx.Value(readKey{}).(time.Time)
	if !ok {
		return time.Now()
	}
	return at
}
