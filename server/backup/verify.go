package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/sqlitefile"
	"github.com/freshet/freshet/server/datadir"
	socialsqlite "github.com/freshet/freshet/social/sqlite"
	"github.com/freshet/freshet/social/sqlstore"
)

// Comparison is the result of [Verify].
type Comparison struct {
	Manifest    *Manifest
	Rows        int64 // that were compared: of tables and indices
	Images      int64
	Timelines   int      // of random agents
	Differences []string // what differs; empty if nothing does
	More        int      // differences beyond those
}

// mostDifferences is the number of differences that are listed.
const mostDifferences = 50

type comparison struct {
	cfg    configs.Config
	opts   Options
	files  *files
	folder string
	Comparison
}

func (c *comparison) differ(format string, args ...any) {
	if len(c.Differences) == mostDifferences {
		c.More++
		return
	}
	c.Differences = append(c.Differences, fmt.Sprintf(format, args...))
}

// Verify reads all of a backup, and compares what the stores of a configuration have with it, and changes nothing:
// the rows of each table, the impressions, the images, and timelines of random agents. A damaged backup is an
// error. No server may use the stores
// meanwhile, nor may one have used them since they were restored. Differences are no error.
func Verify(ctx context.Context, cfg configs.Config, address string, opts Options) (*Comparison, error) {
	at, err := placeOf(address)
	if err != nil {
		return nil, err
	}
	m, from, err := forConfig(ctx, cfg, at, opts)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(cfg.DataDir, datadir.Restoring)); err == nil {
		return nil, datadir.ErrRestoring
	}
	c := &comparison{cfg: cfg, opts: opts, files: from, folder: m.ID + "/", Comparison: Comparison{Manifest: m}}
	for i := range m.Parts {
		if err := c.whole(ctx, &m.Parts[i]); err != nil {
			return nil, fmt.Errorf("read the backup of %s: %w", m.Parts[i].Name, err)
		}
	}
	for i := range m.Parts {
		if err := c.part(ctx, &m.Parts[i]); err != nil {
			return nil, fmt.Errorf("compare %s: %w", m.Parts[i].Name, err)
		}
	}
	return &c.Comparison, nil
}

// whole reads all files of a part, images and their list excepted, which are read when they are compared: sums in
// the manifest would not show that a file is damaged, or gone.
func (c *comparison) whole(ctx context.Context, p *Part) error {
	if p.Kind == Images {
		return nil
	}
	all := p.Files
	if p.Details != nil {
		all = append(slices.Clip(all), *p.Details)
	}
	var done int64
	pace := newPace(c.opts.Rate)
	for _, f := range all {
		in, err := c.files.checked(ctx, c.folder, f)
		if err != nil {
			return err
		}
		read := func(n int) { done += int64(n); c.opts.progress(p.Name, done, p.Bytes) }
		_, err = io.Copy(io.Discard, &paced{ctx: ctx, pace: pace, r: in, read: read})
		if err := errors.Join(err, in.Close()); err != nil {
			return err
		}
	}
	return nil
}

// part compares one part.
func (c *comparison) part(ctx context.Context, p *Part) error {
	switch p.Kind {
	case Database:
		for _, d := range datadir.Databases(c.cfg, c.cfg.DataDir) {
			if d.What == p.Name {
				return c.database(ctx, d, p)
			}
		}
	case Images:
		return c.images(ctx, p)
	case Files:
		return c.inDataDir(ctx, p)
	case Postgres:
		return c.postgres(ctx, p)
	case Elasticsearch:
		return c.elastic(ctx, p)
	case Redis:
		return c.redis(ctx, p)
	case Settings: // of the servers, not of what they store
	}
	return nil
}

