// Package erasures keeps the list of the agents who were erased in a file outside of all stores. With it,
// agents who are in a backup and were erased since are erased again, after that backup was restored.
package erasures

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/freshet/freshet/dedup/journal"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/server/datadir"
)

// What is erased of an agent.
type What string

const (
	// Agent means all data about the agent.
	Agent What = "agent"
	// Author means the card, posts and followers.
	Author What = "author"
)

// Erasure is a line of the file.
type Erasure struct {
	Agent string    `json:"agent"`
	What  What      `json:"what"`
	At    time.Time `json:"at"`
}

// Log appends erasures to a file, which several servers may share.
type Log struct{ path string }

// Open returns the log of a file, which it creates, and returns an error if it cannot be written.
func Open(path string) (*Log, error) {
	l := &Log{path}
	f, err := l.open()
	if err == nil {
		err = errors.Join(f.Close(), journal.SyncDir(filepath.Dir(path)))
	}
	if err != nil {
		return nil, fmt.Errorf("erasures.file: %w; %s", err, datadir.OrMount("name a file in a directory that the user of the server may write to", err))
	}
	return l, nil
}

// Try returns an error if a server could not append to the file, or create it. It leaves nothing.
func Try(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if errors.Is(err, os.ErrNotExist) {
		f, err = os.CreateTemp(filepath.Dir(path), ".erasures-*")
		if err == nil {
			err = os.Remove(f.Name())
		}
	}
	if f != nil {
		err = errors.Join(err, f.Close())
	}
	return err
}

func (l *Log) open() (*os.File, error) {
	return os.OpenFile(l.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
}

// Note appends an erasure, and returns once it is on the disk. The file is opened each time: it may have been
// renamed. An error wraps [feed.ErrUnavailable].
func (l *Log) Note(agent string, what What, at time.Time) error {
	line, err := json.Marshal(Erasure{agent, what, at.UTC()})
	if err != nil {
		return err
	}
	f, err := l.open()
	if err != nil {
		return fmt.Errorf("%w: erasures.file: %w", feed.ErrUnavailable, err)
	}
	// It begins with a new line: a write before may have ended within one, on a full disk.
	_, err = f.Write(append(append([]byte{'\n'}, line...), '\n'))
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err != nil {
		return fmt.Errorf("%w: erasures.file: %w", feed.ErrUnavailable, err)
	}
	return nil
}

// Read returns the erasures of files since a time, each agent once.
func Read(paths []string, since time.Time) ([]Erasure, error) {
	var list []Erasure
	at := map[string]int{} // of each agent
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		n := 0
		for line := range bytes.Lines(data) {
			n++
			if len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			e, err := parse(line)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w; a server that was killed while it wrote the line has not confirmed the erasure: complete the line, or remove it", path, n, err)
			}
			i, known := at[e.Agent]
			switch {
			case e.At.Before(since):
			case !known:
				at[e.Agent] = len(list)
				list = append(list, e)
			case e.What == Agent:
				list[i] = e // includes the erasure of the author
			}
		}
	}
	return list, nil
}

func parse(line []byte) (e Erasure, err error) {
	if err := json.Unmarshal(line, &e); err != nil {
		return e, fmt.Errorf("the line is no erasure: %w", err)
	}
	if err := feed.CheckAgentID(e.Agent); err != nil {
		return e, fmt.Errorf("agent: %w", err)
	}
	switch {
	case e.What != Agent && e.What != Author:
		return e, fmt.Errorf("what must be %s or %s, not %.40q", Agent, Author, e.What)
	case e.At.IsZero():
		return e, errors.New("at, the time of the erasure, is missing")
	}
	return e, nil
}
