package recall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/freshet/freshet/feed"
)

// docsAtOnce is how many contents are read in one call.
const docsAtOnce = 1000

// StandbyConfig are the options of [NewStandby].
type StandbyConfig struct {
	TTL   time.Duration // oldest list that may stand in
	Bytes int           // of the contents that are kept; default 32 MiB, the best items first
	Tells Tells         // nil: always
}

// Tells reports whether the content of items tells whether a reader with this profile
// refuses them. Where it does not, only the source that searches them knows, and nothing
// else may propose items to the reader.
type Tells func(p *feed.Profile) bool

// Refused reports whether an item must not be proposed to a reader, because their profile
// refuses it or its content does not tell. That of a post does.
func (t Tells) Refused(p *feed.Profile, it *feed.Item) bool {
	return p.Refuses(it) || t != nil && !feed.IsPost(it.ID) && !t(p)
}

// Standby is a [Source] that lets one list for all readers stand in while the
// source behind it is unavailable and has no earlier answer: what a reader
// without a profile would get, less what this reader's profile refuses. It keeps
// the items' content, to tell what is refused and for pages while the catalog is
// down too ([Standby.Doc]).
//
// The list is in the order of the time it was recalled at. Only first rounds
// stand in, and they end there. A query bounded by Since is about what is new,
// so nothing stands in for it.
type Standby struct {
	source Source
	clock  feed.Clock
	cfg    StandbyConfig

	mu      sync.RWMutex
	list    []string // ids, best first
	items   map[string]keptItem
	at      time.Time
	renewed map[string]struct{} // ids written or deleted during a renewal; nil: none is under way
}

// keptItem is an item of the list.
type keptItem struct {
	feed.Candidate
	doc  feed.Doc
	head feed.Item // what a profile can refuse it by, and no more
}

var _ Source = (*Standby)(nil)

// NewStandby returns a source that has nothing to stand in before the first
// [Standby.Renew].
func NewStandby(source Source, clock feed.Clock, cfg StandbyConfig) *Standby {
	cfg.Bytes = cmp.Or(cfg.Bytes, 32<<20)
	return &Standby{source: source, clock: clock, cfg: cfg}
}

// Name is the name of the source behind it.
func (s *Standby) Name() string { return s.source.Name() }

// Unwrap implements [Wrapper].
func (s *Standby) Unwrap() Source { return s.source }

// Recall implements [Source].
func (s *Standby) Recall(ctx context.Context, q feed.Query) (Result, error) {
	result, err := s.source.Recall(ctx, q)
	if !errors.Is(err, ErrUnavailable) || q.After != "" || !q.Since.IsZero() {
		return result, err
	}
	candidates, ok := s.standIn(&q)
	if !ok {
		return Result{}, err
	}
	return Result{Candidates: candidates, Stale: true}, nil
}

// standIn is the list as this query may see it; ok is false where there is none,
// or this reader refuses all of it: what else there is for them is not known.
func (s *Standby) standIn(q *feed.Query) (candidates []feed.Candidate, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if len(s.items) == 0 || s.left() <= 0 {
		return nil, false
	}
	candidates = make([]feed.Candidate, 0, min(q.N, len(s.items)))
	for _, id := range s.list {
		it, kept := s.items[id]
		if kept && len(candidates) < q.N && it.UpdateTime <= q.Origin.Unix() && !s.cfg.Tells.Refused(&q.Profile, &it.head) {
			candidates = append(candidates, it.Candidate)
		}
	}
	return candidates, len(candidates) > 0
}

// Left is how long the list may still stand in; 0 where there is none, or it
// is too old.
func (s *Standby) Left() time.Duration {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if len(s.items) == 0 {
		return 0
	}
	return max(0, s.left())
}

// left is negative for a list from the future: a clock set back must not keep
// it indefinitely.
func (s *Standby) left() time.Duration {
	age := s.clock().Sub(s.at)
	if age < 0 {
		return -1
	}
	return s.cfg.TTL - age
}

// Doc returns the content of an item of the list; ok is false where it is in no
// list that may stand in.
func (s *Standby) Doc(id string) (doc feed.Doc, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	it, ok := s.items[id]
	return it.doc, ok && s.left() > 0
}

// Renew recalls anew, by a query that should be for a reader without a profile,
// and reads the contents with docs, which is [catalog.Reader]'s Docs. It asks the
// source itself, past what is kept for readers. After an error the list of
// before stays. Renewals must not overlap.
func (s *Standby) Renew(ctx context.Context, q feed.Query, docs func(ctx context.Context, ids []string) ([]feed.Doc, error)) error {
	s.mu.Lock()
	s.renewed = map[string]struct{}{}
	s.mu.Unlock()
	at := s.clock()
	list, items, err := s.read(ctx, q, docs)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		for id := range s.renewed { // whether they were read before or after that is not known
			delete(items, id)
		}
		s.list, s.items, s.at = list, items, at
	}
	s.renewed = nil
	return err
}

// read recalls, and reads contents until there are enough.
func (s *Standby) read(ctx context.Context, q feed.Query, docs func(context.Context, []string) ([]feed.Doc, error)) ([]string, map[string]keptItem, error) {
	result, err := Direct(s.source).Recall(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	list, items, size := make([]string, 0, len(result.Candidates)), make(map[string]keptItem, len(result.Candidates)), 0
	for part := range slices.Chunk(result.Candidates, docsAtOnce) {
		ids := make([]string, len(part))
		for i, c := range part {
			ids[i] = c.ID
		}
		found, err := docs(ctx, ids)
		if err != nil {
			return nil, nil, fmt.Errorf("contents of the list for all readers: %w", err)
		}
		for i, c := range part {
			if size += len(found[i].JSON); size > s.cfg.Bytes {
				return list, items, nil
			}
			it, err := found[i].Item()
			if err == nil && it.Group() == c.Group { // else it was changed or deleted since the index was refreshed
				list, items[c.ID] = append(list, c.ID), keep(c, found[i], &it)
			}
		}
	}
	return list, items, nil
}

func keep(c feed.Candidate, doc feed.Doc, it *feed.Item) keptItem {
	c.UpdateTime = it.UpdateTime
	return keptItem{c, doc, feed.Item{ID: it.ID, GroupID: it.GroupID, AuthorID: it.AuthorID, Lang: it.Lang, Tags: it.Tags}}
}

// Upsert takes over what was written of items of the list. One that has changed
// its group leaves the list.
func (s *Standby) Upsert(items []feed.Item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range items {
		it := &items[i]
		s.note(it.ID)
		before, ok := s.items[it.ID]
		if !ok {
			continue
		}
		text, err := it.MarshalJSON()
		if err != nil || it.Group() != before.Group {
			delete(s.items, it.ID)
			continue
		}
		s.items[it.ID] = keep(before.Candidate, feed.Doc{ID: it.ID, JSON: text}, it)
	}
}

// Delete takes an item off the list.
func (s *Standby) Delete(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note(id)
	delete(s.items, id)
}

// note keeps a renewal that is under way from bringing back what it read
// before; s.mu is held.
func (s *Standby) note(id string) {
	if s.renewed != nil {
		s.renewed[id] = struct{}{}
	}
}

var (
	_ Wrapper = (*Standby)(nil)
	_ Indexer = (*Standby)(nil)
)
