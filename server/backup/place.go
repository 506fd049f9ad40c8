package backup

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/server/connect"
)

// claim marks a directory as one of backups and locks it.
func claim(dir string, cfg configs.Config) (*flock.Flock, error) {
	if err := apart(dir, cfg); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	mark := filepath.Join(dir, markName)
	if _, err := os.Stat(mark); errors.Is(err, fs.ErrNotExist) {
		if err := onlyOurs(dir); err != nil {
			return nil, err
		}
	}
	lock := flock.New(mark, flock.SetFlag(os.O_RDWR|os.O_CREATE), flock.SetPermissions(0o600))
	locked, err := lock.TryLock()
	switch {
	case err != nil:
		return nil, fmt.Errorf("lock %s: %w", mark, err)
	case !locked:
		return nil, fmt.Errorf("another freshet backup writes to %s; wait until it has ended", dir)
	}
	return lock, nil
}

// onlyOurs returns an error if a directory without a mark has files. The mark may have been made meanwhile, and
// the root of a file system has lost+found.
func onlyOurs(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.Name() != markName && e.Name() != lostFound {
			return fmt.Errorf("%s has files that are not a backup's, such as %s; name a new directory, or that of an earlier backup", dir, e.Name())
		}
	}
	return err
}

// apart returns an error if the directory of a backup and one that servers write to are within each other,
// whatever symbolic links lead to them: a backup would be lost with what it copies, copy itself, or remove
// files of servers as old files of its own.
func apart(dir string, cfg configs.Config) error {
	folders := map[string]string{"data_dir": cfg.DataDir}
	u, err := url.Parse(cfg.Media.URL)
	if err == nil && u.Scheme == "file" {
		folders["the folder of media.url"] = connect.FolderOf(u)
	}
	at, err := resolved(dir)
	if err != nil {
		return err
	}
	for what, folder := range folders {
		other, err := resolved(folder)
		switch {
		case err != nil:
			return err
		case isWithin(at, other):
			return fmt.Errorf("%s is within %s, and would be lost with it; name a directory elsewhere", dir, what)
		case isWithin(other, at):
			return fmt.Errorf("%s, %s, is within %s; name a directory that has nothing but backups", what, folder, dir)
		}
	}
	return nil
}

// resolved returns a directory's absolute path without symbolic links, which need not exist whole.
func resolved(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	direct, err := filepath.EvalSymlinks(dir)
	above := filepath.Dir(dir)
	if !errors.Is(err, fs.ErrNotExist) || above == dir {
		return direct, err
	}
	direct, err = resolved(above)
	return filepath.Join(direct, filepath.Base(dir)), err
}

// isWithin reports whether a directory is another one or below it.
func isWithin(dir, other string) bool {
	rel, err := filepath.Rel(other, dir)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
