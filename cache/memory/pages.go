package memory

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/feed"
)

// pages stores the records of calls with a request id in a file, so that a retry gets its page also
// if the server was killed. A line replaces earlier ones of its request id. There are two files, and the
// older one is dropped once nothing in it counts. Nothing is synced: a process that is killed loses no
// line, and after a power cut such calls are new ones.
type pages struct {
	path  string
	clock feed.Clock

	mu    sync.Mutex
	file  *os.File
	begun time.Time // when the file got its first line
}

// The names of the files, and of the one that is older.
const (
	pagesFile = "pages"
	olderFile = "pages.older"
)

// line is a record in a file. One without steps says that there is none any more.
type line struct {
	Agent  string     `json:"agent"`
	Feed   feed.Name  `json:"feed"`
	ID     string     `json:"id"`
	Action string     `json:"action,omitempty"`
	Limit  int        `json:"limit,omitempty"`
	More   bool       `json:"more,omitempty"`
	First  bool       `json:"first,omitempty"`
	Ends   int64      `json:"ends"` // Unix milliseconds
	Steps  []lineStep `json:"steps,omitempty"`
}

type lineStep struct {
	Number int        `json:"n"`
	Refs   []feed.Ref `json:"refs"`
}

// keep writes a record before its page is handed out. r is nil if it has been given back.
func (p *pages) keep(agent string, call cache.Call, r *record) error {
	if p == nil || call.RequestID == "" {
		return nil
	}
	l := line{Agent: agent, Feed: call.Feed, ID: call.RequestID}
	if r != nil {
		l.Action, l.Limit, l.More, l.First, l.Ends = r.action, r.limit, r.more, r.first, r.ends.UnixMilli()
		for _, s := range r.steps {
			l.Steps = append(l.Steps, lineStep{s.number, s.refs})
		}
	}
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	err = p.turn()
	if err == nil {
		// A write that failed halfway must not take the next line with it.
		_, err = p.file.Write(slices.Concat([]byte{'\n'}, text, []byte{'\n'}))
	}
	if err != nil {
		return fmt.Errorf("%w: store a page for its retry: %w", cache.ErrUnavailable, err)
	}
	return nil
}

// turn begins a new file if all in the older one is over: no record counts for longer than RetryTTL.
func (p *pages) turn() error {
	now := p.clock()
	since := now.Sub(p.begun)
	if p.file != nil && since >= 0 && since <= cache.RetryTTL {
		return nil
	}
	if p.file != nil {
		_ = p.file.Close()
		p.file = nil
		if err := os.Rename(filepath.Join(p.path, pagesFile), filepath.Join(p.path, olderFile)); err != nil {
			return err
		}
	}
	file, err := os.OpenFile(filepath.Join(p.path, pagesFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	p.file, p.begun = file, now
	return err
}

// begin replaces what is in the files by these records.
func (p *pages) begin(all []line) error {
	var text []byte
	for _, l := range all {
		one, err := json.Marshal(l)
		if err != nil {
			return err
		}
		text = append(append(text, one...), '\n')
	}
	older := filepath.Join(p.path, olderFile)
	if err := os.WriteFile(older+".new", text, 0o600); err != nil {
		return err
	}
	if err := os.Rename(older+".new", older); err != nil {
		return err
	}
	err := os.Remove(filepath.Join(p.path, pagesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// load returns the records that still count, the latest of each request id. What a kill has left of a
// last line is no record.
func (p *pages) load() ([]line, error) {
	type key struct {
		agent, id string
		feed      feed.Name
	}
	latest := map[key]line{}
	for _, name := range []string{olderFile, pagesFile} {
		text, err := os.ReadFile(filepath.Join(p.path, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for lines := bufio.NewReader(bytes.NewReader(text)); ; {
			text, err := lines.ReadBytes('\n')
			if err != nil {
				break
			}
			var l line
			if json.Unmarshal(text, &l) == nil {
				latest[key{l.Agent, l.ID, l.Feed}] = l
			}
		}
	}
	var all []line
	now := p.clock()
	for _, l := range latest {
		if len(l.Steps) > 0 && now.Before(time.UnixMilli(l.Ends)) {
			all = append(all, l)
		}
	}
	return all, nil
}

// close closes the file.
func (p *pages) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file == nil {
		return nil
	}
	file := p.file
	p.file = nil
	return file.Close()
}
