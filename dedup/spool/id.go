package spool

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// idFile has the name of the marker of a spool's directory. The directory may move to a machine with
// another name, as volumes of containers do, and the same path may be another directory there.
const idFile = "id"

// identify returns the id of a spool's directory, which it creates the first time.
func identify(dir string) (string, error) {
	path := filepath.Join(dir, idFile)
	raw, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	id := strings.TrimSpace(string(raw))
	if id != "" {
		return id, nil
	}
	id = rand.Text()
	return id, os.WriteFile(path, []byte(id+"\n"), 0o600)
}

// inspectID returns an error if the user of this process may not read the name of the directory.
func inspectID(dir string) error {
	f, err := os.Open(filepath.Join(dir, idFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	return f.Close()
}
