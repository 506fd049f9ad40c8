package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup/journal"
	"github.com/freshet/freshet/server/datadir"
)

// restoring is the restoration of a backup.
type restoring struct {
	cfg    configs.Config
	opts   Options
	pace   pace
	dir    string
	folder string // of the run in the backup
	stage  string // where the files of data_dir are until all is restored
	m      *Manifest
	state  state
}

// state describes a restoration, in its stage, for the next call if this one is interrupted.
type state struct {
	ID   string   `json:"id"`   // of the backup
	Done []string `json:"done"` // parts
}

const stateName = "state.json"

// Restore restores the backup of a directory into the empty stores of a configuration, while no server uses
// them. It changes nothing unless all of them are empty. data_dir gets its files at the end, all together;
// until then, and after an error, it has only a directory that servers refuse. After an error the same call
// continues.
func Restore(ctx context.Context, cfg configs.Config, dir string, opts Options) (*Manifest, error) {
	m, err := forConfig(cfg, dir)
	if err != nil {
		return nil, err
	}
	r := &restoring{
		cfg: cfg, opts: opts, pace: newPace(opts.Rate), dir: dir, folder: filepath.Join(dir, m.ID),
		stage: filepath.Join(cfg.DataDir, datadir.Restoring), m: m,
	}
	if err := r.begin(ctx); err != nil {
		return nil, err
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		if slices.Contains(r.state.Done, p.Name) {
			continue
		}
		if err := r.part(ctx, p); err != nil {
			return nil, fmt.Errorf("restore %s: %w", p.Name, err)
		}
		r.state.Done = append(r.state.Done, p.Name)
		if err := r.save(); err != nil {
			return nil, err
		}
	}
	return m, r.finish(ctx)
}

// forConfig returns the manifest of a backup whose stores are those of a configuration.
func forConfig(cfg configs.Config, dir string) (*Manifest, error) {
	m, err := ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	here := storesOf(cfg)
	if m.Stores != here {
		return nil, fmt.Errorf("the backup in %s is of items in %s, impressions in %s and posts in %s, and this configuration has items in %s, impressions in %s and posts in %s: use the configuration of the servers that were backed up, see %s/%s/%s",
			dir, m.Stores.Items, m.Stores.Impressions, m.Stores.Posts, here.Items, here.Impressions, here.Posts, dir, m.ID, settingsName)
	}
	for _, p := range m.Parts {
		for _, f := range p.Files {
			if !filepath.IsLocal(filepath.FromSlash(f.Name)) {
				return nil, fmt.Errorf("%s: the manifest names the file %q, which is not within the backup", dir, f.Name)
			}
		}
	}
	return m, nil
}

// begin checks that the stores are empty, or that an earlier call for the same backup has begun to fill them.
func (r *restoring) begin(ctx context.Context) error {
	data, err := os.ReadFile(filepath.Join(r.stage, stateName))
	if err == nil && json.Unmarshal(data, &r.state) == nil && r.state.ID == r.m.ID {
		return nil
	}
	if err == nil {
		return fmt.Errorf("%s has the restoration of another backup (%s), which was interrupted: finish that, or empty all stores and data_dir", r.cfg.DataDir, r.state.ID)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if r.m.inDataDir() {
		if err := r.emptyDataDir(); err != nil {
			return err
		}
	}
	if err := r.emptyServices(ctx); err != nil {
		return err
	}
	if err := os.MkdirAll(r.stage, 0o700); err != nil {
		return err
	}
	r.state.ID = r.m.ID
	return r.save()
}

// inDataDir reports whether a backup has files that belong into data_dir.
func (m *Manifest) inDataDir() bool {
	return slices.ContainsFunc(m.Parts, func(p Part) bool { return p.Kind == Files || p.Kind == Database })
}

// mayStay are names in a data directory that are in the way of nothing.
var mayStay = []string{"lost+found", journal.LockName, datadir.Restoring}

// emptyDataDir returns an error unless nothing in data_dir would be replaced or mixed with the backup.
func (r *restoring) emptyDataDir() error {
	entries, err := os.ReadDir(r.cfg.DataDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if slices.Contains(mayStay, e.Name()) {
			continue
		}
		return fmt.Errorf("data_dir %s is not empty, it has %s: stop the server, move the directory away, and restore again; nothing was changed", r.cfg.DataDir, e.Name())
	}
	return nil
}

func (r *restoring) save() error {
	data, err := json.Marshal(r.state)
	if err != nil {
		return err
	}
	return replaceFile(filepath.Join(r.stage, stateName), data)
}

// part restores one part.
func (r *restoring) part(ctx context.Context, p *Part) error {
	switch p.Kind {
	case Images:
		return r.images(ctx, p, r.stage)
	case Postgres:
		return r.postgres(ctx, p)
	case Elasticsearch:
		return r.elastic(ctx, p)
	case Redis:
		return r.redis(ctx, p)
	case Files, Database:
		return r.files(ctx, p)
	case Settings: // for people
	}
	return nil
}

// files restores files of data_dir.
func (r *restoring) files(ctx context.Context, p *Part) error {
	var done int64
	for _, f := range p.Files {
		if f.Name == timelinesName {
			continue
		}
		to := filepath.Join(r.stage, filepath.FromSlash(f.Name))
		if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) { // of an interrupted call
			return err
		}
		if err := r.restoreFile(ctx, f, to); err != nil {
			return err
		}
		done += f.Bytes
		r.opts.progress(p.Name, done, p.Bytes)
	}
	return nil
}

// finish moves the files from the stage to data_dir, if this version can use them. What was moved by an
// interrupted call is not in the stage any more.
func (r *restoring) finish(ctx context.Context) error {
	if err := datadir.Inspect(ctx, r.cfg, r.stage); err != nil {
		return fmt.Errorf("what was restored cannot be used: %w", err)
	}
	entries, err := os.ReadDir(r.stage)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == stateName || e.Name() == stateName+".tmp" {
			continue
		}
		if err := journal.SyncDir(r.stage); err != nil {
			return err
		}
		if err := os.Rename(filepath.Join(r.stage, e.Name()), filepath.Join(r.cfg.DataDir, e.Name())); err != nil {
			return err
		}
	}
	if err := journal.SyncDir(r.cfg.DataDir); err != nil {
		return err
	}
	// From here on servers start.
	if err := os.RemoveAll(r.stage); err != nil {
		return err
	}
	return journal.SyncDir(r.cfg.DataDir)
}
