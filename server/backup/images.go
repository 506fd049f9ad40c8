package backup

import (
	"bufio"
	"bytes"
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
	"slices"
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
	// imagesFolder is the folder of the images in a backup.
	imagesFolder = "images/"
	// checkedIn is in how many runs all images of a backup are read: a disk may have damaged them, and a run that
	// read all would take as long as the first.
	checkedIn = 10
)

// image is a file in the images of a backup, and its media type. The file of one that is encrypted begins with a
// line that has its key.
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
	known, err := r.knownImages(ctx)
	if err != nil {
		return err
	}
	if r.before != nil && r.before.part(imagesPart) != nil {
		p.Checked = (r.before.part(imagesPart).Checked + 1) % checkedIn
	}
	out, err := r.files.of(p).begin(ctx, r.folder, imageListName)
	if err != nil {
		return err
	}
	list := json.NewEncoder(out)
	for i, key := range keys {
		if strings.HasPrefix(key, media.Exports) { // made anew when it is asked for
			continue
		}
		var one *image
		one, err = r.image(ctx, store, key, known, p.Checked)
		if err != nil {
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

// knownImages are those of the backup that this run replaces, which are there, and can be used again.
func (r *run) knownImages(ctx context.Context) (map[string]image, error) {
	known := map[string]image{}
	if r.before == nil || r.before.part(imagesPart) == nil || !slices.Equal(r.before.EncryptedTo, r.m.EncryptedTo) {
		return known, nil
	}
	there := map[string]int64{}
	err := r.files.each(ctx, imagesFolder, true, func(name string, size int64) error { there[name] = size; return nil })
	if err != nil {
		return nil, err
	}
	err = r.files.eachImage(ctx, r.before.ID+"/", r.before.part(imagesPart), func(i image) error {
		size, ok := there[r.files.named(i.Name)]
		if ok && size == i.Bytes {
			known[i.Name] = i
		}
		return nil
	})
	return known, err
}

// image returns an image of the backup, which it copies unless it is there; those of one share are also read. nil
// means that the store has it no more.
func (r *run) image(ctx context.Context, store media.Store, key string, known map[string]image, share int) (*image, error) {
	if !isImageKey(key) {
		return nil, fmt.Errorf("the image %q has a name that no file can have", key)
	}
	name := r.files.imageName(key)
	old, ok := known[name]
	if ok && (shareOf(old.SHA256) != share || r.whole(ctx, old.File)) {
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
	out, err := r.files.begin(ctx, imagesFolder, name)
	if err != nil {
		return nil, err
	}
	if r.files.sealed() {
		_, err = io.WriteString(out, key+"\n")
	}
	if err == nil {
		_, err = io.Copy(out, &paced{ctx: ctx, pace: r.pace, r: in})
	}
	f, err := out.finish(err)
	if err != nil {
		return nil, err
	}
	return &image{f, in.ContentType()}, step(ctx, "copied an image")
}

// shareOf returns the share of the images in which one with this hash is.
func shareOf(sum string) int {
	n, err := strconv.ParseUint(sum[:min(8, len(sum))], 16, 64)
	if err != nil {
		return 0
	}
	return int(n % checkedIn)
}

// whole reports whether an image of the backup can be read and has the stored content that is known of it. A bucket
// checks by itself what it stores, and to read it costs.
func (r *run) whole(ctx context.Context, f File) bool {
	f.Name = r.files.named(f.Name)
	if r.files.path(imagesFolder+f.Name) == "" {
		return true
	}
	plain := files{place: r.files.place}
	in, err := plain.checked(ctx, imagesFolder, f)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, &paced{ctx: ctx, pace: r.pace, r: in})
	return errors.Join(err, in.Close()) == nil
}

// isImageKey reports whether a backup can have an image with this key.
func isImageKey(key string) bool {
	return filepath.IsLocal(filepath.FromSlash(key)) && !strings.Contains(key, "\n")
}

// eachImage calls do for each image in the list of a run.
func (f *files) eachImage(ctx context.Context, folder string, p *Part, do func(image) error) error {
	for _, list := range p.Files {
		in, err := f.of(p).checked(ctx, folder, list)
		if err != nil {
			return err
		}
		lines := json.NewDecoder(bufio.NewReader(in))
		for {
			var i image
			if err = lines.Decode(&i); err != nil {
				break
			}
			if !isImageKey(i.Name) {
				err = fmt.Errorf("%s: the image %q has a name that no file can have", list.Name, i.Name)
			}
			if err == nil {
				err = do(i)
			}
			if err != nil {
				break
			}
		}
		if !errors.Is(err, io.EOF) {
			return errors.Join(because(ctx, err, in), in.Close())
		}
		_ = in.Close()
	}
	return nil
}

// readImage returns the key and the content of an image of the backup.
func (f *files) readImage(ctx context.Context, i image, at pace) (key string, data []byte, err error) {
	in, err := f.checked(ctx, imagesFolder, i.File)
	if err != nil {
		return "", nil, err
	}
	data, err = io.ReadAll(&paced{ctx: ctx, pace: at, r: in})
	err = errors.Join(err, in.Close())
	if err != nil || !f.sealed() {
		return i.Name, data, err
	}
	line, data, _ := bytes.Cut(data, []byte("\n"))
	key = string(line)
	if !isImageKey(key) || f.imageName(key) != i.Name {
		return "", nil, fmt.Errorf("the backup is damaged: %s has another image; restore another backup", f.shown(imagesFolder+f.named(i.Name)))
	}
	return key, data, nil
}

// cleanImages removes the images that are not in the list of this run. A run without a list leaves all.
func (r *run) cleanImages(ctx context.Context) error {
	p := r.m.part(imagesPart)
	if p == nil {
		return nil
	}
	keep := map[string]bool{}
	err := r.files.eachImage(ctx, r.folder, p, func(i image) error { keep[r.files.named(i.Name)] = true; return nil })
	if err != nil {
		return err
	}
	return r.files.each(ctx, imagesFolder, true, func(name string, _ int64) error {
		if keep[name] {
			return nil
		}
		if err := step(ctx, "remove an image"); err != nil {
			return err
		}
		return r.files.remove(ctx, imagesFolder+name)
	})
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
		there[r.files.imageName(key)] = true
	}
	var done int64
	return r.files.eachImage(ctx, r.folder, p, func(i image) error {
		done++
		r.opts.progress(p.Name, done, p.Count)
		if there[i.Name] {
			return nil
		}
		if err := step(ctx, "restore an image"); err != nil {
			return err
		}
		key, data, err := r.files.readImage(ctx, i, r.pace)
		if err != nil {
			return err
		}
		return store.Put(ctx, key, media.File{Type: i.Type, Data: data})
	})
}
