package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup/journal"
	"github.com/freshet/freshet/internal/version"
)

// resumeFor is how long the finished parts of an interrupted run may be used by the next.
const resumeFor = 24 * time.Hour

// idLayout is the layout of the id of a run: when it began, in UTC.
const idLayout = "20060102T150405Z"

var idPattern = regexp.MustCompile(`^\d{8}T\d{6}Z(-\d+)?$`)

// run is the making of a backup.
type run struct {
	cfg    configs.Config
	opts   Options
	pace   pace
	dir    string
	folder string // of the run
	m      Manifest
	before *Manifest // the backup that this one replaces; nil if there is none
}

// part makes one part of a backup.
type part struct {
	name string
	kind Kind
	make func(ctx context.Context, p *Part) error
	// again means that a part of an interrupted run is not used: it must be as new as the others.
	again bool
}

// Make copies everything that servers with this configuration store into a directory, while they run.
// A backup that is there is replaced by the new one once that is finished. now is the present time.
//
// The order of the parts decides what a restored backup lacks: a part may refer to what is in a later
// part, and not the other way round. Impressions come last, so whatever was shown of the items in the
// backup is in it.
func Make(ctx context.Context, cfg configs.Config, dir string, opts Options, now func() time.Time) (m *Manifest, err error) {
	lock, err := claim(dir, cfg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := usesAll(ctx, cfg); err != nil {
		return nil, err
	}
	r := &run{cfg: cfg, opts: opts, pace: newPace(opts.Rate), dir: dir}
	if err := r.begin(now()); err != nil {
		return nil, err
	}
	if err := step(ctx, "begun"); err != nil {
		return nil, err
	}
	parts, err := r.parts()
	if err != nil {
		return nil, err
	}
	for _, p := range parts {
		if err := r.one(ctx, p, now()); err != nil {
			return nil, fmt.Errorf("backup of %s: %w", p.name, err)
		}
	}
	r.m.Finished = now().UTC()
	if err := r.durable(); err != nil {
		return nil, err
	}
	if err := r.m.write(ctx, filepath.Join(dir, manifestName)); err != nil {
		return nil, err
	}
	return &r.m, r.clean(ctx)
}

// durable makes the names of all files durable, so that after a loss of power none is missing that the
// manifest names. The files themselves are when they are finished.
func (r *run) durable() error {
	for _, root := range []string{r.folder, filepath.Join(r.dir, imagesName)} {
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.IsDir() {
				return err
			}
			return journal.SyncDir(path)
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// parts lists the parts of this configuration in their order.
func (r *run) parts() ([]part, error) {
	all := []part{{name: settingsPart, kind: Settings, make: r.settings, again: true}}
	if r.cfg.UsesPostgres() {
		all = append(all, part{name: socialPart, kind: Postgres, make: r.postgres})
	}
	all = append(all, r.databases()...)
	if r.cfg.UsesElasticsearch() {
		all = append(all, part{name: catalogPart, kind: Elasticsearch, make: r.elastic})
	}
	images, err := r.images()
	if err != nil {
		return nil, err
	}
	all = append(all, images...)
	last := part{name: impressionsPart, kind: Files, make: r.impressions, again: true}
	if r.cfg.UsesRedis() {
		last.kind, last.make = Redis, r.redis
	}
	return append(all, last), nil
}

// one makes a part, unless an interrupted run has made it.
func (r *run) one(ctx context.Context, p part, now time.Time) error {
	there := r.m.part(p.name)
	if there != nil && !p.again {
		return nil
	}
	r.m.Parts = slices.DeleteFunc(r.m.Parts, func(old Part) bool { return old.Name == p.name })
	made := Part{Name: p.name, Kind: p.kind, Time: now.UTC()}
	if err := p.make(ctx, &made); err != nil {
		return err
	}
	if err := step(ctx, "made "+p.name); err != nil {
		return err
	}
	for _, f := range made.Files {
		made.Bytes += f.Bytes
	}
	r.m.Parts = append(r.m.Parts, made)
	return r.m.write(ctx, filepath.Join(r.folder, progressName))
}

// begin continues the last run if it was interrupted, otherwise it begins a new one.
func (r *run) begin(now time.Time) error {
	before, err := ReadManifest(r.dir)
	if err == nil {
		r.before, err = before, before.check()
	}
	if err != nil && !errors.Is(err, ErrUnfinished) {
		return fmt.Errorf("the backup that is there: %w; name a new directory", err)
	}
	ids, err := r.runs()
	if err != nil {
		return err
	}
	settings, err := r.settingsText()
	if err != nil {
		return err
	}
	for _, id := range slices.Backward(ids) {
		if r.before != nil && id <= r.before.ID {
			break // what is left of it was not removed yet
		}
		m, err := readManifest(filepath.Join(r.dir, id, progressName))
		if err == nil && m.ID == id && r.continues(m, settings, now) {
			r.m, r.folder = *m, filepath.Join(r.dir, id)
			return nil
		}
	}
	id := now.UTC().Format(idLayout)
	for n := 2; slices.Contains(ids, id); n++ {
		id = fmt.Sprintf("%s-%d", now.UTC().Format(idLayout), n)
	}
	r.m = Manifest{Format: Format, ID: id, Freshet: version.String(), Started: now.UTC(), Stores: storesOf(r.cfg)}
	r.folder = filepath.Join(r.dir, id)
	return os.Mkdir(r.folder, 0o700)
}

// continues reports whether the parts of an interrupted run can be used: they are of the same servers, and not
// old.
func (r *run) continues(m *Manifest, settings []byte, now time.Time) bool {
	age := now.Sub(m.Started)
	if m.Format != Format || m.Freshet != version.String() || m.Stores != storesOf(r.cfg) || age < 0 || age >= resumeFor {
		return false
	}
	p := m.part(settingsPart)
	if p == nil || p.file(settingsName) == nil {
		return false
	}
	sum := sha256.Sum256(settings)
	return p.file(settingsName).SHA256 == hex.EncodeToString(sum[:])
}

// runs returns the ids of all runs that have a directory, the oldest first.
func (r *run) runs() (ids []string, err error) {
	entries, err := os.ReadDir(r.dir)
	for _, e := range entries {
		if e.IsDir() && idPattern.MatchString(e.Name()) {
			ids = append(ids, e.Name())
		}
	}
	return ids, err
}

// clean removes what does not belong to the finished backup.
func (r *run) clean(ctx context.Context) error {
	ids, err := r.runs()
	if err != nil {
		return err
	}
	for _, id := range ids {
		if id == r.m.ID {
			continue
		}
		if err := os.RemoveAll(filepath.Join(r.dir, id)); err != nil {
			return err
		}
		if err := step(ctx, "removed an earlier run"); err != nil {
			return err
		}
	}
	if err := os.Remove(filepath.Join(r.folder, progressName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return r.cleanImages(ctx)
}
