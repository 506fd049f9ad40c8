package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// look records whether the file is still at its path. If it is not, a restart would not find
// what is appended.
func (j *Journal) look() {
	var moved error
	if there, err := os.Stat(j.path); errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(j.is, there) {
		moved = fmt.Errorf("journal %s: it was removed or replaced while it was open: restart the server", j.path)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.moved = moved
}
