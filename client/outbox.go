package client

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/freshet/freshet/feed/api"
)

// Change is a change that another system may want to know of. One without a Type only says that nothing
// has happened up to its Cursor.
type Change = api.Change

// ChangeData says what a [Change] is about.
type ChangeData = api.ChangeData

// FromOldest is the cursor before all changes that the server keeps.
const FromOldest = "oldest"

const (
	// changesWait is how long a server waits for a change.
	changesWait = 25 * time.Second
	// changesMost is the number of changes of one answer.
	changesMost = 500
)

// Changes calls GET /v1/changes and yields each change after a cursor, of some types or of all, in the
// order of the changes of each thing. It needs the admin token. Store the Cursor of each change once it
// has been processed, and begin there after a restart; "" begins now. While the server is unreachable or
// busy, Changes tries again, after notifying [WithRetryNotice], without losing or repeating a change. It
// continues until ctx ends or the server refuses the call, which the last error reports: an [*Error]
// with status 410 if the cursor is too old.
func (c *Client) Changes(ctx context.Context, after string, types ...string) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		waits := backoff.NewExponentialBackOff()
		for {
			page, err := c.someChanges(ctx, after, types)
			if err == nil {
				waits.Reset()
				for _, change := range page {
					if change.Cursor == after && change.Type == "" {
						continue
					}
					after = change.Cursor
					if !yield(change, nil) {
						return
					}
				}
				continue
			}
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			if ctx.Err() != nil || !mayRetry(err, true) {
				yield(Change{}, err)
				return
			}
			wait := waits.NextBackOff()
			var refused *Error
			if errors.As(err, &refused) {
				wait = max(wait, refused.RetryAfter)
			}
			if c.notify != nil {
				c.notify(err, wait)
			}
			if err := sleep(ctx, wait); err != nil {
				yield(Change{}, err)
				return
			}
		}
	}
}

// someChanges reads one answer, which ends with a line without a type.
func (c *Client) someChanges(ctx context.Context, after string, types []string) (page []Change, err error) {
	query := url.Values{"limit": {fmt.Sprint(changesMost)}}
	if after != "" { // without a cursor the first answer has the present one, at once
		query.Set("after", after)
		query.Set("wait", changesWait.String())
	}
	if len(types) > 0 {
		query.Set("types", strings.Join(types, ","))
	}
	ctx, cancel := context.WithTimeout(ctx, max(cmp.Or(c.timeout, 0), 2*changesWait))
	defer cancel()
	res, err := c.follow(ctx, "/v1/changes?"+query.Encode(), "application/x-ndjson", nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		var change Change
		if json.Unmarshal(lines.Bytes(), &change) != nil || change.Cursor == "" {
			break // cut off
		}
		page = append(page, change)
		if change.Type == "" {
			return page, nil
		}
	}
	if len(page) > 0 { // what has arrived is whole; the next call continues after it
		return page, nil
	}
	return nil, fmt.Errorf("%w: the answer was cut off: %w", ErrUnreachable, cmp.Or(lines.Err(), io.ErrUnexpectedEOF))
}
