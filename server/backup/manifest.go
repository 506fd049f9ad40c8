// Package backup copies everything that a configuration's servers store into a directory or a bucket while they
// run, restores it, and compares what is stored with such a copy.
//
// A backup's place has
//
//	freshet-backup   marks the place, and is locked by the process that writes
//	manifest.json    what the backup consists of; written last, replaced by the next backup
//	<id>/            the files of one run, with progress.json until the run is finished
//	images/          the images of posts, which following runs keep
//
// If it is encrypted, the files of runs and the images end in .age, but for the list of the images; the images
// have other names, and begin with a line that has their own.
//
// A run that was interrupted has no effect on the backup that the manifest describes. The next one
// continues it. docs/decisions/backup.md says why it is so.
package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/freshet/freshet/configs"
)

// Format is the version of the format of backups.
const Format = 1

// The names of files in the place of a backup.
const (
	markName     = "freshet-backup"
	manifestName = "manifest.json"
	progressName = "progress.json" // a manifest of the parts that are finished
	imagesName   = "images"
)

// Manifest describes a backup.
type Manifest struct {
	Format   int       `json:"format"`
	ID       string    `json:"id"`      // the run, and the name of its directory
	Freshet  string    `json:"freshet"` // the version that made the backup
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished,omitzero"`
	Stores   Stores    `json:"stores"`
	// EncryptedTo are the recipients to whom the files are encrypted; none if they are not. Sizes and hashes are
	// then those of the encrypted files.
	EncryptedTo []string `json:"encrypted_to,omitempty"`
	// Settings is a hash of the settings and recipients of a run that is not finished.
	Settings string `json:"settings,omitempty"`
	Parts    []Part `json:"parts"` // in the order in which they were made
}

// Stores says what keeps what, as [configs.Config.Stores] does.
type Stores struct {
	Items       string `json:"items"`
	Impressions string `json:"impressions"`
	Posts       string `json:"posts"`
}

// Kind says what the files of a part are.
type Kind string

// The kinds of parts.
const (
	Files         Kind = "files"         // of data_dir, as they are
	Database      Kind = "sqlite"        // a SQLite database of data_dir, in one file
	Images        Kind = "images"        // a list of the images of posts
	Postgres      Kind = "postgres"      // a file of rows for each table
	Elasticsearch Kind = "elasticsearch" // a file of documents for each index
	Redis         Kind = "redis"         // filters and pending sets
	Settings      Kind = "settings"      // the configuration, for people
)

// Part is the copy of one store.
type Part struct {
	Name  string    `json:"name"`
	Kind  Kind      `json:"kind"`
	Time  time.Time `json:"time"`            // when its copy began: what was stored before is in it
	Count int64     `json:"count"`           // of rows, documents, files, impressions' days or images
	Bytes int64     `json:"bytes"`           // of its files
	Files []File    `json:"files,omitempty"` // in the folder of the run
	// Details is the file of the tables and sequences of a part that is encrypted.
	Details *File `json:"details,omitempty"`
	// Tables are the rows of each table or index.
	Tables map[string]Table `json:"tables,omitempty"`
	Schema int              `json:"schema,omitempty"` // the version of the tables
	// Sequences are the last values of PostgreSQL's sequences, by table.column.
	Sequences map[string]int64 `json:"sequences,omitempty"`
	// Checked says which of the [checkedIn] shares of the images the run has compared with their hashes.
	Checked int `json:"checked,omitempty"`
}

// File is a file of a part.
type File struct {
	Name   string `json:"name"` // its path, with slashes
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Table is the content of a table: how many rows it has, and the sum of their hashes.
type Table struct {
	Rows int64  `json:"rows"`
	Sum  string `json:"sum"`
	// Columns are the columns of a row of PostgreSQL, in the order of its file.
	Columns []string `json:"columns,omitempty"`
}

// file returns a file of a part, nil if there is none.
func (p *Part) file(name string) *File {
	for i := range p.Files {
		if p.Files[i].Name == name {
			return &p.Files[i]
		}
	}
	return nil
}

// part returns a part by its name, nil if there is none.
func (m *Manifest) part(name string) *Part {
	for i := range m.Parts {
		if m.Parts[i].Name == name {
			return &m.Parts[i]
		}
	}
	return nil
}

func storesOf(cfg configs.Config) Stores {
	items, impressions, posts := cfg.Stores()
	return Stores{items, impressions, posts}
}

// ErrUnfinished means that a directory has no finished backup.
var ErrUnfinished = errors.New("the backup is not finished")

// ReadManifest returns the manifest of the backup at an address, as it is stored. The error says what to do.
func ReadManifest(ctx context.Context, address string) (*Manifest, error) {
	at, err := placeOf(address)
	if err != nil {
		return nil, err
	}
	return manifestOf(ctx, at)
}

func manifestOf(ctx context.Context, at place) (*Manifest, error) {
	m, err := readManifest(ctx, at, manifestName)
	if !errors.Is(err, fs.ErrNotExist) {
		return m, err
	}
	mark, err := at.open(ctx, markName)
	switch {
	case err == nil:
		_ = mark.Close()
		return nil, fmt.Errorf("%s: %w: it has no %s, which is written last; run freshet backup %s again, which continues it", at.shown(""), ErrUnfinished, manifestName, at.shown(""))
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	return nil, fmt.Errorf("%s is not a backup: it has no %s; name the directory or address that was given to freshet backup", at.shown(""), manifestName)
}

func readManifest(ctx context.Context, at place, name string) (*Manifest, error) {
	in, err := at.open(ctx, name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(in)
	err = errors.Join(err, in.Close())
	if err != nil {
		return nil, err
	}
	var m Manifest
	if err := json.Unmarshal(data, &m); err != nil || m.Format == 0 {
		return nil, fmt.Errorf("%s is damaged: %w; restore another backup", at.shown(name), errors.Join(err, errors.New("it does not describe a backup")))
	}
	if m.Format > Format {
		return nil, fmt.Errorf("%s: this backup was made by freshet %s in format %d, and this version reads up to format %d: use that version or a later one", at.shown(name), m.Freshet, m.Format, Format)
	}
	return &m, nil
}

// write writes the manifest, in a folder or as that of the place, so that after a crash there is either the old
// file or the new one.
func (m *Manifest) write(ctx context.Context, at place, folder, name string) error {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return replace(ctx, at, folder, name, append(data, '\n'))
}

// replace writes a small file so that after a crash there is either the old one or the new one.
func replace(ctx context.Context, at place, folder, name string, data []byte) error {
	out, err := at.create(ctx, folder+name)
	if err != nil {
		return err
	}
	if _, err = out.Write(data); err == nil {
		err = step(ctx, "replace "+name)
	}
	if err != nil {
		return errors.Join(err, out.Abort())
	}
	if err := out.Finish(); err != nil {
		return err
	}
	if err := at.sync(folder, false); err != nil {
		return err
	}
	return step(ctx, "replaced "+name)
}
