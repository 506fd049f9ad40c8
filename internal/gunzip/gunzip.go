// Package gunzip decompresses gzip as gzip(1) does: several members in a row, and padding after the
// last one, which tapes, object stores and scripts add.
package gunzip

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
)

// Reader decompresses a gzip stream.
type Reader struct {
	packed *bufio.Reader
	member *gzip.Reader
}

// NewReader returns a reader of the decompressed contents of r. The error is that of r, or means
// that r does not begin with a gzip header.
func NewReader(r io.Reader) (*Reader, error) {
	packed := bufio.NewReader(r)
	member, err := gzip.NewReader(packed)
	if err != nil {
		return nil, err
	}
	member.Multistream(false) // the bytes after a member may be padding
	return &Reader{packed, member}, nil
}

// IfPacked returns a reader of the decompressed contents of r if r begins as gzip does, otherwise of r
// as it is.
func IfPacked(r io.Reader) (io.Reader, error) {
	buffered := bufio.NewReader(r)
	head, err := buffered.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(head) < 2 || head[0] != 0x1f || head[1] != 0x8b {
		return buffered, nil
	}
	unpacked, err := NewReader(buffered)
	if err != nil {
		return nil, fmt.Errorf("it begins like a gzip file but is invalid: %w", err)
	}
	return unpacked, nil
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

// next advances to the next member. It returns [io.EOF] if there is none.
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
