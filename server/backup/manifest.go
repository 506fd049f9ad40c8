// Package backup copies everything that a configuration's servers store into a directory while they run,
// restores it, and compares what is stored with such a copy.
//
// A backup's directory has
//
//	freshet-backup   marks the directory, and is locked by the process that writes
//	manifest.json    what the backup consists of; written last, replaced by the next backup
//	<id>/            the files of one run, with progress.json until the run is finished
//	images/          the images of posts, which following runs keep
//
// A run that was interrupted has no effect on the backup that the manifest describes. The next one
// continues it. docs/decisions/backup.md says why it is so.
package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup/journal"
)

// Format is the version of the format of backups.
const Format = 1

// The names of files in a backup's directory.
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
	Parts    []Part    `json:"parts"` // in the order in which they were made
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
	Files []File    `json:"files,omitempty"` // in the directory of the run
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

// ReadManifest returns the manifest of the backup in a directory. The error says what to do.
func ReadManifest(dir string) (*Manifest, error) {
	m, err := readManifest(filepath.Join(dir, manifestName))
	switch {
	case err == nil:
		return m, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, markName)); err == nil {
		return nil, fmt.Errorf("%s: %w: it has no %s, which is written last; run freshet backup %s again, which continues it", dir, ErrUnfinished, manifestName, dir)
	}
	return nil, fmt.Errorf("%s is not a backup: it has no %s; name the directory that was given to freshet backup", dir, manifestName)
}

func readManifest(path string) (*Manifest, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var m Manifest
	if err := json.Unmarshal(data, &m); err != nil || m.Format == 0 {
		return nil, fmt.Errorf("%s is damaged: %w; restore another backup", path, errors.Join(err, errors.New("it does not describe a backup")))
	}
	if m.Format > Format {
		return nil, fmt.Errorf("%s: this backup was made by freshet %s in format %d, and this version reads up to format %d: use that version or a later one", path, m.Freshet, m.Format, Format)
	}
	return &m, nil
}

// write writes the manifest so that after a crash there is either the old file or the new one.
func (m *Manifest) write(ctx context.Context, path string) error {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(ctx, path, append(data, '\n'))
}

func replaceFile(ctx context.Context, path string, data []byte) error {
	temp := path + ".tmp"
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := step(ctx, "replace "+filepath.Base(path)); err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	if err := journal.SyncDir(filepath.Dir(path)); err != nil {
		return err
	}
	return step(ctx, "replaced "+filepath.Base(path))
}
