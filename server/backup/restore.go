package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup/journal"
	"github.com/freshet/freshet/server/datadir"
	socialsqlite "github.com/freshet/freshet/social/sqlite"
)

// restoring is the restoration of a backup.
type restoring struct {
	cfg    configs.Config
	opts   Options
	pace   pace
	files  *files
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

// Restore restores the backup at an address into the empty stores of a configuration, while no server uses
// them. It changes nothing unless all of them are empty. data_dir gets its files at the end, all together;
// until then, and after an error, it has only a directory that servers refuse. After an error the same call
// continues.
func Restore(ctx context.Context, cfg configs.Config, address string, opts Options) (m *Manifest, err error) {
	at, err := placeOf(address)
	if err != nil {
		return nil, err
	}
	if err := at.apart(cfg); err != nil {
		return nil, err
	}
	m, from, err := forConfig(ctx, cfg, at, opts)
	if err != nil {
		return nil, err
	}
	r := &restoring{
		cfg: cfg, opts: opts, pace: newPace(opts.Rate), files: from, folder: m.ID + "/",
		stage: filepath.Join(cfg.DataDir, datadir.Restoring), m: m,
	}
	lock, err := r.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	for i := range m.Parts {
		p := &m.Parts[i]
		if slices.Contains(r.state.Done, p.Name) {
			continue
		}
		if err := r.part(ctx, p); err != nil {
			return nil, fmt.Errorf("restore %s: %w", p.Name, err)
		}
		if err := step(ctx, "restored "+p.Name); err != nil {
			return nil, err
		}
		r.state.Done = append(r.state.Done, p.Name)
		if err := r.save(ctx); err != nil {
			return nil, err
		}
	}
	return m, r.finish(ctx)
}

// begin checks that the stores are empty, or that an earlier call for the same backup has begun to fill them.
// Until the lock that it returns is closed, no server and no other call can use data_dir.
func (r *restoring) begin(ctx context.Context) (lock io.Closer, err error) {
	begun, err := r.begun()
	if err != nil {
		return nil, err
	}
	if !begun {
		if err := r.empty(ctx); err != nil {
			return nil, err
		}
		if err := os.MkdirAll(r.stage, 0o700); err != nil {
			return nil, err
		}
	}
	lock, err = journal.LockDir(r.cfg.DataDir)
	if err != nil {
		return nil, err
	}
	if err := r.beginLocked(ctx); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// beginLocked looks again, once nobody else can begin: a server may have started until then, or another call
// may have ended.
func (r *restoring) beginLocked(ctx context.Context) error {
	begun, err := r.begun()
	if err != nil || begun {
		return err
	}
	if err := r.empty(ctx); err != nil {
		return err
	}
	r.state.ID = r.m.ID
	return r.save(ctx)
}

// begun reports whether an earlier call has begun to restore this backup.
func (r *restoring) begun() (bool, error) {
	data, err := os.ReadFile(filepath.Join(r.stage, stateName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case json.Unmarshal(data, &r.state) == nil && r.state.ID == r.m.ID:
		return true, nil
	}
	return false, fmt.Errorf("%s has the restoration of another backup (%s), which was interrupted: finish that, or empty all stores and data_dir", r.cfg.DataDir, r.state.ID)
}

// empty returns an error unless all stores are empty.
func (r *restoring) empty(ctx context.Context) error {
	if r.m.inDataDir() {
		if err := r.emptyDataDir(); err != nil {
			return err
		}
	}
	return r.emptyServices(ctx)
}

// inDataDir reports whether a backup has files that belong into data_dir.
func (m *Manifest) inDataDir() bool {
	return slices.ContainsFunc(m.Parts, func(p Part) bool { return p.Kind == Files || p.Kind == Database })
}

// lostFound is a directory that the root of a file system may have.
const lostFound = "lost+found"

// mayStay are names in a data directory that are in the way of nothing.
var mayStay = []string{lostFound, journal.LockName, datadir.Restoring, restored}

// restored is the name that the stage has while it is removed.
const restored = datadir.Restoring + ".done"

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

func (r *restoring) save(ctx context.Context) error {
	data, err := json.Marshal(r.state)
	if err != nil {
		return err
	}
	return replace(ctx, directory(r.stage), "", stateName, data)
}

// part restores one part.
func (r *restoring) part(ctx context.Context, p *Part) error {
	switch p.Kind { // forConfig has refused others
	case Images:
		return r.images(ctx, p, r.stage)
	case Postgres:
		return r.postgres(ctx, p)
	case Elasticsearch:
		return r.elastic(ctx, p)
	case Redis:
		return r.redis(ctx, p)
	case Files, Database:
		return r.inDataDir(ctx, p)
	case Settings: // for people
	}
	return nil
}

// inDataDir restores files of data_dir.
func (r *restoring) inDataDir(ctx context.Context, p *Part) error {
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
	for _, d := range datadir.Databases(r.cfg, r.stage) {
		if d.What != socialPart || datadir.Lacks(d.Path) {
			continue
		}
		if err := socialsqlite.EndCursors(ctx, d.Path); err != nil {
			return err
		}
	}
	entries, err := os.ReadDir(r.stage)
	if err != nil {
		return err
	}
	if err := directory(r.stage).sync("", true); err != nil { // before the first of them is in data_dir
		return err
	}
	for _, e := range entries {
		if e.Name() == stateName || e.Name() == stateName+unfinished {
			continue
		}
		if err := step(ctx, "move "+e.Name()); err != nil {
			return err
		}
		if err := os.Rename(filepath.Join(r.stage, e.Name()), filepath.Join(r.cfg.DataDir, e.Name())); err != nil {
			return err
		}
	}
	if err := journal.SyncDir(r.cfg.DataDir); err != nil {
		return err
	}
	if err := step(ctx, "moved all"); err != nil {
		return err
	}
	// From here on servers start: a directory that has lost only its state would be in the way for ever.
	done := filepath.Join(r.cfg.DataDir, restored)
	if err := os.RemoveAll(done); err != nil {
		return err
	}
	if err := os.Rename(r.stage, done); err != nil {
		return err
	}
	if err := journal.SyncDir(r.cfg.DataDir); err != nil {
		return err
	}
	if err := step(ctx, "released"); err != nil {
		return err
	}
	return os.RemoveAll(done)
}
