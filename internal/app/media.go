package app

import (
	"context"
	"fmt"
	"net/url"

	"github.com/freshet/freshet/handler"
	"github.com/freshet/freshet/internal/connect"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/fanout"
	"github.com/freshet/freshet/social/media"
)

// imageShare of imageOf is the share of a request's time that the images of a post may take
// to be stored: the rest is for the database, and for an answer without it.
const imageShare, imageOf = 2, 3

// openMedia opens the store of the images of posts; nil where there is none.
func (b *builder) openMedia(rows social.Images) (*media.Files, error) {
	address, err := b.mediaURL()
	if err != nil || address == "" {
		return nil, err
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("media.url: %w", err)
	}
	if err := connect.RemoveUnfinished(u, b.cfg.UsesPostgres()); err != nil {
		return nil, err
	}
	store, err := connect.Images(u)
	if err != nil {
		return nil, err
	}
	b.disconnects("media", store.Close)
	files := media.NewFiles(store, rows, b.cfg.Server.RequestTimeout*imageShare/imageOf)
	if u.Scheme == "s3" { // to list a folder would cost more than it tells
		b.checks["media"] = func(ctx context.Context) handler.Dependency {
			return handler.Dependency{Err: files.Ping(ctx), Optional: true}
		}
	}
	return files, nil
}

// mediaURL is where images are kept: in data_dir where posts are in SQLite and
// nothing else is said.
func (b *builder) mediaURL() (string, error) {
	if b.cfg.Media.URL != "" || b.cfg.UsesPostgres() {
		return b.cfg.Media.URL, nil
	}
	dir, err := b.dataDir("media")
	if err != nil {
		return "", err
	}
	return connect.FolderURL(dir)
}

// releasing returns the remover of images; nil where there are none.
func releasing(files *media.Files) fanout.Files {
	if files == nil {
		return nil
	}
	return files
}
