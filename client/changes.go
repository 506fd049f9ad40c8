package client

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
)

// changes are the calls that change something and have not ended, by who makes them and
// what they change. Of one thing there is one at a time, so that the last one decides.
type changes struct {
	mu  sync.Mutex
	all map[string][]*change
}

// change is one of them.
type change struct {
	waits    context.Context // ends with the call, and when a newer call decides
	overtake context.CancelFunc
	ended    chan struct{}
}

// begin notes a call and returns those before it. One that decides overtakes them.
func (c *changes) begin(ctx context.Context, what string, decides bool) (mine *change, before []*change) {
	mine = &change{ended: make(chan struct{})}
	mine.waits, mine.overtake = context.WithCancel(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	before = slices.Clone(c.all[what])
	if decides {
		for _, older := range before {
			older.overtake()
		}
	}
	c.all[what] = append(c.all[what], mine)
	return mine, before
}

func (c *changes) end(what string, mine *change) {
	mine.overtake()
	close(mine.ended)
	c.mu.Lock()
	defer c.mu.Unlock()
	left := slices.DeleteFunc(c.all[what], func(other *change) bool { return other == mine })
	if c.all[what] = left; len(left) == 0 {
		delete(c.all, what)
	}
}

// inTurn makes a call that changes something, after those before it about the same. One
// without a body, such as a like, says all there is to say of its thing.
func (c *Client) inTurn(ctx context.Context, r Request) (Response, error) {
	what := c.header.Get("X-Agent-ID") + "\n" + c.header.Get("Authorization") + "\n" + r.Path
	mine, before := c.changes.begin(ctx, what, r.Body == nil)
	defer c.changes.end(what, mine)
	for _, older := range before {
		select {
		case <-older.ended:
		case <-mine.waits.Done():
			return Response{}, ended(ctx)
		}
	}
	res, err := c.tryAll(ctx, mine.waits, r)
	if err != nil && ctx.Err() == nil && mine.waits.Err() != nil && again(err, true) {
		err = fmt.Errorf("%w; the last try: %w", ErrSuperseded, err)
	}
	return res, err
}

// ended is why a wait ended: with the call, or because a newer one decides.
func ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return ErrSuperseded
}

// changesSomething says whether calls of a method change the thing that the path names.
func changesSomething(method string) bool {
	return method == http.MethodPut || method == http.MethodPatch || method == http.MethodDelete
}
