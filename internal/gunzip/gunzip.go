// Package gunzip unpacks gzip as gzip(1) does: members that stand one after the other, and
// padding behind the last one, which tapes, object stores and scripts leave there.
package gunzip

import (
	"bufio"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
)

// Reader unpacks what it reads.
type Reader struct {
	packed *bufio.Reader
	member *gzip.Reader
}

// NewReader returns a reader of what r has packed. The error is that of r, or says that it
// has not the beginning of gzip.
func NewReader(r io.Reader) (*Reader, error) {
	packed := bufio.NewReader(r)
	member, err := gzip.NewReader(packed)
	if err != nil {
		return nil, err
	}
	member.Multistream(false) // what follows a member may be padding
	return &Reader{packed, member}, nil
}

// Read implements [io.Reader].
func (r *Reader) Read(p []byte) (int, error) {
	for {
		n, err := r.member.Read(p)
		if n > 0 || !errors.Is(err, io.EOF) {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return n, err
		}
		if err := r.next(); err != nil {
			return 0, err
		}
	}
}

// next goes on to the next member. [io.EOF] says that there is none.
func (r *Reader) next() error {
	for {
		c, err := r.packed.ReadByte()
		if err != nil {
			return err
		}
		switch c {
		case 0, ' ', '\t', '\r', '\n':
			continue
		}
		if err := r.packed.UnreadByte(); err != nil {
			return err
		}
		if err := r.member.Reset(r.packed); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
		r.member.Multistream(false)
		return nil
	}
}
