package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/freshet/freshet/internal/gunzip"
)

// live reads a file, gzipped or not, in the background: a pending read delays neither the end of
// ctx nor the data read before.
type live struct {
	ctx    context.Context
	chunks chan chunk
	rest   chunk        // unread part of the last chunk
	ticker *time.Ticker // interval at which lines that have waited long enough are sent
	upload *upload
}

type chunk struct {
	data []byte
	err  error // after the data
}

// readLive reads r for an upload until ctx ends.
func readLive(ctx context.Context, r io.Reader, u *upload) *live {
	l := &live{ctx: ctx, chunks: make(chan chunk), ticker: time.NewTicker(longestStay / 2), upload: u}
	go l.fetch(r)
	return l
}

// fetch sends chunks to Read. Read asks for the next chunk only when it is done with the previous
// one, so two buffers suffice.
func (l *live) fetch(packed io.Reader) {
	r, err := gunzip.IfPacked(packed)
	var bufs [2][64 << 10]byte
	for i := 0; ; i ^= 1 {
		var c chunk
		c.err = err
		if err == nil {
			var n int
			n, err = r.Read(bufs[i][:])
			if errors.Is(err, io.ErrUnexpectedEOF) {
				err = fmt.Errorf("the gzip file ends early: %w", err)
			}
			c = chunk{bufs[i][:n], err}
		}
		select {
		case l.chunks <- c:
		case <-l.ctx.Done():
			return
		}
		if c.err != nil {
			return
		}
	}
}

// Read implements [io.Reader].
func (l *live) Read(p []byte) (int, error) {
	for len(l.rest.data) == 0 {
		if l.rest.err != nil {
			return 0, l.rest.err
		}
		select {
		case l.rest = <-l.chunks:
		case <-l.ctx.Done():
			return 0, l.ctx.Err()
		case <-l.upload.answered():
			l.upload.settle()
			if l.upload.failed != nil {
				return 0, l.upload.failed
			}
		case <-l.ticker.C:
			if err := l.upload.flushSlow(); err != nil {
				return 0, err
			}
		}
	}
	n := copy(p, l.rest.data)
	l.rest.data = l.rest.data[n:]
	return n, nil
}
