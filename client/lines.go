package client

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/freshet/freshet/internal/gunzip"
)

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

// lineReader cuts lines, holding at most maxLine bytes of one.
type lineReader struct {
	r      *bufio.Reader
	number int // of the line returned last, from 1
	line   []byte
}

// next returns the next line, valid until the next call; the end is [io.EOF].
func (l *lineReader) next() (line []byte, tooLong bool, err error) {
	l.line = l.line[:0]
	l.number++
	for started := false; ; started = true {
		part, err := l.r.ReadSlice('\n')
		if len(l.line)+len(part) > maxLine {
			tooLong = true
		} else {
			l.line = append(l.line, part...)
		}
		switch {
		case err == nil:
			return l.line, tooLong, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && (started || len(part) > 0):
			return l.line, tooLong, nil
		default:
			return nil, false, err
		}
	}
}
