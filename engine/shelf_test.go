package engine_test

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
)

// shelf is a catalog in two maps, which is cheap: the engine's tests open hundreds.
type shelf struct {
	catalog.Catalog // the methods that an engine does not call

	mu       sync.Mutex
	docs     map[string]feed.Doc
	profiles map[string]feed.Profile
}

func newShelf() *shelf {
	return &shelf{docs: map[string]feed.Doc{}, profiles: map[string]feed.Profile{}}
}

func (s *shelf) Docs(ctx context.Context, ids []string) ([]feed.Doc, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]feed.Doc, len(ids))
	for i, id := range ids {
		out[i] = feed.Doc{ID: id, JSON: s.docs[id].JSON}
	}
	return out, nil
}

func (s *shelf) Hydrate(ctx context.Context, agent string, ids []string) ([]feed.Doc, feed.Profile, error) {
	return catalog.Hydrate(ctx, s, s, agent, ids)
}

func (s *shelf) Put(_ context.Context, items []feed.Item) ([]error, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, it := range items {
		data, err := json.Marshal(it)
		if err != nil {
			return nil, err
		}
		s.docs[it.ID] = feed.Doc{ID: it.ID, JSON: data}
	}
	return nil, nil
}

func (s *shelf) Update(context.Context, []string, func(feed.Item) (feed.Item, error)) ([]catalog.Updated, error) {
	return nil, catalog.ErrUnavailable // the engine does not change items
}

func (s *shelf) Remove(_ context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.docs, id)
	return nil
}

func (s *shelf) Profile(_ context.Context, agent string) (feed.Profile, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.profiles[agent]
	if !ok {
		return p, feed.ErrNotFound
	}
	return p, nil
}

func (s *shelf) EditProfile(_ context.Context, agent string, change func(*feed.Profile) (bool, error)) (feed.Profile, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.profiles[agent]
	changed, err := change(&p)
	if err != nil || !changed {
		return s.profiles[agent], err
	}
	s.profiles[agent] = p
	return p, nil
}

func (s *shelf) MuteItems(_ context.Context, agent string, groups []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.profiles[agent]
	_, err := p.MuteItems(groups)
	s.profiles[agent] = p
	return err
}

func (s *shelf) RemoveProfile(_ context.Context, agent string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.profiles[agent]; !ok {
		return feed.ErrNotFound
	}
	delete(s.profiles, agent)
	return nil
}

func (s *shelf) Learn(_ context.Context, agent string, change func(*feed.Learning) bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, exists := s.profiles[agent]
	r := catalog.RecordOf(p)
	r.Learn(exists, change)
	if !r.Known() {
		delete(s.profiles, agent)
		return nil
	}
	p.Learned = r.Weights
	s.profiles[agent] = p
	return nil
}
