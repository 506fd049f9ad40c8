package engine

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/feed/terms"
	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/recall/trending"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// windowOfNew is how many of the newest authors are ordered by the reader's interests.
const windowOfNew = social.MaxSuggestions

// SuggestStores are the stores that suggestions are made from. All are required.
type SuggestStores struct {
	Posts interface {
		social.Follows
		social.Suggestions
		social.Authors
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
// [social.SuggestionEvidence] of the agent's friends follow, as computed within the last day, then
// authors of trending posts, then the newest authors of public posts. The agent's interests order
// both of these. Left out, before the list is cut to limit, are the agent and authors who are
// followed, muted, erased or on either side of a block. So a list is shorter than limit only if
// there are no more authors with public posts. Errors wrap [feed.ErrBadLimit], [feed.ErrBadID], or
// a store's ErrUnavailable.
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
	since := now
	if len(kept) > 0 && at.Before(now) {
		since = at
	}
	since = since.Add(-social.SuggestionsLive) // the clocks of servers differ, by much less
	r := suggestionReader{agent: agent, profile: profile, refused: profile.Refusals(), interests: foldedInterests(profile)}
	list := make([]api.Suggestion, len(kept), len(kept)+social.MaxSuggestions)
	for i, k := range kept {
		list[i] = api.Suggestion{Author: k.Author, Reason: api.FollowedBy, Count: k.Count}
	}
	list, err = s.allowed(ctx, &r, append(list, s.popular(&r, kept)...), since)
	if err != nil {
		return nil, err
	}
	if len(list) < limit {
		added, err := s.newest(ctx, &r, list)
		if err != nil {
			return nil, err
		}
		list = append(list, added...)
	}
	list = list[:min(len(list), limit)]
	cards, err := s.stores.Posts.AgentCards(ctx, agent, authorsOf(list))
	for i, card := range cards {
		list[i].Card = card
	}
	return list, err
}

// suggestionReader is the agent to whom authors are suggested.
type suggestionReader struct {
	agent     string
	profile   feed.Profile
	refused   *feed.Refusals
	interests map[string]bool // tags, folded
}

// foldedInterests returns the tags that interest the reader.
func foldedInterests(p feed.Profile) map[string]bool {
	interests := map[string]bool{}
	for tag, weight := range p.Interests {
		if weight > 0 {
			interests[terms.Fold(tag)] = true
		}
	}
	return interests
}

// interested reports whether one of the tags is an interest.
func (r *suggestionReader) interested(tags []string) bool {
	return slices.ContainsFunc(tags, func(tag string) bool { return r.interests[terms.Fold(tag)] })
}

// allowed returns the authors of a list who may be suggested now.
func (s *Suggester) allowed(ctx context.Context, r *suggestionReader, list []api.Suggestion, since time.Time) ([]api.Suggestion, error) {
	not, err := s.stores.Posts.Unsuggestable(ctx, r.agent, authorsOf(list), since)
	if err != nil {
		return nil, err
	}
	left := make(map[string]bool, len(not))
	for _, author := range not {
		left[author] = true
	}
	return slices.DeleteFunc(list, func(a api.Suggestion) bool {
		return a.Author == r.agent || r.refused.Author(a.Author) || left[a.Author]
	}), nil
}

func authorsOf(list []api.Suggestion) []string {
	return convert.Each(list, func(a api.Suggestion) string { return a.Author })
}

// renew queues the job that recomputes suggestions; if that fails, the stored ones suffice.
func (s *Suggester) renew(ctx context.Context, agent string) error {
	some, err := s.stores.Posts.Following(ctx, agent, "", "", social.SuggestionEvidence+1) // one may be [social.Server]
	if err != nil {
		return err
	}
	some = slices.DeleteFunc(some, func(id string) bool { return id == social.Server })
	if len(some) < social.SuggestionEvidence {
		return nil
	}
	if err := s.stores.Queue.Enqueue(ctx, jobs.Spec{Kind: jobs.Suggest, Key: agent, Priority: jobs.PriorityUpkeep, Lazy: true}); err != nil {
		s.cfg.Log.DebugContext(ctx, "could not queue the renewal of suggestions", slog.Any("error", err))
	}
	return nil
}

// popular lists the authors of trending posts that the reader does not refuse, except those of a
// list: first authors of posts with a tag that interests the reader, then others, each by trend.
func (s *Suggester) popular(r *suggestionReader, except []social.Suggestion) (list []api.Suggestion) {
	set, _ := s.stores.Trending.Set()
	if set == nil {
		return nil
	}
	seen := map[string]bool{"": true}
	for _, e := range except {
		seen[e.Author] = true
	}
	for _, interesting := range []bool{true, false} {
		for i := range set.Entries {
			e := &set.Entries[i]
			boring := interesting && !r.interested(e.Tags)
			if !feed.IsPost(e.ID) || seen[e.Author] || boring {
				continue
			}
			it := e.Item()
			if r.refused.Item(&it) {
				continue
			}
			seen[e.Author] = true
			list = append(list, api.Suggestion{Author: e.Author, Reason: api.Popular})
		}
	}
	return list
}

// newest lists the newest authors who are not in a list: first those whose newest public post has a
// tag that interests the reader, last those whose post the reader refuses.
func (s *Suggester) newest(ctx context.Context, r *suggestionReader, except []api.Suggestion) ([]api.Suggestion, error) {
	found, err := s.stores.Posts.NewestAuthors(ctx, r.agent, append(authorsOf(except), r.profile.MutedAuthors...), windowOfNew)
	if err != nil {
		return nil, err
	}
	rank := func(p *social.Post) int {
		it := feed.Item{ID: p.ID, AuthorID: p.Author, Tags: p.AllTags()}
		switch {
		case r.refused.Item(&it):
			return 2
		case r.interested(it.Tags):
			return 0
		}
		return 1
	}
	slices.SortStableFunc(found, func(a, b social.NewAuthor) int { return cmp.Compare(rank(&a.Newest), rank(&b.Newest)) })
	return convert.Each(found, func(a social.NewAuthor) api.Suggestion { return api.Suggestion{Author: a.Author, Reason: api.New} }), nil
}
