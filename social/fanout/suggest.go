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
	// sampled is how many of those whom an agent follows are asked whom they follow, and
	// ofEach how many of these are counted: 10,000 rows for an agent and day.
	sampled, ofEach = 50, 200
	// proposed is how many authors are looked at whom enough of them follow.
	proposed = 3 * social.MaxSuggestions
	// followPage is how many follows are read at once.
	followPage = 1000
)

// suggest keeps whom an agent may want to follow: those whom several whom they follow do.
// Whom these are must not be told by it, see evidence.
func (f *Fanout) suggest(ctx context.Context, agent string) error {
	at := f.d.Clock()
	if _, last, err := f.d.Store.Suggested(ctx, agent); err != nil || !last.IsZero() && at.Sub(last).Abs() < social.SuggestionsLive {
		return err
	}
	followed, err := f.followed(ctx, agent)
	if err != nil {
		return err
	}
	sample := sampleOf(agent, followed)
	counts, counted := map[string]int{}, 0
	for _, followee := range sample {
		authors, err := f.someFollowed(ctx, followee, startOf(sample))
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

// followed are all whom the agent follows but [social.Server].
func (f *Fanout) followed(ctx context.Context, agent string) (all []string, err error) {
	for after := ""; ; after = all[len(all)-1] {
		page, err := f.d.Store.Following(ctx, agent, after, followPage)
		if all = append(all, page...); err != nil || len(page) < followPage {
			return slices.DeleteFunc(all, func(id string) bool { return id == social.Server }), err
		}
	}
}

// someFollowed are at most ofEach whom one follows, by id from a start on and around. For
// all of a sample it is the same start, so that they are compared in the same part.
func (f *Fanout) someFollowed(ctx context.Context, agent, start string) ([]string, error) {
	list, err := f.d.Store.Following(ctx, agent, start, ofEach)
	if err != nil || len(list) == ofEach || start == "" {
		return list, err
	}
	first, err := f.d.Store.Following(ctx, agent, "", ofEach-len(list))
	for _, author := range first {
		if author > start {
			break
		}
		list = append(list, author)
	}
	return list, err
}

// sampleOf chooses of whom an agent follows, the same each time: who asks often learns no more.
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

// startOf is where the follows of a sample begin to be read: somewhere among ids as there are.
func startOf(sample []string) string {
	if len(sample) == 0 {
		return ""
	}
	return sample[0]
}

// evidence returns the authors whom enough of those counted follow, the most followed first. At
// most half of these may follow one: who follows three people and is told "3" knows what
// each of the three does. The counts are rounded down.
func evidence(counts map[string]int, counted int) (list []social.Suggestion) {
	for author, n := range counts {
		if n >= social.SuggestionEvidence && 2*n <= counted && author != social.Server {
			list = append(list, social.Suggestion{Author: author, Count: rounded(n)})
		}
	}
	// By the rounded counts: the order must not tell the exact ones.
	slices.SortFunc(list, func(a, b social.Suggestion) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Author, b.Author))
	})
	return list[:min(len(list), proposed)]
}

// rounded rounds a count down.
func rounded(n int) int {
	to := social.SuggestionEvidence
	for _, step := range []int{5, 10, 20} { // at most half of what is sampled
		if n >= step {
			to = step
		}
	}
	return to
}

// suggestable leaves out of a list whom the agent cannot be told of, and what is too much.
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
