package fanout

import (
	"cmp"
	"context"
	"crypto/sha256"
	"slices"
	"time"

	"github.com/freshet/freshet/social"
)

const (
	// sampled is how many followees of an agent are read, and ofEach how many follows of each:
	// 10,000 rows per agent and day.
	sampled, ofEach = 50, 200
	// proposed limits the authors with enough evidence that are checked.
	proposed = 3 * social.MaxSuggestions
)

// suggest stores an agent's suggestions: authors whom several of its followees follow. They must
// not reveal which followees do; see evidence.
func (f *Fanout) suggest(ctx context.Context, agent string) error {
	at := f.d.Clock()
	if _, last, err := f.d.Store.Suggested(ctx, agent); err != nil || !last.IsZero() && at.Sub(last).Abs() < social.SuggestionsLive {
		return err
	}
	followed, err := f.followed(ctx, agent)
	if err != nil {
		return err
	}
	sample, start := sampleOf(agent, followed), ""
	if len(sample) > 0 {
		start = sample[0]
	}
	counts, counted := map[string]int{}, 0
	for _, followee := range sample {
		authors, err := f.someFollowed(ctx, followee, start)
		if err != nil {
			return err
		}
		if len(authors) > 0 {
			counted++
		}
		for _, author := range authors {
			counts[author]++
		}
	}
	list, err := f.suggestable(ctx, agent, evidence(counts, counted), at)
	if err != nil {
		return err
	}
	return f.d.Store.KeepSuggested(ctx, agent, list, at)
}

// followed lists the agent's followees without [social.Server].
func (f *Fanout) followed(ctx context.Context, agent string) (all []string, err error) {
	for after := ""; ; after = all[len(all)-1] {
		some, err := f.d.Store.Following(ctx, agent, "", after, page)
		if all = append(all, some...); err != nil || len(some) < page {
			return slices.DeleteFunc(all, func(id string) bool { return id == social.Server }), err
		}
	}
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

// sampleOf returns a sample of followees. It is always the same, so repeated requests reveal no more.
func sampleOf(agent string, followed []string) []string {
	rank := make(map[string][sha256.Size]byte, len(followed))
	for _, id := range followed {
		rank[id] = sha256.Sum256([]byte(agent + "/" + id))
	}
	slices.SortFunc(followed, func(a, b string) int {
		x, y := rank[a], rank[b]
		return slices.Compare(x[:], y[:])
	})
	return followed[:min(len(followed), sampled)]
}

// evidence returns the authors whom enough of the counted followees follow, the most followed
// first. It omits authors whom more than half of them follow: an agent who follows three people
// and sees "3" would know that each of them does. The counts are rounded down.
func evidence(counts map[string]int, counted int) (list []social.Suggestion) {
	for author, n := range counts {
		if n >= social.SuggestionEvidence && 2*n <= counted && author != social.Server {
			list = append(list, social.Suggestion{Author: author, Count: rounded(n)})
		}
	}
	// By the rounded counts: the order must not reveal the exact ones.
	slices.SortFunc(list, func(a, b social.Suggestion) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Author, b.Author))
	})
	return list[:min(len(list), proposed)]
}

// steps are the counts that are shown; each is at most half of sampled.
var steps = []int{20, 10, 5, social.SuggestionEvidence}

// rounded rounds down a count of at least [social.SuggestionEvidence].
func rounded(n int) int {
	return steps[slices.IndexFunc(steps, func(step int) bool { return n >= step })]
}

// suggestable removes authors who may not be suggested to the agent, and those beyond the limit.
func (f *Fanout) suggestable(ctx context.Context, agent string, list []social.Suggestion, at time.Time) ([]social.Suggestion, error) {
	ids := make([]string, len(list))
	for i, s := range list {
		ids[i] = s.Author
	}
	not, err := f.d.Store.Unsuggestable(ctx, agent, ids, social.SuggestionFollowers, at)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(s social.Suggestion) bool { return s.Author == agent || slices.Contains(not, s.Author) })
	return list[:min(len(list), social.MaxSuggestions)], nil
}