// database compares a SQLite file.
func (c *comparison) database(ctx context.Context, d datadir.Database, p *Part) error {
	if datadir.Lacks(d.Path) {
		if len(p.Files) > 0 {
			c.differ("%s is missing", d.Path)
		}
		return nil
	}
	c.opts.progress(p.Name, 0, p.Count)
	found, schema, err := sqlitefile.Contents(ctx, d.Path)
	if err != nil {
		return err
	}
	tables := map[string]Table{}
	for name, sum := range found {
		tables[name] = Table{Rows: sum.Rows, Sum: sum.String()}
	}
	c.tables(p, tables)
	c.schema(p, schema)
	if d.What != socialPart || !d.Schema.Newest(schema) {
		return nil
	}
	return socialsqlite.ReadOnly(ctx, d.Path, func(posts *sqlstore.Store) error { return c.timelines(ctx, p, posts) })
}

// schema compares the versions of tables.
func (c *comparison) schema(p *Part, found int) {
	if found != p.Schema {
		c.differ("%s: the tables are of version %d, and of version %d in the backup", p.Name, found, p.Schema)
	}
}

// renewedTable says which cursors of changes are valid: a restoration ends those of later changes.
const renewedTable = "changes_state"

// tables compares the rows of tables.
func (c *comparison) tables(p *Part, found map[string]Table) {
	for _, name := range slices.Sorted(maps.Keys(p.Tables)) {
		want := p.Tables[name]
		got, there := found[name]
		c.Rows += got.Rows
		switch {
		case !there:
			c.differ("%s: there is no %s, which has %d rows in the backup", p.Name, name, want.Rows)
		case got.Rows != want.Rows:
			c.differ("%s: %s has %d rows, and %d in the backup", p.Name, name, got.Rows, want.Rows)
		case got.Sum != want.Sum && name != renewedTable:
			c.differ("%s: the %d rows of %s are not those of the backup", p.Name, got.Rows, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if _, ok := p.Tables[name]; !ok {
			c.differ("%s: there is a %s with %d rows, which the backup has not", p.Name, name, found[name].Rows)
		}
	}
}

// inDataDir compares files of data_dir.
func (c *comparison) inDataDir(ctx context.Context, p *Part) error {
	for _, f := range p.Files {
		want, err := c.files.content(ctx, c.folder, f)
		if err != nil {
			return err
		}
		got, err := describe(ctx, filepath.Join(c.cfg.DataDir, filepath.FromSlash(want.Name)), want.Name)
		switch {
		case errors.Is(err, os.ErrNotExist):
			c.differ("%s is missing", filepath.Join(c.cfg.DataDir, want.Name))
		case err != nil:
			return err
		case got != want:
			c.differ("%s is not that of the backup", filepath.Join(c.cfg.DataDir, want.Name))
		}
	}
	for _, suffix := range []string{journalSuffix, filterSuffix} {
		names, err := impressionFiles(c.cfg.DataDir, suffix)
		if err != nil {
			return err
		}
		for _, name := range names {
			if p.file(datadir.Impressions+"/"+name) == nil {
				c.differ("the backup has no %s", filepath.Join(c.cfg.DataDir, datadir.Impressions, name))
			}
		}
	}
	return nil
}

// images compares the images. Those that the backup has not are no difference: the store may be shared.
func (c *comparison) images(ctx context.Context, p *Part) (err error) {
	store, err := openImages(c.cfg, c.cfg.DataDir, false)
	if err != nil {
		return err
	}
	there := map[string]string{} // keys, by the names of files
	if store != nil {
		defer func() { err = errors.Join(err, store.Close()) }()
		keys, err := store.Keys(ctx, math.MaxInt)
		if err != nil {
			return err
		}
		for _, key := range keys {
			there[c.files.imageName(key)] = key
		}
	}
	return c.files.eachImage(ctx, c.folder, p, func(i image) error {
		c.Images++
		c.opts.progress(p.Name, c.Images, p.Count)
		key, want, err := c.files.readImage(ctx, i, pace{})
		if err != nil {
			return err
		}
		if there[i.Name] == "" {
			c.differ("the image %s is missing", key)
			return nil
		}
		in, err := store.Open(ctx, key)
		if err != nil {
			return err
		}
		got, err := io.ReadAll(in)
		if !bytes.Equal(got, want) {
			c.differ("the image %s is not that of the backup", key)
		}
		return errors.Join(err, in.Close())
	})
}
