// Package repeat does work again and again.
package repeat

import (
	"context"
	"time"
)

// Every calls work after each pause until ctx ends. A pause that ends while work is under
// way is followed by the next call at once, several by one.
func Every(ctx context.Context, pause time.Duration, work func(context.Context)) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			work(ctx)
		case <-ctx.Done():
			return
		}
	}
}
