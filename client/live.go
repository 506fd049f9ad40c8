package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/freshet/freshet/internal/gunzip"
)

// live is a file, gzipped or not, that is read in the background: a read that waits holds
// up neither the end of ctx nor what came before.
type live struct {
	ctx    context.Context
	chunks chan chunk
	rest   chunk        // what is left of the last one
	look   *time.Ticker // when slow is called
	slow   func() error // sends what has waited long enough
}

type chunk struct {
	data []byte
	err  error // after the data
}

// readLive reads r until ctx ends, and calls slow again and again while nothing comes.
func readLive(ctx context.Context, r io.Reader, slow func() error) *live {
	l := &live{ctx: ctx, chunks: make(chan chunk), look: time.NewTicker(longestStay / 2), slow: slow}
	go l.fetch(r)
	return l
}

// fetch hands chunks on. Who asks for the next one is done with the one before, so there are
// two buffers.
func (l *live) fetch(packed io.Reader) {
	r, err := unzip(packed)
	var bufs [2][64 << 10]byte
	for i := 0; ; i ^= 1 {
		var c chunk
		if c.err = err; err == nil {
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
		case <-l.look.C:
			if err := l.slow(); err != nil {
				return 0, err
			}
		}
	}
	n := copy(p, l.rest.data)
	l.rest.data = l.rest.data[n:]
	return n, nil
}

// unzip looks for the two bytes every gzip file starts with.
func unzip(r io.Reader) (io.Reader, error) {
	buffered := bufio.NewReader(r)
	head, err := buffered.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(head) < 2 || head[0] != 0x1f || head[1] != 0x8b {
		return buffered, nil
	}
	zr, err := gunzip.NewReader(buffered)
	if err != nil {
		return nil, fmt.Errorf("it begins like a gzip file but is not one: %w", err)
	}
	return zr, nil
}
