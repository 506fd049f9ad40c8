package connect

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/media"
	"github.com/freshet/freshet/social/media/folder"
	"github.com/freshet/freshet/social/media/s3"
)

// Images opens the store of images at an address, and creates a folder that does not exist.
func Images(at *url.URL) (store media.Store, err error) {
	switch {
	case at.Scheme == "s3":
		store, err = s3.Open(at)
	case at.Host != "" || at.RawQuery != "":
		err = errors.New("a folder must be file:///folder, without a host and parameters")
	default:
		store, err = folder.Open(FolderOf(at))
	}
	if err != nil {
		return nil, fmt.Errorf("media.url: %w", err)
	}
	return store, nil
}

// FolderURL returns the file URL of a folder.
func FolderURL(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	slashed := filepath.ToSlash(dir)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // a Windows drive
	}
	return (&url.URL{Scheme: "file", Path: slashed}).String(), nil
}

// FolderOf returns the folder of a file URL.
func FolderOf(u *url.URL) string {
	path := u.Path
	if filepath.Separator != '/' {
		path = strings.TrimPrefix(path, "/") // a Windows drive
	}
	return filepath.FromSlash(path)
}

// RemoveUnfinished removes the unfinished files of a folder that a killed server left. If the
// folder is shared with other servers, it removes only those too old to be still written.
func RemoveUnfinished(at *url.URL, shared bool) error {
	if at.Scheme != "file" {
		return nil
	}
	names, err := filepath.Glob(filepath.Join(FolderOf(at), "*", "*"+folder.Unfinished))
	if err != nil {
		return fmt.Errorf("media.url: %w", err)
	}
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil || shared && time.Since(info.ModTime()) < social.ReservedFor {
			continue
		}
		if err := os.Remove(name); err != nil {
			return fmt.Errorf("media.url: %w", err)
		}
	}
	return nil
}
