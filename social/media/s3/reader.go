package s3

import (
	"context"
	"errors"
	"io"
)

// reader reads an object with one request, and one more after each seek to another offset, or after a connection
// was cut. It never mixes two versions of an object.
type reader struct {
	ctx  context.Context                       //nolint:containedctx // of the requests
	from func(at int64) (io.ReadCloser, error) // reads from an offset to the end
	size int64
	kind string
	etag string

	body io.ReadCloser // nil if none is open
	at   int64         // offset in the file of the next Read
	pos  int64         // offset in the file of body
	cuts int           // connections that were cut since the last byte
}

// Read implements [media.Reader].
func (r *reader) Read(p []byte) (int, error) {
	if r.at >= r.size {
		return 0, io.EOF
	}
	if r.body == nil || r.at != r.pos {
		if err := r.Close(); err != nil {
			return 0, err
		}
		body, err := r.from(r.at)
		if err != nil {
			return 0, err
		}
		r.body, r.pos = body, r.at
	}
	n, err := r.body.Read(p)
	r.at += int64(n)
	r.pos = r.at
	if n > 0 {
		r.cuts = 0
	}
	if err != nil && r.at < r.size && r.cuts < tries && r.ctx.Err() == nil {
		r.cuts++
		_ = r.Close() // the next Read continues with another request
		return n, nil
	}
	return n, err
}

// Seek implements [media.Reader]. It makes no request.
func (r *reader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		offset += r.size
	}
	if offset < 0 {
		return 0, errors.New("negative file offset")
	}
	r.at = offset
	return offset, nil
}

// Close implements [media.Reader].
func (r *reader) Close() error {
	if r.body == nil {
		return nil
	}
	err := r.body.Close()
	r.body = nil
	return err
}

// ContentType implements [media.Reader].
func (r *reader) ContentType() string { return r.kind }
