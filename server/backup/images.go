package backup

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/server/connect"
	"github.com/freshet/freshet/social/media"
)

const (
	imagesPart = "images"
	// imageListName is the list of the images of a run, an [image] a line.
	imageListName = "images.ndjson"
	partSuffix    = ".part" // of images that are being copied
	// checkedIn is in how many runs all images of a backup are read: a disk may have damaged them, and a run that
	// read all would take as long as the first.
	checkedIn = 10
)

// image is a file in the images of a backup, and its media type.
type image struct {
	File
	Type string `json:"type"`
}

// imagesURL returns where images are stored when data_dir is dir: "" if posts have none.
func imagesURL(cfg configs.Config, dir string) (string, error) {
	if cfg.Media.URL != "" || cfg.UsesPostgres() {
		return cfg.Media.URL, nil
	}
	return connect.FolderURL(filepath.Join(dir, "media"))
}

// openImages opens the store of images; nil if there is none. A folder that does not exist is not created
// unless create is set: it would belong to the user of this process, not to the server's.
func openImages(cfg configs.Config, dir string, create bool) (media.Store, error) {
	address, err := imagesURL(cfg, dir)
	if err != nil || address == "" {
		return nil, err
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("media.url: %w", err)
	}
	if u.Scheme == "file" && !create {
		if _, err := os.Stat(connect.FolderOf(u)); errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
	}
	return connect.Images(u)
}

// images is the part of the images; none if they are left out. It comes after the posts that refer to them.
func (r *run) images() ([]part, error) {
	if r.opts.SkipImages || !r.cfg.SocialOn() {
		return nil, nil
	}
	address, err := imagesURL(r.cfg, r.cfg.DataDir)
	if err != nil || address == "" {
		return nil, err
	}
	return []part{{name: imagesPart, kind: Images, make: r.copyImages}}, nil
}

// copyImages copies the images that the last backup has not: an image never changes, an edit stores another
// one under a new key.
func (r *run) copyImages(ctx context.Context, p *Part) (err error) {
	store, err := openImages(r.cfg, r.cfg.DataDir, false)
	if err != nil {
		return err
	}
	var keys []string
	if store != nil {
		defer func() { err = errors.Join(err, store.Close()) }()
		if keys, err = store.Keys(ctx, math.MaxInt); err != nil {
			return err
		}
	}
	known, err := r.knownImages()
	if err != nil {
		return err
	}
	if r.before != nil && r.before.part(imagesPart) != nil {
		p.Checked = (r.before.part(imagesPart).Checked + 1) % checkedIn
	}
	out, err := create(ctx, r.folder, imageListName)
	if err != nil {
		return err
	}
	list := json.NewEncoder(out)
	for i, key := range keys {
		if strings.HasPrefix(key, media.Exports) { // made anew when it is asked for
			continue
		}
		var one *image
		if one, err = r.image(ctx, store, key, known, p.Checked); err != nil {
			break
		}
		if one != nil { // otherwise it was removed meanwhile
			p.Count, p.Bytes = p.Count+1, p.Bytes+one.Bytes
			err = list.Encode(one)
		}
		if err != nil {
			break
		}
		r.opts.progress(p.Name, int64(i+1), int64(len(keys)))
	}
	f, err := out.finish(err)
	p.Files = []File{f}
	return err
}

// knownImages are those of the backup that this run replaces.
func (r *run) knownImages() (map[string]image, error) {
	known := map[string]image{}
	if r.before == nil || r.before.part(imagesPart) == nil {
		return known, nil
	}
	err := eachImage(filepath.Join(r.dir, r.before.ID), r.before.part(imagesPart), func(i image) error {
		known[i.Name] = i
		return nil
	})
	return known, err
}

