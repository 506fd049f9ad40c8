package prove

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// What a device does when calls fail.
const (
	tryFor  = 10 * time.Second       // an attempt without an answer has failed
	giveUp  = 45 * time.Second       // no attempt begins later: request ids are kept for a minute
	between = 100 * time.Millisecond // between two attempts, unless an answer asks for more: see [Later]
)

// errLost is the outcome of an attempt whose answer did not arrive.
var errLost = errors.New("the answer was lost on the way")

// server returns the server that a device calls: its own, or the next one that is not restarting.
// So does a gateway that asks whether servers are ready.
func (r *run) server(device int) int {
	n := len(r.down)
	for i := range n {
		at := (device + i) % n
		if !r.down[at].Load() {
			return at
		}
	}
	return device % n
}

// attempt is one try of a call.
type attempt struct {
	server int
	span   span
	err    error
}

// persist makes a call, and repeats it until it is answered, refused or given up. The first
// attempt may be disturbed as the step says. It returns all attempts.
func (r *run) persist(ctx context.Context, s step, call func(ctx context.Context, server int) error) (tries []attempt) {
	began := r.now()
	for try := 0; ; try++ {
		a := attempt{server: r.server(s.device)}
		a.span.begin = r.now()
		limit := tryFor
		if try == 0 && s.hangs > 0 {
			limit = s.hangs
		}
		trying, cancel := context.WithTimeout(ctx, limit)
		a.err = call(trying, a.server)
		cancel()
		a.span.end = r.now()
		if try == 0 && s.lost && a.err == nil {
			a.err = errLost
		}
		tries = append(tries, a)
		over := a.err == nil || errors.Is(a.err, ErrRefused) || ctx.Err() != nil || r.now()-began > giveUp
		wait := between
		var later *Later
		if errors.As(a.err, &later) {
			wait = max(wait, later.After)
		}
		if over || pause(ctx, wait) != nil {
			return tries
		}
	}
}

// do makes the call of a step.
func (r *run) do(ctx context.Context, s step, due moment) {
	var err error
	switch s.kind {
	case read:
		_, err = r.next(ctx, s, due)
	case publish:
		err = r.publish(ctx, s, post(fmt.Sprintf("new%d", s.n), s.a, s.only))
	case erase:
		err = r.delete(ctx, s)
	default:
		err = r.relate(ctx, s)
	}
	if err != nil && ctx.Err() == nil {
		r.tally.failed(s.kind, err)
	}
}

// next shows a reader the next page, and has the model judge it.
func (r *run) next(ctx context.Context, s step, due moment) (int, error) {
	c := Call{Reader: s.a, Device: s.device, RequestID: fmt.Sprintf("%s-%d-%d", s.a, s.n, due), More: s.more, Limit: r.o.Limit}
	var p Page
	r.journal.begin(c, r.now())
	defer r.journal.end(c)
	tries := r.persist(ctx, s, func(ctx context.Context, server int) (err error) {
		p, err = r.sys.Next(ctx, server, c)
		return err
	})
	last := tries[len(tries)-1]
	r.journal.read(c, tries, p)
	if last.err != nil {
		r.gaveUp(s.a)
		return 0, last.err
	}
	r.tally.answered(last.span.end-due, len(p.Entries))
	for _, v := range r.model.show(c, p, last.span) {
		r.found(c, v, last.span)
	}
	if len(p.Entries) == 0 {
		r.empty(c, p.MayLack, tries[0].span.begin, last.span)
	}
	return len(p.Entries), nil
}

// settled is the time after which a post counts as more that an empty page should have had.
const settled = 5 * time.Second

// empty judges a page without entries: there may have been more.
func (r *run) empty(c Call, marked bool, began moment, s span) {
	if r.journal.overlaps(c, span{began, s.end}) { // the other device may have taken the last entries
		return
	}
	more := r.model.missing(c.Reader, began-settled)
	if len(more) == 0 {
		return
	}
	if marked {
		r.tally.emptyMarked.Add(1)
	} else {
		r.tally.empty.Add(1)
	}
	r.finding(Finding{Kind: "empty", Reader: c.Reader, Entry: more[0], Marked: marked, At: s.end.Seconds(), Text: fmt.Sprintf("an empty page for %s, with %d entries to show, %s among them", c.RequestID, len(more), more[0])}, s)
}

func (r *run) gaveUp(reader string) {
	n, _ := r.unsure.LoadOrStore(reader, new(int))
	r.model.mu.Lock()
	defer r.model.mu.Unlock()
	*n.(*int)++
}
