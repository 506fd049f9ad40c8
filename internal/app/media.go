package app

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/fileblob" // file://
	_ "gocloud.dev/blob/s3blob"   // s3://

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/fanout"
	"github.com/freshet/freshet/handler"
	"github.com/freshet/freshet/internal/demo"
	"github.com/freshet/freshet/media"
	"github.com/freshet/freshet/social"
)

// openMedia opens the store of the images of posts; nil where there is none.
func (a *App) openMedia(ctx context.Context, rows social.Images) (*media.Files, error) {
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
	bucket, err := openBucket(ctx, u)
	if err != nil {
		return nil, err
	}
	a.closers = append(a.closers, func(context.Context) error { return bucket.Close() })
	files := media.NewFiles(bucket, rows)
	if u.Scheme == "s3" { // to list a folder would cost more than it tells
		a.checks["media"] = func(ctx context.Context) handler.Dependency {
			return handler.Dependency{Err: files.Ping(ctx), Optional: true}
		}
	}
	return files, nil
}

// openBucket opens the store at an address, and makes a folder that is not there.
func openBucket(ctx context.Context, at *url.URL) (*blob.Bucket, error) {
	u := *at
	if u.Scheme == "file" {
		// A file is made in the folder that it ends in: a rename cannot leave a disk.
		query := u.Query()
		query.Set("create_dir", "true")
		query.Set("no_tmp_dir", "true")
		query.Set("dir_file_mode", "0750")
		u.RawQuery = query.Encode()
	}
	bucket, err := blob.OpenBucket(ctx, u.String())
	if err != nil {
		return nil, fmt.Errorf("media.url: %w", err)
	}
	return bucket, nil
}

// mediaURL is where images are kept: in data_dir with social.backend sqlite, where
// nothing else is said.
func (a *App) mediaURL() (string, error) {
	if a.cfg.Media.URL != "" || a.cfg.Social.Backend != configs.SocialSQLite {
		return a.cfg.Media.URL, nil
	}
	dir, err := a.dataDir("media")
	if err != nil {
		return "", err
	}
	return folderURL(dir)
}

func folderURL(dir string) (string, error) {
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

// removeUnfinished removes files that a killed server was writing: fileblob gives
// them another name until they are whole. Where other servers may use the folder
// only those are removed that nobody writes any more.
func (a *App) removeUnfinished(u *url.URL) error {
	names, err := filepath.Glob(filepath.Join(filepath.FromSlash(u.Path), "*", "*.tmp"))
	if err != nil {
		return err
	}
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil || a.cfg.Social.Backend != configs.SocialSQLite && time.Since(info.ModTime()) < social.ReservedFor {
			continue
		}
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

// releasing is what removes images; nil where there are none.
func releasing(files *media.Files) fanout.Files {
	if files == nil {
		return nil
	}
	return files
}

// images is what routes make and store images with; nil where there are none.
func (a *App) images() handler.Images {
	if a.network.files == nil {
		return nil
	}
	return struct {
		*media.Shop
		*media.Files
	}{media.NewShop(media.Config{Memory: int64(a.cfg.Media.Memory) << 20}), a.network.files}
}

// pictures is what the demo makes pictures with; nil where there are none.
func (a *App) pictures() demo.Pictures {
	if images := a.images(); images != nil {
		return images
	}
	return nil
}
