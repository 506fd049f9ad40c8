package bench

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// refreshRate is the number of refreshes per second in a flow. It is a fraction of one core's
// capacity, so that refreshes do not queue behind each other.
const refreshRate = 100

// leastAnswer is less than the size of any page of the demo's items.
const leastAnswer = page * 100

// flow sends refreshes at a fixed rate, regardless of the answers, like independent readers. The
// time of a refresh starts when it is due: a server that stalls for a second delays all refreshes
// due in it, and a client that waited for each answer would count only one.
type flow struct {
	addr   string
	rate   int // per second
	agents int
	asked  int // refreshes so far; readers take turns
}

// warm runs the flow for a moment.
func (f *flow) warm(ctx context.Context) error {
	_, err := f.during(ctx, func(ctx context.Context) error { return sleep(ctx, 200*time.Millisecond) })
	return err
}

// due is a refresh and the time it is due.
type due struct {
	at    time.Time
	agent string
}

// during runs the flow while do runs, and waits for the answers.
func (f *flow) during(ctx context.Context, do func(context.Context) error) (turn, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan due, 1<<16) // holds minutes of the flow, which must not block
	turns := make([]turn, clients)
	var wg sync.WaitGroup
	for i := range clients {
		c, err := dial(ctx, f.addr)
		if err != nil {
			cancel(err)
			break
		}
		wg.Go(func() {
			defer func() { _ = c.conn.Close() }()
			defer context.AfterFunc(ctx, func() { _ = c.conn.Close() })()
			if turns[i], err = c.refresh(queue); err != nil {
				cancel(err)
			}
		})
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		defer close(queue)
		f.emit(ctx, queue, stop)
	}()
	start := time.Now()
	err := do(ctx)
	sum := turn{took: time.Since(start), times: newTimes()}
	close(stop)
	<-stopped
	wg.Wait()
	for _, t := range turns {
		if t.times != nil {
			sum.answers += t.answers
			sum.times.Merge(t.times)
		}
	}
	cause := context.Cause(ctx)
	if cause != nil {
		return sum, cause // the first error
	}
	return sum, err
}

// emit queues refreshes when they are due. The first two are due at once, so that even the
// shortest turn has some.
func (f *flow) emit(ctx context.Context, queue chan<- due, stop <-chan struct{}) {
	period := time.Second / time.Duration(f.rate)
	next := time.Now()
	f.ask(queue, next)
	for {
		for ; !next.After(time.Now()); next = next.Add(period) {
			f.ask(queue, next)
		}
		select {
		case <-ctx.Done():
			return
		case <-stop:
			return
		case <-time.After(time.Until(next)):
		}
	}
}

func (f *flow) ask(queue chan<- due, at time.Time) {
	queue <- due{at: at, agent: reader(f.asked % f.agents)}
	f.asked++
}

// refresh sends the queued refreshes, until the queue is closed or an error ends the flow.
func (c *client) refresh(queue <-chan due) (turn, error) {
	t := turn{times: newTimes()}
	for d := range queue {
		body, err := c.post(d.agent, "refresh")
		if err == nil && len(body) < leastAnswer {
			err = fmt.Errorf("it has only %d bytes", len(body))
		}
		if err == nil {
			t.answers += int64(len(body))
			err = t.times.RecordValue(int64(time.Since(d.at)))
		}
		if err != nil {
			return t, fmt.Errorf("a refresh of %s: %w", d.agent, err)
		}
	}
	return t, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