// image returns an image of the backup, which it copies unless it is there; those of one share are also read. nil means
// that the store has it no more.
func (r *run) image(ctx context.Context, store media.Store, key string, known map[string]image, share int) (*image, error) {
	if !filepath.IsLocal(filepath.FromSlash(key)) {
		return nil, fmt.Errorf("the image %q has a name that no file can have", key)
	}
	folder := filepath.Join(r.dir, imagesName)
	info, err := os.Stat(filepath.Join(folder, filepath.FromSlash(key)))
	old, ok := known[key]
	if err == nil && ok && info.Size() == old.Bytes && (shareOf(old.SHA256) != share || r.whole(ctx, folder, old.File)) {
		return &old, nil
	}
	in, err := store.Open(ctx, key)
	if errors.Is(err, feed.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	out, err := create(ctx, folder, key+partSuffix)
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(out, &paced{ctx: ctx, pace: r.pace, r: in})
	f, err := out.finish(err)
	if err != nil {
		return nil, err
	}
	if err := step(ctx, "copied an image"); err != nil {
		return nil, err
	}
	f.Name = key
	return &image{f, in.ContentType()}, os.Rename(out.path, filepath.Join(folder, filepath.FromSlash(key)))
}

// shareOf returns the share of the images in which one with this hash is.
func shareOf(sum string) int {
	n, err := strconv.ParseUint(sum[:min(8, len(sum))], 16, 64)
	if err != nil {
		return 0
	}
	return int(n % checkedIn)
}

// whole reports whether a file can be read and has the content that is known of it.
func (r *run) whole(ctx context.Context, folder string, f File) bool {
	in, err := checked(folder, f)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, &paced{ctx: ctx, pace: r.pace, r: in})
	return errors.Join(err, in.Close()) == nil
}

// eachImage calls do for each image in the list of a run.
func eachImage(folder string, p *Part, do func(image) error) error {
	for _, f := range p.Files {
		in, err := checked(folder, f)
		if err != nil {
			return err
		}
		lines := json.NewDecoder(bufio.NewReader(in))
		for {
			var i image
			if err = lines.Decode(&i); err != nil {
				break
			}
			if !filepath.IsLocal(filepath.FromSlash(i.Name)) {
				err = fmt.Errorf("%s: the image %q has a name that no file can have", f.Name, i.Name)
			}
			if err == nil {
				err = do(i)
			}
			if err != nil {
				break
			}
		}
		_ = in.Close()
		if !errors.Is(err, io.EOF) {
			return err
		}
	}
	return nil
}

// cleanImages removes the images that are not in the list of this run. A run without a list leaves all.
func (r *run) cleanImages(ctx context.Context) error {
	p := r.m.part(imagesPart)
	if p == nil {
		return nil
	}
	keep := map[string]bool{}
	err := eachImage(r.folder, p, func(i image) error { keep[filepath.FromSlash(i.Name)] = true; return nil })
	if err != nil {
		return err
	}
	folder := filepath.Join(r.dir, imagesName)
	err = filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil || keep[name] {
			return err
		}
		if err := step(ctx, "remove an image"); err != nil {
			return err
		}
		return os.Remove(path)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// images puts the images of a backup into the store, except those that it has.
func (r *restoring) images(ctx context.Context, p *Part, dataDir string) (err error) {
	store, err := openImages(r.cfg, dataDir, true)
	if err != nil || store == nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	keys, err := store.Keys(ctx, math.MaxInt)
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, key := range keys {
		there[key] = true
	}
	var done int64
	return eachImage(r.folder, p, func(i image) error {
		done++
		r.opts.progress(p.Name, done, p.Count)
		if there[i.Name] {
			return nil
		}
		if err := step(ctx, "restore an image"); err != nil {
			return err
		}
		data, err := r.readImage(ctx, i)
		if err != nil {
			return err
		}
		return store.Put(ctx, i.Name, media.File{Type: i.Type, Data: data})
	})
}

func (r *restoring) readImage(ctx context.Context, i image) ([]byte, error) {
	in, err := checked(filepath.Join(r.dir, imagesName), i.File)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	return io.ReadAll(&paced{ctx: ctx, pace: r.pace, r: in})
}
