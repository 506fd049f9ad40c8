package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup/journal"
	"github.com/freshet/freshet/server/connect"
)

// place is where the files of a backup are. Names of files and folders have slashes; folders end with one.
type place interface {
	// apart returns an error if servers with this configuration write to the same place.
	apart(cfg configs.Config) error
	// claim marks the place as one of backups, for this process alone until release is called. The context that
	// it returns ends if another process has taken the place over. It tells why it waits.
	claim(ctx context.Context, tell func(text string)) (held context.Context, release func() error, err error)
	// check returns an error unless the claim still holds.
	check(ctx context.Context) error
	// create begins a file, which is there, whole, once its Finish has returned.
	create(ctx context.Context, name string) (upload, error)
	// open opens a file. The error is [fs.ErrNotExist] if there is none.
	open(ctx context.Context, name string) (io.ReadCloser, error)
	// each calls do with the name and the size of each file in a folder, "" for all; the names are without the
	// folder's. Unless deep is set, a folder in it is one call, with a name that ends with a slash.
	each(ctx context.Context, folder string, deep bool, do func(name string, size int64) error) error
	// remove removes a file, or all of a folder.
	remove(ctx context.Context, name string) error
	// sync makes the names of the files in a folder durable; if deep is set, also of those below.
	sync(folder string, deep bool) error
	// path returns the path at which a library can write a file itself, "" if there is none.
	path(name string) string
	// shown returns the name of a file for messages.
	shown(name string) string
}

// upload is a file that is being written.
type upload interface {
	io.Writer
	Finish() error
	Abort() error // gives up what is not finished
}

// placeOf returns the place that an argument of a command names.
func placeOf(address string) (place, error) {
	switch scheme, _, ok := strings.Cut(address, "://"); {
	case ok && scheme == "s3":
		return openBucket(address)
	case ok:
		return nil, errors.New("a backup is in a directory, or in s3://BUCKET/PREFIX; there is no other kind of address")
	}
	return directory(address), nil
}

// directory is a [place] in the file system.
type directory string

func (d directory) path(name string) string {
	return filepath.Join(string(d), filepath.FromSlash(name))
}
func (d directory) shown(name string) string { return d.path(name) }

func (d directory) check(context.Context) error { return nil }

func (d directory) claim(ctx context.Context, _ func(string)) (context.Context, func() error, error) {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return nil, nil, err
	}
	if _, err := os.Stat(d.path(markName)); errors.Is(err, fs.ErrNotExist) {
		if err := onlyOurs(ctx, d); err != nil {
			return nil, nil, err
		}
	}
	lock := flock.New(d.path(markName), flock.SetFlag(os.O_RDWR|os.O_CREATE), flock.SetPermissions(0o600))
	locked, err := lock.TryLock()
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("lock %s: %w", d.path(markName), err)
	case !locked:
		return nil, nil, fmt.Errorf("another freshet backup writes to %s; wait until it has ended", d)
	}
	return ctx, lock.Close, nil
}

// onlyOurs returns an error if a place without a mark has files. The mark may have been made meanwhile, and the
// root of a file system has lost+found.
func onlyOurs(ctx context.Context, p place) error {
	return p.each(ctx, "", false, func(name string, _ int64) error {
		if name == markName || name == lostFound+"/" {
			return nil
		}
		return fmt.Errorf("%s has files that are not a backup's, such as %s; name a new directory, or that of an earlier backup", p.shown(""), strings.TrimSuffix(name, "/"))
	})
}

// unfinished is the end of the name of a file until it is finished.
const unfinished = ".part"

type localFile struct {
	*os.File
	path string
}

func (d directory) create(_ context.Context, name string) (upload, error) {
	path := d.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path+unfinished, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	return &localFile{f, path}, err
}

func (f *localFile) Finish() error {
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.path+unfinished, f.path)
}

// Abort leaves the unfinished file, as a kill does: the next run writes it anew, or removes it.
func (f *localFile) Abort() error { return f.Close() }

func (d directory) open(_ context.Context, name string) (io.ReadCloser, error) {
	return os.Open(d.path(name))
}

func (d directory) each(_ context.Context, folder string, deep bool, do func(name string, size int64) error) error {
	root := d.path(folder) + string(filepath.Separator) // also if it is a link
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		name, err := filepath.Rel(root, path)
		name = filepath.ToSlash(name)
		switch {
		case err != nil:
			return err
		case e.IsDir() && deep:
			return nil
		case e.IsDir():
			if err := do(name+"/", 0); err != nil {
				return err
			}
			return fs.SkipDir
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		return do(name, info.Size())
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (d directory) remove(_ context.Context, name string) error {
	if strings.HasSuffix(name, "/") {
		return os.RemoveAll(d.path(name))
	}
	err := os.Remove(d.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (d directory) sync(folder string, deep bool) error {
	if !deep {
		return journal.SyncDir(d.path(folder))
	}
	err := filepath.WalkDir(d.path(folder), func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		return journal.SyncDir(path)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// apart returns an error if the directory of a backup and one that servers write to are within each other,
// whatever symbolic links lead to them: a backup would be lost with what it copies, copy itself, or remove
// files of servers as old files of its own.
func (d directory) apart(cfg configs.Config) error {
	folders := map[string]string{"data_dir": cfg.DataDir}
	u, err := url.Parse(cfg.Media.URL)
	if err == nil && u.Scheme == "file" {
		folders["the folder of media.url"] = connect.FolderOf(u)
	}
	at, err := resolved(string(d))
	if err != nil {
		return err
	}
	for what, folder := range folders {
		other, err := resolved(folder)
		switch {
		case err != nil:
			return err
		case isWithin(at, other):
			return fmt.Errorf("%s is within %s, and would be lost with it; name a directory elsewhere", d, what)
		case isWithin(other, at):
			return fmt.Errorf("%s, %s, is within %s; name a directory that has nothing but backups", what, folder, d)
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
