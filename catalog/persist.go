package catalog

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/freshet/freshet/feed"
)

// An upload tries again what is refused for now, because a queue was full or a shard on its
// way, but not for so long that its sender gives up.
const (
	firstPause = 100 * time.Millisecond
	patience   = 3 * time.Second // for the pauses; the last try may take longer
)

// persist does put for n entries, given by their numbers, and again for those that cannot be
// done for now ([ErrUnavailable]). put answers as [Writer]'s Put does. The errors are by
// entry; the error says why some of them are not known to be done.
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

// those returns the entries at these indexes.
func those[E any](all []E, of []int) []E {
	some := make([]E, len(of))
	for k, i := range of {
		some[k] = all[i]
	}
	return some
}

// updateEach updates the items of entries, whose ids are distinct, each by its entry, and answers
// as [Writer]'s Put does.
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
