// Package sqlite keeps the lists of co-readers in the memory of one process, and stores them in one
// SQLite file, so that they survive restarts and a kill.
//
// The file has each act as soon as it was added, and the lists as they were at a checkpoint: a start
// reads the lists and adds the acts after it again. The file is in WAL mode with synchronous=NORMAL: a
// power cut may lose the last acts.
package sqlite

import (
	"context"
	"fmt"
	"sync"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/sqlitefile"
	"github.com/freshet/freshet/signals/coread"
)

// acts has the acts on young items; those after the checkpoint are not in the other tables yet. The
// list of an item has a line for each entry: item, sum, people. The reads of a reader are one a line,
// oldest first. written orders lists by when they were last written to.
const tables = `
CREATE TABLE acts (seq INTEGER PRIMARY KEY, agent INTEGER NOT NULL, item TEXT NOT NULL, dated INTEGER NOT NULL, at INTEGER NOT NULL);
CREATE TABLE items (item TEXT NOT NULL PRIMARY KEY, dated INTEGER NOT NULL, readers INTEGER NOT NULL, written INTEGER NOT NULL, list TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE readers (agent INTEGER PRIMARY KEY, before INTEGER NOT NULL, last INTEGER NOT NULL, items TEXT NOT NULL);
CREATE TABLE checkpoint (seq INTEGER NOT NULL, written INTEGER NOT NULL);
INSERT INTO checkpoint (seq, written) VALUES (0, 0);`

// Schema is the schema of the file. Its id is the letters "frcr".
var Schema = sqlitefile.Schema{What: "store of co-readers", ID: 0x66726372, Oldest: 1, Migrations: []string{tables}}

// FileName is the name of the file in the data directory.
const FileName = "coread.db"

// checkpointActs is how many acts are added between two checkpoints: a start after a kill adds them
// again.
const checkpointActs = 5000

// Store implements [coread.Store]. It is safe for concurrent use.
type Store struct {
	file *sqlitefile.File

	writing sync.Mutex // held by what changes the file
	seq     int64      // of the last act in the file
	saved   int64      // of the last act in the checkpoint
	written int64      // orders lists in the file
	swept   feed.Day

	mu sync.RWMutex // protects memory
	*memory
}

var _ coread.Store = (*Store)(nil)

// Open opens the file at path, creating it and its directory if necessary.
func Open(ctx context.Context, path string) (*Store, error) {
	file, err := Schema.Open(ctx, path, "synchronous(NORMAL)", "cache_size(-2000)")
	if err != nil {
		return nil, err
	}
	s := &Store{file: file, memory: newMemory()}
	if err := sqlitefile.InTx(ctx, file.Writer, func(tx *sqlitefile.Tx) { s.load(tx) }); err != nil {
		return nil, fmt.Errorf("%s file %s: %w", Schema.What, path, err)
	}
	return s, nil
}

// Close writes a checkpoint and closes the file. Calls made after it fail with
// [coread.ErrUnavailable].
func (s *Store) Close(ctx context.Context) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	err := s.checkpoint(ctx)
	closed := s.file.Close()
	if err == nil {
		err = closed
	}
	return err
}

// Remote implements [coread.Store].
func (*Store) Remote() bool { return false }

// Add implements [coread.Store]. The acts are one transaction.
func (s *Store) Add(ctx context.Context, acts []coread.Act) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	acts = s.fresh(acts)
	if len(acts) == 0 {
		return nil
	}
	err := sqlitefile.InTx(ctx, s.file.Writer, func(tx *sqlitefile.Tx) {
		insert := tx.Prepared(`INSERT INTO acts (seq, agent, item, dated, at) VALUES (?, ?, ?, ?, ?)`)
		for i, a := range acts {
			insert(s.seq+1+int64(i), int64(a.Agent), a.Item, a.Dated, a.At)
		}
	})
	if err != nil {
		return s.failed(ctx, "add acts", err)
	}
	s.seq += int64(len(acts))
	s.mu.Lock()
	for i := range acts {
		s.add(&acts[i])
	}
	s.mu.Unlock()
	if s.seq-s.saved < checkpointActs {
		return nil
	}
	return s.checkpoint(ctx)
}

// fresh returns the acts that are not known to have been added.
func (s *Store) fresh(acts []coread.Act) []coread.Act {
	s.mu.RLock()
	defer s.mu.RUnlock()
	fresh := make([]coread.Act, 0, len(acts))
	for i := range acts {
		if s.isNew(&acts[i]) {
			fresh = append(fresh, acts[i])
		}
	}
	return fresh
}

// Reads implements [coread.Store].
func (s *Store) Reads(_ context.Context, agent uint64, into []string) ([]string, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	r := s.readers[agent]
	if r == nil {
		return into, nil
	}
	for i := len(r.items) - 1; i >= max(0, len(r.items)-coread.ReadsAsked); i-- {
		into = append(into, s.items[r.items[i]].id)
	}
	return into, nil
}

// ReadsOf implements [coread.Store].
func (s *Store) ReadsOf(_ context.Context, agent uint64) (ids []string, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	r := s.readers[agent]
	for i := 0; r != nil && i < len(r.items); i++ {
		ids = append(ids, s.items[r.items[len(r.items)-1-i]].id)
	}
	return ids, nil
}

// Related implements [coread.Store].
func (s *Store) Related(_ context.Context, id string, now int64) ([]coread.Entry, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	n, known := s.index.find(id)
	if !known || s.items[n].list == nil {
		return nil, nil
	}
	var all []coread.Entry
	for _, e := range s.items[n].list.entries {
		if s.isYoung(e.item, now) {
			it := &s.items[e.item]
			all = append(all, coread.Entry{Item: it.id, Sum: float64(e.sum), People: int(e.people), Dated: it.dated})
		}
	}
	coread.SortEntries(all)
	return all, nil
}

// Forget implements [coread.Store]. What the reader has added to lists is written first.
func (s *Store) Forget(ctx context.Context, agent uint64) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.checkpoint(ctx); err != nil {
		return err
	}
	err := sqlitefile.InTx(ctx, s.file.Writer, func(tx *sqlitefile.Tx) {
		tx.Do(`DELETE FROM acts WHERE agent = ?`, int64(agent))
		tx.Do(`DELETE FROM readers WHERE agent = ?`, int64(agent))
	})
	if err != nil {
		return s.failed(ctx, "forget an agent's reads", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(agent)
	return nil
}

func (s *Store) failed(ctx context.Context, what string, err error) error {
	return s.file.Failed(ctx, coread.ErrUnavailable, what, err)
}
