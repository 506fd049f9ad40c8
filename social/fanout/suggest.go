package fanout

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// sampled is how many friends of an agent are read, and ofEach how many follows of each: 10,000 rows
// per agent and day.
const sampled, ofEach = 50, 200

// suggest stores an agent's suggestions: authors whom several of its friends follow. It reads no
// follows but the agent's own and its friends': see [social.Suggestions.Friends].
func (f *Fanout) suggest(ctx context.Context, j jobs.Job) error {
	agent, at := j.Key, f.d.Clock()
	if _, last, err := f.d.Store.Suggested(ctx, agent); err != nil || !last.IsZero() && at.Sub(last).Abs() < social.SuggestionsLive {
		return err
	}
	friends, err := f.friends(ctx, agent)
	if err != nil {
		return err
	}
	var list []social.Suggestion
	if len(friends) >= social.SuggestionEvidence {
		counts, err := f.counted(ctx, sampleOf(agent, friends))
		if err != nil {
			return err
		}
		list, err = f.suggestable(ctx, agent, evidence(counts), at)
		if err != nil {
			return err
		}
	}
	return f.d.Store.KeepSuggested(ctx, agent, list, at)
}

// friends lists the agent's friends.
func (f *Fanout) friends(ctx context.Context, agent string) (all []string, err error) {
	for after := ""; ; after = all[len(all)-1] {
		some, err := f.d.Store.Friends(ctx, agent, after, page)
		all = append(all, some...)
		if err != nil || len(some) < page {
			return all, err
		}
	}
}

// counted returns how many of the friends follow each author.
func (f *Fanout) counted(ctx context.Context, friends []string) (map[string]int, error) {
	counts := map[string]int{}
	for _, friend := range friends {
		authors, err := f.someFollowed(ctx, friend, friends[0])
		if err != nil {
			return nil, err
		}
		for _, author := range authors {
			counts[author]++
		}
	}
	return counts, nil
}

// someFollowed lists at most ofEach follows of an agent, in the order of ids after start and then
// from the first id. So all agents of a sample are compared over the same range of ids.
func (f *Fanout) someFollowed(ctx context.Context, agent, start string) ([]string, error) {
	list, err := f.d.Store.Following(ctx, agent, "", start, ofEach)
	if err != nil || len(list) == ofEach || start == "" {
		return list, err
	}
	first, err := f.d.Store.Following(ctx, agent, "", "", ofEach-len(list))
	for _, author := range first {
		if author > start {
			break
		}
		list = append(list, author)
	}
	return list, err
}

// sampleOf returns a sample of friends. It is always the same, so repeated requests reveal no more.
func sampleOf(agent string, friends []string) []string {
	rank := make(map[string][sha256.Size]byte, len(friends))
	for _, id := range friends {
		rank[id] = sha256.Sum256([]byte(agent + "/" + id))
	}
	slices.SortFunc(friends, func(a, b string) int {
		x, y := rank[a], rank[b]
		return slices.Compare(x[:], y[:])
	})
	return friends[:min(len(friends), sampled)]
}

// evidence returns the authors whom enough friends follow, the most followed first. The counts are
// rounded down.
func evidence(counts map[string]int) (list []social.Suggestion) {
	for author, n := range counts {
		if n >= social.SuggestionEvidence && author != social.Server {
			list = append(list, social.Suggestion{Author: author, Count: rounded(n)})
		}
	}
	// By the rounded counts: the order must not reveal the exact ones.
	slices.SortFunc(list, func(a, b social.Suggestion) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Author, b.Author))
	})
	return list
}

// steps are the counts that are shown.
var steps = []int{20, 10, 5, social.SuggestionEvidence}

// rounded rounds down a count of at least [social.SuggestionEvidence].
func rounded(n int) int {
	return steps[slices.IndexFunc(steps, func(step int) bool { return n >= step })]
}

// suggestable removes authors who may not be suggested to the agent, then those beyond the limit.
func (f *Fanout) suggestable(ctx context.Context, agent string, list []social.Suggestion, at time.Time) ([]social.Suggestion, error) {
	ids := convert.Each(list, func(s social.Suggestion) string { return s.Author })
	not, err := f.d.Store.Unsuggestable(ctx, agent, ids, at)
	if err != nil {
		return nil, err
	}
	muted, err := f.muted(ctx, agent)
	if err != nil {
		return nil, err
	}
	left := setOf(agent, not, muted)
	list = slices.DeleteFunc(list, func(s social.Suggestion) bool { return left[s.Author] })
	return list[:min(len(list), social.MaxSuggestions)], nil
}

// muted returns the authors whom the agent mutes.
func (f *Fanout) muted(ctx context.Context, agent string) ([]string, error) {
	if f.d.Profiles == nil {
		return nil, nil
	}
	profile, err := f.d.Profiles.Profile(ctx, agent)
	if errors.Is(err, feed.ErrNotFound) {
		err = nil
	}
	return profile.MutedAuthors, err
}

// setOf returns the set of an id and of lists of ids.
func setOf(id string, lists ...[]string) map[string]bool {
	set := map[string]bool{id: true}
	for _, list := range lists {
		for _, id := range list {
			set[id] = true
		}
	}
	return set
}
