package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/freshet/freshet/internal/ownmachine"
	"github.com/freshet/freshet/internal/sqlitefile"
	"github.com/freshet/freshet/server/connect"
	"github.com/freshet/freshet/server/datadir"
	"github.com/freshet/freshet/social/media"
)

func (d *doctor) checkDataDir(ctx context.Context) {
	dir := datadir.Absolute(d.cfg.DataDir)
	const what = "data_dir"
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		err := creatable(dir)
		if err == nil && d.Fix {
			err = os.MkdirAll(dir, 0o700)
		}
		switch {
		case err != nil:
			d.report(Broken, what, orSpace("name a directory this user may create", err), "%v", err)
			return
		case !d.Fix:
			d.report(OK, what, "", "%s does not exist yet; serve creates it", dir)
			d.reportFleeting(what, dir)
			return
		}
	}
	probe, err := probeFile(dir)
	if err != nil {
		d.report(Broken, what, orSpace("name a directory this user may write to", err), "%v", err)
		return
	}
	err = errors.Join(fill(probe), probe.Close())
	if err != nil {
		d.report(Broken, what, moreSpace, "%v", err)
		return
	}
	d.reportWritable(what, dir, dir+" is writable")
	d.reportNetwork(datadir.Network(d.cfg, dir))
	d.reportFleeting(what, dir)
	d.checkFiles(ctx, dir)
}

// reportNetwork reports databases on a file system of a network; kind is "" if they are not.
func (d *doctor) reportNetwork(kind string) {
	if kind != "" {
		d.report(Warning, "data_dir", datadir.NetworkAdvice, "%s (%s)", datadir.NetworkRisk, kind)
	}
}

// moreSpace is the fix if a disk is full: without an inode no file can be created either.
const moreSpace = "free space (df) or inodes (df -i) on its disk, or name a directory on another"

// orSpace returns the fix, unless err means that a disk, or the user's quota, has no room for another byte
// or file, or that the place is read-only for this process. The store of a folder keeps only the text of its errors.
func orSpace(fix string, err error) string {
	for _, full := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT} {
		if strings.Contains(err.Error(), full.Error()) {
			return moreSpace
		}
	}
	return datadir.OrMount(fix, err)
}

// probeFile creates a file in a directory and removes its name: nothing remains of it once it is closed, or
// the process has ended.
func probeFile(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// creatable returns an error if this user may not create a directory that does not exist: whether the nearest
// one above it takes a file is tried. Nothing remains.
func creatable(dir string) error {
	above := filepath.Dir(filepath.Clean(dir))
	_, err := os.Stat(above)
	if errors.Is(err, fs.ErrNotExist) && above != dir {
		return creatable(above)
	}
	probe, err := probeFile(above)
	if err != nil {
		return fmt.Errorf("%s cannot be created: %w", dir, err)
	}
	return probe.Close()
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
	var have []string
	for _, f := range datadir.Databases(d.cfg, dir) {
		if !datadir.Lacks(f.Path) {
			have = append(have, filepath.Base(f.Path))
		}
	}
	for _, f := range datadir.Databases(d.cfg, dir) {
		isLacking := datadir.Lacks(f.Path)
		switch {
		case isLacking && f.Later:
			continue
		case isLacking:
			d.reportLacking(f, have)
			continue
		}
		d.checkSQLite(ctx, f.What, f.Path, f.Schema)
	}
	if err := datadir.InspectImpressions(d.cfg, dir); err != nil {
		d.report(Broken, "impressions", "see the message", "%v", err)
	}
}

// reportLacking reports a database that does not exist, or is empty. Beside others, which have data, it
// was probably lost: a server creates all of them at its first start.
func (d *doctor) reportLacking(f datadir.Database, have []string) {
	is := "does not exist"
	if _, err := os.Stat(f.Path); err == nil {
		is = "is empty"
	}
	if len(have) == 0 {
		d.report(OK, f.What, "", "%s %s yet; serve creates it", f.Path, is)
		return
	}
	verb := "has"
	if len(have) > 1 {
		verb = "have"
	}
	d.report(Warning, f.What, "if this is a backup or was restored from one, it is not whole: take one that is; otherwise start the server",
		"%s %s, although %s %s data; serve creates it empty", f.Path, is, list(have), verb)
}

func (d *doctor) checkSQLite(ctx context.Context, what, path string, schema *sqlitefile.Schema) {
	version, err := schema.Inspect(ctx, path)
	if err == nil {
		err = schema.Verify(ctx, path)
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		d.report(Broken, what, "run the doctor as the user of the server, or give that user data_dir with all in it (chown -R)", "%v", err)
	case errors.Is(err, sqlitefile.ErrForeignLog):
		d.report(Broken, what, "see the message", "%v", err)
	case errors.Is(err, sqlitefile.ErrNewer):
		d.report(Broken, what, "upgrade freshet", "%v", err)
	case err != nil:
		d.report(Broken, what, "restore the file from a backup, or move it away to start with an empty one", "%v", err)
	case version.File < version.Known:
		d.report(OK, what, "", "%s has the schema of an older version; serve brings it up to date: see CHANGELOG.md for whether that version can open it afterwards", path)
	case version.File > version.Known:
		d.report(OK, what, "", "%s has the schema of a newer version, which this one can use", path)
	default:
		d.report(OK, what, "", "%s can be read%s", path, unusedOf(ctx, path))
	}
}

// muchUnused is the space without data in a database that is worth a word, if it is a quarter of it or more.
const muchUnused = 64 << 20

// unusedOf says how much of a database holds no data, "" if that is little.
func unusedOf(ctx context.Context, path string) string {
	unused, size, err := sqlitefile.Unused(ctx, path)
	if err != nil {
		return ""
	}
	return describeUnused(unused, size)
}

func describeUnused(unused, size int64) string {
	if unused < muchUnused || unused < size/4 {
		return ""
	}
	return fmt.Sprintf("; of its %s, %s hold no data and are kept for new data (docs/operations.md: Old items)", mebibytes(size), mebibytes(unused))
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
	folder := connect.FolderOf(u)
	_, err = os.Stat(folder)
	planned := u.Scheme == "file" && errors.Is(err, os.ErrNotExist) && !d.Fix
	if planned {
		err = creatable(folder)
	} else {
		err = probeMedia(ctx, u, d.clock())
	}
	if err != nil {
		fix := "start the store, or correct media.url and the permissions there: read, write, list and delete"
		var refused *media.Refusal
		if errors.As(err, &refused) {
			fix = "see the message"
		}
		if u.Scheme == "file" {
			fix = orSpace("name a folder this user may write to", err)
		} else {
			fix = orProxy(cmp.Or(ownmachine.Advice(err, "the endpoint of media.url"), fix), cmp.Or(u.Query().Get("endpoint"), "https://s3.amazonaws.com"))
		}
		d.report(Broken, what, fix, "%s: %v", u.Redacted(), err)
		return
	}
	written := "a test file was written to " + u.Redacted() + ", read and removed"
	switch {
	case planned:
		d.report(OK, what, "", "%s does not exist yet; serve creates it", u.Path)
	case u.Scheme == "file":
		d.reportWritable(what, folder, written)
		if d.cfg.Media.URL != "" { // otherwise it is in data_dir
			d.reportFleeting(what, folder)
		}
	default:
		d.report(OK, what, "", "%s", written)
	}
	d.judgeMediaMemory()
}

func probeMedia(ctx context.Context, u *url.URL, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, mediaProbe)
	defer cancel()
	store, err := connect.Images(u)
	if err != nil {
		return err
	}
	return errors.Join(media.Probe(ctx, store, now), store.Close())
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
