package app

import (
	"context"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/engine/offline"
	"github.com/freshet/freshet/feed"
)

// sampler draws agents, as [offline.Source] says.
type sampler interface {
	Agents(ctx context.Context, n int, seed int64) ([]string, error)
}

// offlineSource lets rankings be measured over the running system.
type offlineSource struct {
	*engine.Engine
	catalog.Reader
	sampler
}

var _ offline.Source = offlineSource{}

// Factors implements [offline.Source].
func (s offlineSource) Factors(ctx context.Context, q feed.Query, ids []string) ([]offline.Factors, error) {
	found, err := s.Engine.Factors(ctx, q, ids)
	if err != nil {
		return nil, err
	}
	out := make([]offline.Factors, len(found))
	for i, f := range found {
		out[i] = offline.Factors{
			Relevance: f.Relevance, Decay: f.Decay, Popularity: f.PopularityFactor,
			MatchedTags: listed(f.Tags), MatchedKeywords: listed(f.Keywords),
		}
	}
	return out, nil
}

// listed is an empty list for nil, as answers have it.
func listed(gains []feed.Gain) []feed.Gain { return append([]feed.Gain{}, gains...) }
