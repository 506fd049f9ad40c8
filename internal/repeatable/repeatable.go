// Package repeatable reads files that a process reads again while it runs, such as certificates.
package repeatable

import (
	"fmt"
	"os"
)

// ReadFile reads a whole file. A pipe is an error: it can be read only once, and reading it again may
// wait for ever.
func ReadFile(path string) ([]byte, error) {
	if err := Check(path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// Check returns an error for a pipe, and none for what cannot be examined.
func Check(path string) error {
	if IsPipe(path) {
		return fmt.Errorf("%s is a pipe, and must be a file: it is read again while the server runs", path)
	}
	return nil
}

// IsPipe reports whether a path leads to a pipe: one with a name, /dev/stdin, or the <(…) of a shell.
func IsPipe(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&os.ModeNamedPipe != 0
}
