package app

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/freshet/freshet/handler"
	"github.com/freshet/freshet/internal/connect"
	"github.com/freshet/freshet/internal/demo"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/fanout"
	"github.com/freshet/freshet/social/media"
	"github.com/freshet/freshet/social/media/folder"
)

// openMedia opens the store of the images of posts; nil where there is none.
func (a *App) openMedia(rows social.Images) (*media.Files, error) {
	address, err := a.mediaURL()
	if err != nil || address == "" {
		return nil, err
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("media.url: %w", err)
	}
	if u.Scheme == "file" {
		if err := a.removeUnfinished(u); err != nil {
			return nil, fmt.Errorf("media.url: %w", err)
		}
	}
	store, err := connect.Images(u)
	if err != nil {
		return nil, err
	}
	a.closers = append(a.closers, func(context.Context) error { return store.Close() })
	files := media.NewFiles(store, rows)
	if u.Scheme == "s3" { // to list a folder would cost more than it tells
		a.checks["media"] = func(ctx context.Context) handler.Dependency {
			return handler.Dependency{Err: files.Ping(ctx), Optional: true}
		}
	}
	return files, nil
}

// mediaURL is where images are kept: in data_dir where posts are in SQLite and nothing else
// is said.
func (a *App) mediaURL() (string, error) {
	if a.cfg.Media.URL != "" || a.cfg.UsesPostgres() {
		return a.cfg.Media.URL, nil
	}
	dir, err := a.dataDir("media")
	if err != nil {
		return "", err
	}
	return connect.FolderURL(dir)
}

// removeUnfinished removes files that a killed server was writing. Where other servers
// may use the folder only those are removed that nobody writes any more.
func (a *App) removeUnfinished(u *url.URL) error {
	names, err := filepath.Glob(filepath.Join(connect.FolderOf(u), "*", "*"+folder.Unfinished))
	if err != nil {
		return err
	}
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil || a.cfg.UsesPostgres() && time.Since(info.ModTime()) < social.ReservedFor {
			continue
		}
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

// releasing returns the remover of images; nil where there are none.
func releasing(files *media.Files) fanout.Files {
	if files == nil {
		return nil
	}
	return files
}

// images returns the maker and store of images for routes; nil where there are none.
func (a *App) images() handler.Images {
	if a.network.files == nil {
		return nil
	}
	return struct {
		*media.Processor
		*media.Files
	}{media.NewProcessor(media.Config{Memory: int64(a.cfg.Media.Memory) << 20}), a.network.files}
}

// pictures returns the demo's maker of pictures; nil where there are none.
func (a *App) pictures() demo.Pictures {
	if images := a.images(); images != nil {
		return images
	}
	return nil
}
