package backup

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/server/datadir"
	"github.com/freshet/freshet/server/overview"
)

// forConfig returns the manifest of a backup whose stores are those of a configuration, and its files, which can
// be read.
func forConfig(ctx context.Context, cfg configs.Config, at place, opts Options) (*Manifest, *files, error) {
	m, err := manifestOf(ctx, at)
	if err != nil {
		return nil, nil, err
	}
	if err := m.check(); err != nil {
		return nil, nil, fmt.Errorf("%s: %w; restore another backup", at.shown(manifestName), err)
	}
	from := &files{place: at, recipients: m.EncryptedTo, own: opts.Identities}
	here := storesOf(cfg)
	if m.Stores != here {
		return nil, nil, fmt.Errorf("the backup in %s is of items in %s, impressions in %s and posts in %s, and this configuration has items in %s, impressions in %s and posts in %s: use the configuration of the servers that were backed up, see %s",
			at.shown(""), m.Stores.Items, m.Stores.Impressions, m.Stores.Posts, here.Items, here.Impressions, here.Posts, at.shown(from.named(m.ID+"/"+settingsName)))
	}
	if err := from.unseal(ctx, m); err != nil {
		return nil, nil, err
	}
	return m, from, m.fits(cfg, at)
}

// errManifest is wrapped by errors that say why a manifest cannot be that of a backup.
var errManifest = errors.New("the manifest is damaged, or was changed")

// check returns an error unless the names in a manifest are such that a backup has: a changed one must not lead
// to files outside of the backup and of data_dir.
func (m *Manifest) check() error {
	if !idPattern.MatchString(m.ID) {
		return fmt.Errorf("%w: %.80q is no id of a run", errManifest, m.ID)
	}
	parts, files := map[string]bool{}, map[string]bool{}
	for i := range m.Parts {
		p := &m.Parts[i]
		if parts[p.Name] {
			return fmt.Errorf("%w: it has the part %.80q twice", errManifest, p.Name)
		}
		parts[p.Name] = true
		named := p.Files
		if p.Details != nil {
			named = append(slices.Clone(named), *p.Details)
		}
		for _, f := range named {
			switch {
			case !filepath.IsLocal(filepath.FromSlash(f.Name)) || path.Clean(f.Name) != f.Name:
				return fmt.Errorf("%w: it names the file %.200q, which is not within the backup", errManifest, f.Name)
			case files[f.Name]:
				return fmt.Errorf("%w: it has the file %.200q twice", errManifest, f.Name)
			case f.Bytes < 0:
				return fmt.Errorf("%w: %s has %d bytes", errManifest, f.Name, f.Bytes)
			}
			files[f.Name] = true
		}
	}
	return nil
}

// fits returns an error unless a manifest has all that servers with this configuration store, and nothing that
// this version would ignore.
func (m *Manifest) fits(cfg configs.Config, at place) error {
	wanted, err := (&run{cfg: cfg}).parts()
	if err != nil {
		return err
	}
	for _, w := range wanted {
		p := m.part(w.name)
		switch {
		case p == nil && (w.kind == Images || mayLack(cfg, w.name)): // left out, or made by an older version
		case p == nil:
			return fmt.Errorf("%s: %w: it lacks the part %s; restore another backup", at.shown(manifestName), errManifest, w.name)
		case p.Kind != w.kind:
			return fmt.Errorf("%s: %w: the part %s is of the kind %.80q, not %s; restore another backup", at.shown(manifestName), errManifest, w.name, p.Kind, w.kind)
		}
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		known := slices.ContainsFunc(wanted, func(w part) bool { return w.name == p.Name })
		switch {
		case known, p.Kind == Images && p.Count == 0:
		case p.Kind == Images:
			return fmt.Errorf("the backup has %d images, and with this configuration posts have none: set media.url", p.Count)
		default:
			return fmt.Errorf("the backup was made by freshet %s and has %q, which this version does not know: restore it with that version or a later one", m.Freshet, p.Name)
		}
		if err := m.fitsPart(cfg, p); err != nil {
			return err
		}
	}
	return nil
}

// mayLack reports whether a part is a database that older versions did not have.
func mayLack(cfg configs.Config, name string) bool {
	return slices.ContainsFunc(datadir.Databases(cfg, ""), func(d datadir.Database) bool { return d.What == name && d.Later })
}

// fitsPart returns an error if a part has files that it must not have, or lacks one, or is of a newer version.
func (m *Manifest) fitsPart(cfg configs.Config, p *Part) error {
	odd := func(name string) error {
		return fmt.Errorf("%w: the part %s has the file %.200q; restore another backup", errManifest, p.Name, name)
	}
	switch p.Kind {
	case Database:
		for _, d := range datadir.Databases(cfg, "") {
			if d.What != p.Name {
				continue
			}
			known := len(d.Schema.Migrations)
			if p.Schema > known {
				return fmt.Errorf("the backup was made by freshet %s: its %s is of version %d, and this version reads up to %d: restore it with that version or a later one", m.Freshet, filepath.Base(d.Path), p.Schema, known)
			}
			for _, f := range p.Files {
				if f.Name != filepath.Base(d.Path) && f.Name != timelinesName {
					return odd(f.Name)
				}
			}
			if len(p.Files) == 0 && !d.Later {
				return fmt.Errorf("%w: the part %s has no file; restore another backup", errManifest, p.Name)
			}
		}
	case Files:
		for _, f := range p.Files {
			in, ok := strings.CutPrefix(f.Name, datadir.Impressions+"/")
			isDay := ok && !strings.Contains(in, "/") && (strings.HasSuffix(in, journalSuffix) || strings.HasSuffix(in, filterSuffix))
			if !isDay && f.Name != overview.FileName {
				return odd(f.Name)
			}
		}
	case Images:
		if p.file(imageListName) == nil || len(p.Files) > 1 {
			return fmt.Errorf("%w: the part %s lacks %s; restore another backup", errManifest, p.Name, imageListName)
		}
	case Elasticsearch:
		here := indices(cfg)
		for name := range p.Tables {
			if here[name] == "" {
				return fmt.Errorf("the backup has %s of an index that Freshet manages: elasticsearch.manage_index must be as on the servers that were backed up", name)
			}
		}
		for name := range here {
			if _, ok := p.Tables[name]; !ok {
				return fmt.Errorf("the backup has no %s: elasticsearch.manage_index must be as on the servers that were backed up", name)
			}
		}
	case Postgres, Redis, Settings: // their files are found by the names of what they have
	}
	return nil
}
