// Package datadir knows what a configuration keeps in its data directory, and checks whether this
// version can use what is there, before anything in it is changed.
package datadir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	catalogsqlite "github.com/freshet/freshet/catalog/sqlite"
	"github.com/freshet/freshet/configs"
	dedupmemory "github.com/freshet/freshet/dedup/memory"
	"github.com/freshet/freshet/dedup/spool"
	"github.com/freshet/freshet/internal/sqlitefile"
	coreadsqlite "github.com/freshet/freshet/signals/coread/sqlite"
	eventssqlite "github.com/freshet/freshet/signals/events/sqlite"
	socialsqlite "github.com/freshet/freshet/social/sqlite"
)

// The directories in a data directory.
const (
	Impressions = "impressions" // filters and journals, without Redis
	Pages       = "pages"       // of calls with a request id, for a minute, without Redis
	Spool       = "spool"       // what waits for Redis
	Exports     = "exports"     // files of agents, until they are fetched or a day old, without PostgreSQL
	Restoring   = "restoring"   // what freshet restore has restored so far
)

// ErrRestoring means that the restoration of a backup into a data directory has not ended.
var ErrRestoring = errors.New("a backup is being restored into this data_dir, or that was interrupted: run the freshet restore again, which continues it, or empty data_dir")

// Database is a SQLite file.
type Database struct {
	What   string // its name in findings
	Path   string
	Schema *sqlitefile.Schema
	// Later reports that older versions had no such file, and that it begins anew without harm: that
	// it is missing means nothing.
	Later bool
}

// Databases returns the SQLite files of a configuration in dir, whether they exist or not.
func Databases(cfg configs.Config, dir string) (all []Database) {
	if !cfg.UsesElasticsearch() {
		all = append(all, Database{What: "catalog", Path: filepath.Join(dir, catalogsqlite.FileName), Schema: &sqlitefile.Catalog})
	}
	if cfg.SocialOn() && !cfg.UsesPostgres() {
		all = append(all, Database{What: "social", Path: filepath.Join(dir, socialsqlite.FileName), Schema: &socialsqlite.Schema})
	}
	if !cfg.UsesRedis() {
		all = append(all, Database{What: "events", Path: filepath.Join(dir, eventssqlite.FileName), Schema: &eventssqlite.Schema})
		all = append(all, Database{What: "co-readers", Path: filepath.Join(dir, coreadsqlite.FileName), Schema: &coreadsqlite.Schema, Later: true})
	}
	return all
}

// Missing returns the names of the SQLite files of a configuration that dir lacks, and whether it has
// others. Files that older versions did not have are neither.
func Missing(cfg configs.Config, dir string) (names []string, others bool) {
	for _, d := range Databases(cfg, dir) {
		switch {
		case d.Later:
		case Lacks(d.Path):
			names = append(names, filepath.Base(d.Path))
		default:
			others = true
		}
	}
	return names, others
}

// Lacks reports whether a SQLite file does not exist or is empty: a copy that was interrupted leaves an
// empty one.
func Lacks(path string) bool {
	empty := func(path string) bool {
		info, err := os.Stat(path)
		return errors.Is(err, os.ErrNotExist) || err == nil && info.Size() == 0
	}
	return empty(path) && empty(path+"-wal")
}

// Inspect returns an error that names everything in dir that this version cannot use. It changes
// nothing. What does not exist is no error.
func Inspect(ctx context.Context, cfg configs.Config, dir string) error {
	if _, err := os.Stat(filepath.Join(dir, Restoring)); err == nil {
		return ErrRestoring
	}
	errs := []error{InspectImpressions(cfg, dir)}
	for _, d := range Databases(cfg, dir) {
		if _, err := os.Stat(d.Path); errors.Is(err, os.ErrNotExist) {
			continue
		}
		_, err := d.Schema.Inspect(ctx, d.Path)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

const advice = "nothing was changed; use the version that wrote it, restore it from a backup, or move the file away and accept that items may be shown again"

// InspectImpressions is [Inspect] of the files of impressions.
func InspectImpressions(cfg configs.Config, dir string) error {
	var err error
	if cfg.UsesRedis() {
		err = spool.Inspect(filepath.Join(dir, Spool))
	} else {
		err = dedupmemory.Inspect(filepath.Join(dir, Impressions))
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("impressions: %w; nothing was changed; give data_dir, with all in it, to the user of the server", err)
	case err != nil:
		return fmt.Errorf("impressions: %w; %s", err, advice)
	}
	return nil
}
