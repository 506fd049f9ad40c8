package engine

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/feed/terms"
	"github.com/freshet/freshet/recall/trending"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// fewFollowed is the minimum number of followees with which a suggestion can have evidence:
// [social.SuggestionEvidence] of them, which may be at most half.
const fewFollowed = 2 * social.SuggestionEvidence

// SuggestStores are the stores that suggestions are made from. All are required.
type SuggestStores struct {
	Posts interface {
		social.Follows
		social.Suggestions
	}
	Queue    jobs.Queue
	Trending trending.Sets
	Profiles catalog.Profiles
}

// Suggester suggests authors to follow. It is safe for concurrent use.
type Suggester struct {
	stores SuggestStores
	cfg    Config
}

// NewSuggester returns a Suggester over the stores.
func NewSuggester(stores SuggestStores, cfg Config) *Suggester {
	return &Suggester{stores, cfg.withDefaults()}
}

// Suggest lists at most limit authors to follow: first those whom at least
// [social.SuggestionEvidence] of the agent's followees follow, as computed within the last day,
// then authors of trending posts in the agent's languages and interests. Left out are the agent
// and authors who are followed, muted, erased or on either side of a block. Errors wrap
// [feed.ErrBadLimit], [feed.ErrBadID], or a store's ErrUnavailable.
func (s *Suggester) Suggest(ctx context.Context, agent string, limit int) ([]api.Suggestion, error) {
	if err := feed.CheckLimit(limit, social.MaxSuggestions); err != nil {
		return nil, err
	}
	profile, err := s.stores.Profiles.Profile(ctx, agent)
	if err != nil && !errors.Is(err, feed.ErrNotFound) {
		return nil, err
	}
	kept, at, err := s.stores.Posts.Suggested(ctx, agent)
	if err != nil {
		return nil, err
	}
	now := s.cfg.Clock()
	if now.Sub(at).Abs() >= social.SuggestionsLive {
		if err := s.renew(ctx, agent); err != nil {
			return nil, err
		}
	}
	list := make([]api.Suggestion, len(kept), len(kept)+social.MaxSuggestions)
	for i, k := range kept {
		list[i] = api.Suggestion{Author: k.Author, Reason: api.FollowedBy, Count: k.Count}
	}
	refused := profile.Refusals()
	for _, author := range s.popular(profile, refused, 2*limit) {
		if !slices.ContainsFunc(kept, func(k social.Suggestion) bool { return k.Author == author }) {
			list = append(list, api.Suggestion{Author: author, Reason: api.Popular})
		}
	}
	since := now.Add(-social.SuggestionsLive)
	if len(kept) > 0 && at.Before(since) {
		since = at
	}
	return s.allowed(ctx, agent, list, refused, limit, since)
}

// allowed returns the first limit authors of a list that may be suggested now.
func (s *Suggester) allowed(ctx context.Context, agent string, list []api.Suggestion, refused *feed.Refusals, limit int, since time.Time) ([]api.Suggestion, error) {
	ids := each(list, func(a api.Suggestion) string { return a.Author })
	not, err := s.stores.Posts.Unsuggestable(ctx, agent, ids, 0, since)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(a api.Suggestion) bool {
		return a.Author == agent || refused.Author(a.Author) || slices.Contains(not, a.Author)
	})
	return list[:min(len(list), limit)], nil
}

// renew queues the job that recomputes suggestions; if that fails, the stored ones suffice.
func (s *Suggester) renew(ctx context.Context, agent string) error {
	some, err := s.stores.Posts.Following(ctx, agent, "", "", fewFollowed+1) // one may be [social.Server]
	if err != nil {
		return err
	}
	if some = slices.DeleteFunc(some, func(id string) bool { return id == social.Server }); len(some) < fewFollowed {
		return nil
	}
	if err := s.stores.Queue.Mark(ctx, jobs.Dirty{Kind: jobs.Suggest, Key: agent, Priority: jobs.PriorityUpkeep, Lazy: true}); err != nil {
		s.cfg.Log.DebugContext(ctx, "could not queue the renewal of suggestions", slog.Any("error", err))
	}
	return nil
}

// popular lists at most most authors of trending posts that are not refused, the highest trend
// first. For a profile with interests, a post must have the tag of one.
func (s *Suggester) popular(p feed.Profile, refused *feed.Refusals, most int) (authors []string) {
	set, _ := s.stores.Trending.Set()
	if set == nil {
		return nil
	}
	interests := map[string]bool{}
	for tag, weight := range p.Interests {
		if weight > 0 {
			interests[terms.Fold(tag)] = true
		}
	}
	seen := map[string]bool{}
	for i := range set.Entries {
		e := &set.Entries[i]
		it := e.Item()
		interesting := len(interests) == 0 || slices.ContainsFunc(e.Tags, func(tag string) bool { return interests[terms.Fold(tag)] })
		if !feed.IsPost(e.ID) || e.Author == "" || seen[e.Author] || !interesting || refused.Item(&it) {
			continue
		}
		seen[e.Author] = true
		if authors = append(authors, e.Author); len(authors) == most {
			break
		}
	}
	return authors
}
