package quality

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/freshet/freshet/feed"
)

// eachLine calls fn with each non-empty line of a file, which may be gzipped, whatever its name.
// Errors name the file and the line.
func eachLine(path string, fn func(line string) error) (err error) {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	source, err := unpacked(file)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	lines := bufio.NewScanner(source)
	lines.Buffer(nil, 2*feed.MaxItemBytes)
	number := 1
	for ; lines.Scan(); number++ {
		if lines.Text() == "" {
			continue
		}
		if err := fn(lines.Text()); err != nil {
			return fmt.Errorf("%s:%d: %w", path, number, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s:%d: %w", path, number, err)
	}
	return nil
}

// unpacked returns the content of a file, decompressed if it is gzipped.
func unpacked(file io.Reader) (io.Reader, error) {
	source := bufio.NewReader(file)
	magic, _ := source.Peek(2)
	if string(magic) == "\x1f\x8b" {
		return gzip.NewReader(source)
	}
	return source, nil
}
