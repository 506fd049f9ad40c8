package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/freshet/freshet/internal/sqlitefile"
	"github.com/freshet/freshet/server/connect"
	"github.com/freshet/freshet/server/datadir"
	"github.com/freshet/freshet/social/media"
)

func (d *doctor) checkDataDir(ctx context.Context) {
	dir := d.cfg.DataDir
	const what = "data_dir"
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		if !d.Fix {
			d.report(OK, what, "", "%s does not exist yet; serve creates it", dir)
			return
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			d.report(Broken, what, "name a directory this user may create", "%v", err)
			return
		}
	}
	probe, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		d.report(Broken, what, "name a directory this user may write to", "%v", err)
		return
	}
	err = errors.Join(fill(probe), probe.Close(), os.Remove(probe.Name()))
	if err != nil {
		d.report(Broken, what, "free space on its disk, or name a directory on another", "%v", err)
		return
	}
	d.report(OK, what, "", "%s is writable", dir)
	d.checkFiles(ctx, dir)
}

// probeSize is the number of bytes that the doctor writes: an empty file fits on a full disk.
const probeSize = 1 << 20

// fill writes to a file and syncs it.
func fill(f *os.File) error {
	if _, err := f.Write(make([]byte, probeSize)); err != nil {
		return err
	}
	return f.Sync()
}

// checkFiles checks the files of the configuration, and changes none.
func (d *doctor) checkFiles(ctx context.Context, dir string) {
	for _, f := range datadir.Databases(d.cfg, dir) {
		d.checkSQLite(ctx, f.What, f.Path, f.Schema)
	}
	if err := datadir.InspectImpressions(d.cfg, dir); err != nil {
		d.report(Broken, "impressions", "see the message", "%v", err)
	}
}

func (d *doctor) checkSQLite(ctx context.Context, what, path string, schema *sqlitefile.Schema) {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		d.report(OK, what, "", "%s does not exist yet; serve creates it", path)
		return
	}
	version, err := schema.Inspect(ctx, path)
	if err == nil {
		err = schema.Verify(ctx, path)
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		d.report(Broken, what, "run the doctor as the user of the server, or give that user data_dir with all in it (chown -R)", "%v", err)
	case errors.Is(err, sqlitefile.ErrNewer):
		d.report(Broken, what, "upgrade freshet", "%v", err)
	case err != nil:
		d.report(Broken, what, "restore the file from a backup, or move it away to start with an empty one", "%v", err)
	case version.File < version.Known:
		d.report(OK, what, "", "%s has the schema of an older version; serve brings it up to date: see CHANGELOG.md for whether that version can open it afterwards", path)
	case version.File > version.Known:
		d.report(OK, what, "", "%s has the schema of a newer version, which this one can use", path)
	default:
		d.report(OK, what, "", "%s can be read", path)
	}
}

// mediaProbe is the time limit for the store of images to write, read and remove a small file.
const mediaProbe = 10 * time.Second

// checkMedia tests the store of images with a small file, and reports how large images may be.
func (d *doctor) checkMedia(ctx context.Context) {
	const what = "media"
	address := d.cfg.Media.URL
	if address == "" && d.cfg.UsesPostgres() {
		d.report(OK, what, "", "media.url is empty, so posts have no images")
		return
	}
	if address == "" {
		var err error
		if address, err = connect.FolderURL(filepath.Join(d.cfg.DataDir, "media")); err != nil {
			d.report(Broken, what, "correct data_dir", "%v", err)
			return
		}
	}
	u, err := url.Parse(address)
	if err != nil {
		d.report(Broken, what, "correct media.url", "%v", err)
		return
	}
	if _, err := os.Stat(connect.FolderOf(u)); u.Scheme == "file" && errors.Is(err, os.ErrNotExist) && !d.Fix {
		d.report(OK, what, "", "%s does not exist yet; serve creates it", u.Path)
	} else if err := probeMedia(ctx, u); err != nil {
		fix := "start the store, or correct media.url and the permissions there: read, write, list and delete"
		if u.Scheme == "file" {
			fix = "name a folder this user may write to"
		}
		d.report(Broken, what, fix, "%s: %v", u.Redacted(), err)
		return
	} else {
		d.report(OK, what, "", "a test file was written to %s, read and removed", u.Redacted())
	}
	d.judgeMediaMemory()
}

func probeMedia(ctx context.Context, u *url.URL) error {
	ctx, cancel := context.WithTimeout(ctx, mediaProbe)
	defer cancel()
	store, err := connect.Images(u)
	if err != nil {
		return err
	}
	return errors.Join(media.Probe(ctx, store), store.Close())
}

// judgeMediaMemory reports the image size that media.memory is enough for.
func (d *doctor) judgeMediaMemory() {
	enough, memory := "images of every accepted size", d.cfg.Media.Memory
	pixels := media.Decodable(int64(memory) << 20)
	if pixels < media.MaxPixels {
		enough = fmt.Sprintf("images of up to %d megapixels; some larger ones are refused", pixels/1_000_000)
	}
	d.report(OK, "media memory", "", "media.memory %d MiB is enough for %s", memory, enough)
}
