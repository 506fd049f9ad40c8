package prove

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"time"
)

// schedule makes faults in turn, one after each pause.
type schedule struct {
	pause time.Duration
	turn  []Fault
	next  moment
	made  int
}

func newSchedule(began moment, pause time.Duration, turn []Fault) *schedule {
	s := &schedule{pause: pause, turn: turn, next: never}
	if pause > 0 && len(turn) > 0 {
		s.next = began + pause
	}
	return s
}

// faults makes those of all schedules, one at a time, until no more calls are made.
func (r *run) faults(ctx context.Context, began moment) error {
	kills := make([]Fault, len(r.down))
	for server := range kills {
		kills[server] = Fault{Do: func(ctx context.Context) error { return r.kill(ctx, server) }}
	}
	all := []*schedule{
		newSchedule(began, r.o.Kill, kills),
		newSchedule(began, r.o.Redis, r.services.Redis),
		newSchedule(began, r.o.Every, append(r.ofServers(), r.services.Other...)),
	}
	for {
		s := all[0]
		for _, other := range all[1:] {
			if other.next < s.next {
				s = other
			}
		}
		if s.next >= began+r.o.For || pause(ctx, s.next-r.now()) != nil {
			return nil
		}
		err := r.disturb(ctx, s.turn[s.made%len(s.turn)])
		if err != nil && ctx.Err() == nil {
			return err
		}
		s.made++
		s.next = max(s.next+s.pause, r.now()+s.pause/2) // none follows at once on one that took long
	}
}

// disturb makes one fault. A service is not left broken when the load ends meanwhile.
func (r *run) disturb(ctx context.Context, f Fault) error {
	if f.Await != nil {
		if err := f.Await(ctx); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	began := r.now()
	if err := f.Do(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	if f.Name != "" {
		r.fault(span{began, r.now()}, f.Name)
	}
	return nil
}

// frozen is how long a server that is paused does nothing.
const frozen = 3 * time.Second

// ofServers are the faults of the servers, other than kills: each is paused, and gets another clock.
func (r *run) ofServers() (all []Fault) {
	for server := range r.down {
		all = append(all,
			Fault{Name: fmt.Sprintf("SIGSTOP of server %d", server), Do: func(ctx context.Context) error { return r.freeze(ctx, server) }},
			Fault{Do: func(ctx context.Context) error { return r.jump(ctx, server) }})
	}
	return all
}

// freeze stops a server's process for a while, in which calls go on to reach it.
func (r *run) freeze(ctx context.Context, server int) error {
	ids := r.sys.Processes()
	if len(ids) != len(r.down) {
		return nil // it cannot be told which is which
	}
	process, err := os.FindProcess(ids[server])
	if err != nil {
		return err
	}
	if err := process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	_ = pause(ctx, frozen)
	return process.Signal(syscall.SIGCONT)
}

// jump kills a server, whose clock is ahead from now on, or no longer.
func (r *run) jump(ctx context.Context, server int) error {
	ahead := r.o.Ahead
	if r.ahead[server].Load() != 0 {
		ahead = 0
	}
	return r.restart(ctx, server, ahead)
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

func (r *run) fault(s span, what string) {
	r.journal.fault(s, what)
	fmt.Fprintf(r.out, "  %v: %s, %v\n", s.begin.Round(time.Second), what, (s.end - s.begin).Round(time.Millisecond))
}
