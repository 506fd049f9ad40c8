package catalog

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/freshet/freshet/feed"
)

// An upload retries writes that are refused temporarily, because a queue is full or a shard is
// relocating, but not longer than its sender waits.
const (
	firstPause = 100 * time.Millisecond
	patience   = 3 * time.Second // total of the pauses; the last attempt may take longer
)

// persist calls put for n entries, given by their indexes, and retries those that fail with
// [ErrUnavailable]. put returns errors like [Writer]'s Put. persist returns one error per
// entry; its second error is the reason why some entries are not known to be stored.
func persist(ctx context.Context, n int, put func(of []int) ([]error, error)) ([]error, error) {
	errs, left := make([]error, n), make([]int, n)
	for i := range left {
		left[i] = i
	}
	try := func() (struct{}, error) {
		of := left
		left = nil
		got, err := put(of)
		for k, i := range of {
			errs[i] = err
			if got != nil && got[k] != nil {
				errs[i] = got[k]
			}
			if errors.Is(errs[i], ErrUnavailable) {
				left = append(left, i)
			}
		}
		switch {
		case len(left) > 0:
			return struct{}{}, errs[left[0]]
		case err != nil:
			return struct{}{}, backoff.Permanent(err)
		}
		return struct{}{}, nil
	}
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval, pauses.Multiplier = firstPause, 2
	_, err := backoff.Retry(ctx, try, backoff.WithBackOff(pauses), backoff.WithMaxElapsedTime(patience))
	return errs, err
}

// pick returns the entries at these indexes.
func pick[E any](all []E, of []int) []E {
	some := make([]E, len(of))
	for k, i := range of {
		some[k] = all[i]
	}
	return some
}

// updateEach updates the items of entries with distinct ids, each with its entry, and returns
// errors like [Writer]'s Put.
func updateEach[E any](ctx context.Context, w Writer, entries []E, id func(E) string, change func(E, feed.Item) (feed.Item, error)) ([]error, error) {
	ids, byID := make([]string, len(entries)), make(map[string]E, len(entries))
	for i, e := range entries {
		ids[i] = id(e)
		byID[ids[i]] = e
	}
	all, err := w.Update(ctx, ids, func(it feed.Item) (feed.Item, error) { return change(byID[it.ID], it) })
	if err != nil {
		return nil, err
	}
	errs := make([]error, len(all))
	for i := range all {
		errs[i] = all[i].Err
	}
	return errs, nil
}
