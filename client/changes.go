package client

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// changes holds the modifying calls in progress, by caller and subject. Calls on the same subject
// run one at a time, so that the last one takes effect.
type changes struct {
	mu  sync.Mutex
	all map[string][]*change
}

// change is a modifying call in progress.
type change struct {
	waits    context.Context // ends with the call, and when a newer call supersedes it
	overtake context.CancelFunc
	ended    chan struct{}
}

// begin registers a call and returns those before it. If decides is set, it supersedes them.
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
	c.all[what] = left
	if len(left) == 0 {
		delete(c.all, what)
	}
}

// inTurn makes a modifying call after those before it on the same subject. A call without a body,
// such as a like, supersedes earlier ones, because it determines the whole state of its subject.
func (c *Client) inTurn(ctx context.Context, r Request) (Response, error) {
	subject, _, _ := strings.Cut(r.Path, "?until=") // a mute is the same whenever it ends
	what := c.header.Get("X-Agent-ID") + "\n" + c.header.Get("Authorization") + "\n" + subject
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
	superseded := ctx.Err() == nil && mine.waits.Err() != nil
	if err != nil && superseded && mayRetry(err, true) {
		err = fmt.Errorf("%w; the last error: %w", ErrSuperseded, err)
	}
	return res, err
}

// ended returns the reason why a wait ended: the end of the call, or a newer call.
func ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return ErrSuperseded
}

// changesSomething reports whether calls with a method modify the resource at the path.
func changesSomething(method string) bool {
	return method == http.MethodPut || method == http.MethodPatch || method == http.MethodDelete
}
