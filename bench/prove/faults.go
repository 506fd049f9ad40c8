package prove

import (
	"context"
	"fmt"
	"time"
)

// faults kills servers, one after the other, and Redis, until no more calls are made.
func (r *run) faults(ctx context.Context, began moment) error {
	kill, redis := began+r.o.Kill, began+r.o.Redis
	if r.o.Kill <= 0 {
		kill = never
	}
	if r.o.Redis <= 0 || r.redis == nil {
		redis = never
	}
	for server := 0; ; {
		next := min(kill, redis)
		if next >= began+r.o.For || pause(ctx, next-r.now()) != nil {
			return nil
		}
		var err error
		if next == kill {
			err = r.kill(ctx, server)
			server = (server + 1) % len(r.down)
			kill += r.o.Kill
		} else {
			err = r.restartRedis(ctx)
			redis += r.o.Redis
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
}

// kill restarts a server with the clock that it had; a system with one server gets the right clock.
func (r *run) kill(ctx context.Context, server int) error {
	ahead := time.Duration(r.ahead[server].Load())
	if len(r.down) == 1 {
		ahead = 0
	}
	return r.restart(ctx, server, ahead)
}

func (r *run) restart(ctx context.Context, server int, ahead time.Duration) error {
	began := r.now()
	r.down[server].Store(true)
	// A killed server is not left half restarted when the load ends meanwhile.
	err := r.sys.Restart(context.WithoutCancel(ctx), server, ahead)
	r.ahead[server].Store(int64(ahead))
	r.down[server].Store(false)
	if err != nil {
		return fmt.Errorf("restart server %d: %w", server, err)
	}
	r.fault(span{began, r.now()}, fmt.Sprintf("kill -9 of server %d, clock %v ahead afterwards", server, ahead))
	return nil
}

func (r *run) restartRedis(ctx context.Context) error {
	began := r.now()
	if err := r.redis.Restart(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("restart Redis: %w", err)
	}
	r.fault(span{began, r.now()}, "kill -9 of Redis, which starts again with its file")
	return nil
}

func (r *run) fault(s span, what string) {
	r.journal.fault(s, what)
	fmt.Fprintf(r.out, "  %v: %s, %v\n", s.begin.Round(time.Second), what, (s.end - s.begin).Round(time.Millisecond))
}
