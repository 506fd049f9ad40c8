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
	eventssqlite "github.com/freshet/freshet/signals/events/sqlite"
	socialsqlite "github.com/freshet/freshet/social/sqlite"
)

// The directories of impressions in a data directory.
const (
	Impressions = "impressions" // filters and journals, without Redis
	Spool       = "spool"       // what waits for Redis
)

// Database is a SQLite file.
type Database struct {
	What   string // its name in findings
	Path   string
	Schema *sqlitefile.Schema
}

// Databases returns the SQLite files of a configuration in dir, whether they exist or not.
func Databases(cfg configs.Config, dir string) (all []Database) {
	if !cfg.UsesElasticsearch() {
		all = append(all, Database{"catalog", filepath.Join(dir, catalogsqlite.FileName), &sqlitefile.Catalog})
	}
	if cfg.SocialOn() && !cfg.UsesPostgres() {
		all = append(all, Database{"social", filepath.Join(dir, socialsqlite.FileName), &socialsqlite.Schema})
	}
	if !cfg.UsesRedis() {
		all = append(all, Database{"events", filepath.Join(dir, eventssqlite.FileName), &eventssqlite.Schema})
	}
	return all
}

// Inspect returns an error that names everything in dir that this version cannot use. It changes
// nothing. What does not exist is no error.
func Inspect(ctx context.Context, cfg configs.Config, dir string) error {
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
