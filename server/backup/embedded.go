package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/sqlitefile"
	"github.com/freshet/freshet/server/datadir"
	"github.com/freshet/freshet/server/overview"
	socialsqlite "github.com/freshet/freshet/social/sqlite"
	"github.com/freshet/freshet/social/sqlstore"
)

// The names of parts. Those of SQLite's files are the names that [datadir.Databases] gives them.
const (
	settingsPart    = "settings"
	socialPart      = "social"
	catalogPart     = "catalog"
	impressionsPart = "impressions"
)

// timelinesName is the file of the timelines of some agents, to compare them.
const timelinesName = "timelines.json"

// settingsName is the file of the configuration with its secrets masked.
const settingsName = "settings.yaml"

// settingsText returns the configuration, secrets masked.
func (r *run) settingsText() ([]byte, error) {
	var text bytes.Buffer
	err := configs.Print(&text, r.cfg)
	return text.Bytes(), err
}

// settings copies the configuration, secrets masked.
func (r *run) settings(ctx context.Context, p *Part) error {
	text, err := r.settingsText()
	if err != nil {
		return err
	}
	out, err := r.files.begin(ctx, r.folder, settingsName)
	if err != nil {
		return err
	}
	_, err = out.Write(text)
	f, err := out.finish(err)
	p.Count, p.Files = 1, []File{f}
	return err
}

// databases are the parts of SQLite's files. Posts come before items: for each post in the backup, the item
// by which for-you finds it, or the job that makes it, is then in it, too.
func (r *run) databases() (parts []part) {
	for _, d := range datadir.Databases(r.cfg, r.cfg.DataDir) {
		p := part{name: d.What, kind: Database, make: func(ctx context.Context, p *Part) error { return r.database(ctx, d, p) }}
		if d.What == socialPart {
			parts = append([]part{p}, parts...)
			continue
		}
		parts = append(parts, p)
	}
	return parts
}

// database copies a SQLite file. A file that older versions did not have may be missing. SQLite writes its copy to
// a disk: where it is not to stay, it is in data_dir for a while, which nobody else can read.
func (r *run) database(ctx context.Context, d datadir.Database, p *Part) (err error) {
	if datadir.Lacks(d.Path) {
		if d.Later {
			return nil
		}
		return fmt.Errorf("there is no %s; data_dir must be that of the server, and the server must have been started once", d.Path)
	}
	if _, err := d.Schema.Inspect(ctx, d.Path); err != nil {
		return err
	}
	name := filepath.Base(d.Path)
	to, stays := r.files.path(r.folder+name), true
	if to == "" {
		to, stays = filepath.Join(r.stage(), name), false
		defer func() { err = errors.Join(err, os.RemoveAll(r.stage())) }()
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) { // of an interrupted run
		return err
	}
	r.opts.progress(p.Name, 0, 0)
	if err := sqlitefile.Copy(ctx, d.Path, to); err != nil {
		return err
	}
	if err := step(ctx, "copied "+name); err != nil {
		return err
	}
	if !stays {
		err = r.copyFile(ctx, to, name, p)
	} else {
		var f File
		f, err = describe(ctx, to, name)
		p.Files = []File{f}
	}
	if err != nil {
		return err
	}
	tables, schema, err := sqlitefile.Contents(ctx, to)
	if err != nil {
		return err
	}
	p.Schema, p.Tables = schema, map[string]Table{}
	for name, sum := range tables {
		p.Tables[name] = Table{Rows: sum.Rows, Sum: sum.String()}
		p.Count += sum.Rows
	}
	if d.What == socialPart && d.Schema.Newest(schema) {
		return socialsqlite.ReadOnly(ctx, to, func(posts *sqlstore.Store) error { return r.timelines(ctx, posts, p) })
	}
	return nil
}

// stage is a directory in data_dir for copies that do not stay. Backups into other places have others.
func (r *run) stage() string {
	sum := sha256.Sum256([]byte(r.files.shown("")))
	return filepath.Join(r.cfg.DataDir, "backup-"+hex.EncodeToString(sum[:8]))
}

// impressions copies the journals, then the filters. A day that ends meanwhile has its impressions in at
// least one of the two: its filter is on the disk before its journal is removed. What is written to a
// journal while it is copied may be in the copy or not; an incomplete end is cut off when it is read.
func (r *run) impressions(ctx context.Context, p *Part) error {
	if err := r.files.remove(ctx, r.folder+datadir.Impressions+"/"); err != nil { // of an interrupted run
		return err
	}
	for _, suffix := range []string{journalSuffix, filterSuffix} {
		names, err := impressionFiles(r.cfg.DataDir, suffix)
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := r.copyFile(ctx, filepath.Join(r.cfg.DataDir, datadir.Impressions, name), datadir.Impressions+"/"+name, p); err != nil {
				return err
			}
		}
	}
	if err := r.copyFile(ctx, filepath.Join(r.cfg.DataDir, overview.FileName), overview.FileName, p); err != nil {
		return err
	}
	p.Count = int64(len(p.Files))
	return nil
}

// The endings of files of impressions.
const (
	journalSuffix = ".journal"
	filterSuffix  = ".filter"
)

// impressionFiles returns the names of the files of impressions in data_dir that have an ending.
func impressionFiles(dataDir, suffix string) (names []string, err error) {
	entries, err := os.ReadDir(filepath.Join(dataDir, datadir.Impressions))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), suffix) {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// copyFile copies a file of data_dir. One that has been removed is left out.
func (r *run) copyFile(ctx context.Context, path, name string, p *Part) error {
	in, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := r.files.begin(ctx, r.folder, name)
	if err != nil {
		return err
	}
	var done int64
	_, err = io.Copy(out, &paced{ctx: ctx, pace: r.pace, r: in, read: func(n int) {
		done += int64(n)
		r.opts.progress(p.Name, done, 0)
	}})
	f, err := out.finish(err)
	p.Files = append(p.Files, f)
	return err
}
