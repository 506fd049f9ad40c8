package overview

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"
)

// FileName is the name of the file in data_dir.
const FileName = "overview.json"

// File keeps the samples of a server in memory and in a file, which is replaced at each Put. What it
// holds has no other use: a file that is lost or cannot be read begins anew.
type File struct {
	path string

	mu    sync.Mutex
	slots map[Slot]map[string]Sample
}

var _ Store = (*File)(nil)

// row has the sample of a server in a slot.
type row struct {
	Span   Span   `json:"span"`
	Begin  int64  `json:"begin"`
	Server string `json:"server"`
	Sample Sample `json:"sample"`
}

// OpenFile reads the file. If it cannot be read, the error says why, and the store is empty.
func OpenFile(path string) (*File, error) {
	f := &File{path: path, slots: map[Slot]map[string]Sample{}}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	var rows []row
	if err == nil {
		err = json.Unmarshal(data, &rows)
	}
	if err != nil {
		return f, fmt.Errorf("%s: %w", path, err)
	}
	for _, r := range rows {
		f.set(Slot{r.Span, r.Begin}, r.Server, r.Sample)
	}
	return f, nil
}

func (f *File) set(slot Slot, server string, s Sample) {
	if f.slots[slot] == nil {
		f.slots[slot] = map[string]Sample{}
	}
	f.slots[slot][server] = s
}

// Put implements [Store].
func (f *File) Put(_ context.Context, server string, samples map[Slot]Sample) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var now int64
	for slot, s := range samples {
		f.set(slot, server, s)
		now = max(now, s.To)
	}
	var rows []row
	for slot, of := range f.slots {
		if slot.Begin+slot.Span.Kept()*int64(slot.Span) < now {
			delete(f.slots, slot)
			continue
		}
		for server, s := range of {
			rows = append(rows, row{slot.Span, slot.Begin, server, s})
		}
	}
	data, err := json.Marshal(rows)
	if err == nil {
		err = os.WriteFile(f.path+".new", data, 0o600)
	}
	if err == nil {
		err = os.Rename(f.path+".new", f.path)
	}
	return err
}

// Read implements [Store].
func (f *File) Read(ctx context.Context, now time.Time) (map[Slot][]Sample, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	found := map[Slot][]Sample{}
	for _, slot := range kept(now) {
		for _, s := range f.slots[slot] {
			found[slot] = append(found[slot], s)
		}
	}
	return found, nil
}
