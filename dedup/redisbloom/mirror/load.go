package mirror

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// errChanged says that a filter was written to, or went, while it was copied.
var errChanged = errors.New("the filter changed while it was copied")

// look is what a filter looks like from outside: a filter that is written to
// looks different afterwards. The zero look is that of one that is not there.
type look struct {
	there bool
	info  redis.BFInfo
}

// copier copies one filter.
type copier struct {
	client redis.Cmdable
	key    string
	pace   func(bytes int) error // waits so that copying stays within its rate
}

// look asks the server. The error is that of BF.INFO where something is there
// that is no filter.
func (c copier) look(ctx context.Context) (look, error) {
	pipe := c.client.Pipeline()
	return readLook(pipe.Exists(ctx, c.key), pipe.BFInfo(ctx, c.key), execOf(ctx, pipe))
}

// execOf runs a pipeline; the error is nil where the commands have errors of
// their own.
func execOf(ctx context.Context, pipe redis.Pipeliner) error {
	if _, err := pipe.Exec(ctx); err != nil && !isReply(err) {
		return err
	}
	return nil
}

// isReply reports whether the error is the server's answer to one command.
func isReply(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply)
}

func readLook(exists *redis.IntCmd, info *redis.BFInfoCmd, failed error) (look, error) {
	if failed != nil {
		return look{}, failed
	}
	n, err := exists.Result()
	if err != nil || n == 0 {
		return look{}, err
	}
	l := look{there: true}
	l.info, err = info.Result()
	return l, err
}

// dump copies a filter that looks like that; one that is not there is empty.
// The error wraps errLayout where the server's dumps have another layout.
func (c copier) dump(ctx context.Context, before look) (*exactFilter, error) {
	if !before.there {
		return new(exactFilter), nil
	}
	first, err := c.client.BFScanDump(ctx, c.key, 0).Result()
	if err != nil {
		return nil, err
	}
	header, err := parseHeader(first.Data)
	if err != nil {
		return nil, err
	}
	if err := header.agrees(before.info); err != nil {
		return nil, c.unless(ctx, before, err)
	}
	f := newExactFilter(header)
	for at, iter := uint64(0), first.Iter; ; {
		if iter != int64(at)+1 {
			return nil, fmt.Errorf("%w: iterator %d at byte %d", errLayout, iter, at)
		}
		piece, err := c.client.BFScanDump(ctx, c.key, iter).Result()
		if err != nil {
			return nil, err
		}
		if piece.Iter == 0 && at == header.size() {
			break
		}
		if len(piece.Data) == 0 {
			err = fmt.Errorf("%w: nothing at byte %d of %d", errLayout, at, header.size())
		} else {
			err = f.fill(at, piece.Data)
		}
		if err != nil {
			return nil, c.unless(ctx, before, err)
		}
		at, iter = at+uint64(len(piece.Data)), piece.Iter
		if err := c.pace(len(piece.Data)); err != nil {
			return nil, err
		}
	}
	return f, c.unless(ctx, before, nil)
}

// unless returns errChanged if the filter no longer looks as before, else err.
func (c copier) unless(ctx context.Context, before look, err error) error {
	after, failed := c.look(ctx)
	switch {
	case failed != nil:
		return failed
	case after != before:
		return errChanged
	}
	return err
}
