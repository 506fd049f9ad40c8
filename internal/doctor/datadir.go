package doctor

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/freshet/freshet/catalog/sqlite"
	"github.com/freshet/freshet/internal/sqlitefile"
)

func (d *doctor) lookAtDataDir(ctx context.Context) {
	dir := d.cfg.DataDir
	const what = "data_dir"
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		if !d.fix {
			d.say(OK, what, "", "%s does not exist yet; serve creates it", dir)
			return
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			d.say(Broken, what, "name a directory this user may create", "%v", err)
			return
		}
	}
	probe, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		d.say(Broken, what, "name a directory this user may write to", "%v", err)
		return
	}
	_ = probe.Close()
	_ = os.Remove(probe.Name())
	d.say(OK, what, "", "%s is writable", dir)
	if !d.cfg.UsesElasticsearch() {
		d.lookAtSQLite(ctx, dir)
	}
}

func (d *doctor) lookAtSQLite(ctx context.Context, dir string) {
	path := filepath.Join(dir, sqlite.FileName)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		d.say(OK, "catalog", "", "%s does not exist yet; serve creates it", path)
		return
	}
	older, err := sqlitefile.Look(ctx, path)
	switch {
	case err != nil:
		d.say(Broken, "catalog", "restore the file from a backup, or move it away to start anew", "%v", err)
	case older:
		d.say(OK, "catalog", "", "%s has the schema of an older version; serve brings it up to date, and the older version cannot open it afterwards", path)
	default:
		d.say(OK, "catalog", "", "%s can be read", path)
	}
}
