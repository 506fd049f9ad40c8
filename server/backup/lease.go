package backup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/safego"
	"github.com/freshet/freshet/social/media/s3"
)

const (
	// renewEvery is the time between two renewals of a lease.
	renewEvery = 30 * time.Second
	// leaseFor is how long a lease that is not renewed is still one of a running process.
	leaseFor = 4 * renewEvery
)

// lease is the claim of a process to a place that other machines can write to. The mark of the place says who has
// it, and is written again every half a minute. A process that was killed does not: the next one watches the mark
// for [leaseFor], by its own clock, and takes it over if it stays the same.
type lease struct {
	store interface {
		Get(ctx context.Context, name string) (data []byte, etag string, err error)
		Swap(ctx context.Context, name string, data []byte, etag string) (string, error)
	}
	place string // for messages

	mu   sync.Mutex
	mine holder
	etag string
}

// holder is the content of the mark of a place.
type holder struct {
	Host    string    `json:"host,omitempty"` // "" if nobody has the place
	Process int       `json:"process,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	Renewed int       `json:"renewed,omitempty"` // times
}

func (l *lease) read(ctx context.Context) (by holder, etag string, err error) {
	data, etag, err := l.store.Get(ctx, markName)
	if errors.Is(err, feed.ErrNotFound) {
		return holder{}, "", nil
	}
	if err != nil {
		return holder{}, "", fmt.Errorf("%s: %w", l.place, err)
	}
	_ = json.Unmarshal(data, &by) // what cannot be read is nobody's
	return by, etag, nil
}

// take returns a context that ends when the lease is lost, and what gives it back. It tells why it waits.
func (l *lease) take(ctx context.Context, tell func(text string)) (held context.Context, release func() error, err error) {
	for seen := ""; ; {
		by, etag, err := l.read(ctx)
		if err != nil {
			return nil, nil, err
		}
		if by.Host == "" || etag == seen {
			l.etag = etag
			break
		}
		who := fmt.Sprintf("process %d on %s, since %s", by.Process, by.Host, by.Since.Format(time.RFC3339))
		if seen != "" {
			return nil, nil, fmt.Errorf("another freshet backup (%s) writes to %s; wait until it has ended", who, l.place)
		}
		seen = etag
		tell(fmt.Sprintf("%s may be in use (%s); waiting %v to see whether that backup still runs", l.place, who, leaseFor))
		select {
		case <-time.After(leaseFor):
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "unknown"
	}
	l.mine = holder{Host: host, Process: os.Getpid(), Since: time.Now().UTC()}
	if err := l.check(ctx); err != nil {
		return nil, nil, err
	}
	held, lost := context.WithCancel(ctx)
	renewing, stop := context.WithCancel(held)
	var renewal errgroup.Group
	renewal.Go(safego.Func(func() error { defer lost(); return l.renew(renewing) }))
	return held, func() error {
		stop()
		if err := renewal.Wait(); err != nil {
			return err
		}
		l.mine = holder{}
		return l.check(context.WithoutCancel(ctx))
	}, nil
}

// check renews the lease; it returns an error if that is not possible, or another process has it.
func (l *lease) check(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, renewEvery)
	defer cancel()
	if l.mine.Host != "" {
		l.mine.Renewed++
	}
	data, err := json.Marshal(l.mine)
	if err != nil {
		return err
	}
	etag, err := l.store.Swap(ctx, markName, data, l.etag)
	if errors.Is(err, s3.ErrChanged) { // perhaps by this call, whose answer was lost
		there, now, readErr := l.store.Get(ctx, markName)
		if readErr == nil && bytes.Equal(there, data) {
			etag, err = now, nil
		}
	}
	if err != nil {
		return fmt.Errorf("%s could not be claimed, and another freshet backup may write there: %w", l.place, err)
	}
	l.etag = etag
	return nil
}

// renew renews the lease until a context ends. It returns an error if the lease is lost.
func (l *lease) renew(ctx context.Context) error {
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	for renewed := time.Now(); ; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
		err := l.check(ctx)
		switch {
		case err == nil:
			renewed = time.Now()
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, s3.ErrChanged), time.Since(renewed) > leaseFor/2: // the next process waits for the whole
			return err
		}
	}
}
