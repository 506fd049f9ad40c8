package s3

import (
	"errors"
	"io"
)

// reader reads an object with one request, and one more after each seek to another offset.
type reader struct {
	from func(at int64) (io.ReadCloser, error) // reads from an offset to the end
	size int64
	kind string

	body io.ReadCloser // nil if none is open
	at   int64         // offset in the file of the next Read
	pos  int64         // offset in the file of body
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
