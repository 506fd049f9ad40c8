package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/freshet/freshet/configs"
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
	files  *files
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

// Make copies everything that servers with this configuration store into a directory or a bucket, while they run.
// A backup that is there is replaced by the new one once that is finished. now is the present time.
//
// The order of the parts decides what a restored backup lacks: a part may refer to what is in a later
// part, and not the other way round. Impressions come last, so whatever was shown of the items in the
// backup is in it.
func Make(ctx context.Context, cfg configs.Config, address string, opts Options, now func() time.Time) (m *Manifest, err error) {
	at, err := placeOf(address)
	if err != nil {
		return nil, err
	}
	if err := at.apart(cfg); err != nil {
		return nil, err
	}
	held, release, err := at.claim(ctx, opts.notice)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	if err := usesAll(held, cfg); err != nil {
		return nil, err
	}
	r := &run{cfg: cfg, opts: opts, pace: newPace(opts.Rate), files: encrypted(at, opts.EncryptTo)}
	return r.make(held, now)
}

func (r *run) make(ctx context.Context, now func() time.Time) (*Manifest, error) {
	if err := r.begin(ctx, now()); err != nil {
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
	// The files are durable when they are finished; their names are now.
	for _, folder := range []string{r.folder, imagesFolder} {
		if err := r.files.sync(folder, true); err != nil {
			return nil, err
		}
	}
	if err := r.files.check(ctx); err != nil {
		return nil, err
	}
	r.m.Finished, r.m.Settings = now().UTC(), ""
	if err := r.m.write(ctx, r.files, "", manifestName); err != nil {
		return nil, err
	}
	return &r.m, r.clean(ctx)
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
	if err := r.files.seal(ctx, r.folder, &made); err != nil {
		return err
	}
	r.m.Parts = append(r.m.Parts, made)
	return r.m.write(ctx, r.files, r.folder, progressName)
}

// begin continues the last run if it was interrupted, otherwise it begins a new one.
func (r *run) begin(ctx context.Context, now time.Time) error {
	before, err := manifestOf(ctx, r.files)
	if err == nil {
		r.before, err = before, before.check()
	}
	switch {
	case err != nil && !errors.Is(err, ErrUnfinished):
		return fmt.Errorf("the backup that is there: %w; name a new directory", err)
	case r.before != nil && len(r.before.EncryptedTo) > 0 && !r.files.sealed():
		return fmt.Errorf("the backup in %s is encrypted, and the next would not be: give --encrypt-to, or name another place", r.files.shown(""))
	}
	ids, err := r.runs(ctx)
	if err != nil {
		return err
	}
	settings, err := r.settingsHash()
	if err != nil {
		return err
	}
	for _, id := range slices.Backward(ids) {
		if r.before != nil && id <= r.before.ID {
			break // what is left of it was not removed yet
		}
		m, err := readManifest(ctx, r.files, id+"/"+progressName)
		if err == nil && m.ID == id && m.Settings == settings && r.continues(m, now) {
			r.m, r.folder = *m, id+"/"
			return nil
		}
	}
	id := now.UTC().Format(idLayout)
	for n := 2; slices.Contains(ids, id); n++ {
		id = fmt.Sprintf("%s-%d", now.UTC().Format(idLayout), n)
	}
	r.m = Manifest{
		Format: Format, ID: id, Freshet: version.String(), Started: now.UTC(), Stores: storesOf(r.cfg),
		EncryptedTo: r.files.recipients, Settings: settings,
	}
	r.folder = id + "/"
	return nil
}

// continues reports whether the parts of an interrupted run with the same settings can be used: they are whole,
// and not old.
func (r *run) continues(m *Manifest, now time.Time) bool {
	age := now.Sub(m.Started)
	return m.Format == Format && m.Freshet == version.String() && m.Stores == storesOf(r.cfg) && slices.Equal(m.EncryptedTo, r.files.recipients) &&
		age >= 0 && age < resumeFor
}

// settingsHash returns a hash of what the parts of two runs must have in common.
func (r *run) settingsHash() (string, error) {
	text, err := r.settingsText()
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), err
}

// runs returns the ids of all runs that have a folder, the oldest first.
func (r *run) runs(ctx context.Context) (ids []string, err error) {
	err = r.files.each(ctx, "", false, func(name string, _ int64) error {
		id, isFolder := strings.CutSuffix(name, "/")
		if isFolder && idPattern.MatchString(id) {
			ids = append(ids, id)
		}
		return nil
	})
	slices.Sort(ids)
	return ids, err
}

// clean removes what does not belong to the finished backup.
func (r *run) clean(ctx context.Context) error {
	ids, err := r.runs(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if id == r.m.ID {
			continue
		}
		if err := r.files.remove(ctx, id+"/"); err != nil {
			return err
		}
		if err := step(ctx, "removed an earlier run"); err != nil {
			return err
		}
	}
	keep := map[string]bool{}
	for i := range r.m.Parts {
		p := &r.m.Parts[i]
		for _, f := range p.Files {
			keep[r.files.of(p).named(f.Name)] = true
		}
		if p.Details != nil {
			keep[r.files.named(p.Details.Name)] = true
		}
	}
	err = r.files.each(ctx, r.folder, true, func(name string, _ int64) error {
		if keep[name] {
			return nil
		}
		return r.files.remove(ctx, r.folder+name)
	})
	return errors.Join(err, r.cleanImages(ctx))
}
