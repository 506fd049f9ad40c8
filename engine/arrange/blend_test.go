package arrange

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
)

// queueOf makes n candidates of a source, best first.
func queueOf(source feed.Source, n int) []feed.Candidate {
	out := make([]feed.Candidate, n)
	for i := range out {
		id := fmt.Sprintf("%s_%d", source, i)
		out[i] = feed.Candidate{ID: id, Group: id, Source: source.String(), Score: float32(n-i) / float32(n)}
	}
	return out
}

func blended(t *testing.T, pattern string, by feed.Diversity, size, most int, from []feed.Candidate) []feed.Ref {
	t.Helper()
	p, err := feed.ParsePattern(pattern)
	require.NoError(t, err)
	var b Builder
	return b.Blend(from, p, by, size, most)
}

func letters(refs []feed.Ref) string {
	b := make([]byte, len(refs))
	for i, r := range refs {
		b[i] = byte(r.Source)
	}
	return string(b)
}

func TestBlendPattern(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		pattern    string
		f, t, d, p int
		most       int
		want       string
	}{
		"70/25/5":                     {feed.DefaultPattern, 50, 50, 50, 50, 20, "ffftfffdpfffftfffdtf"},
		"nothing is promoted":         {"CPT", 9, 9, 9, 0, 9, "fttftdftt"},
		"who follows nobody":          {"CCT", 0, 9, 9, 0, 9, "ddtdddddt"},
		"nothing trends":              {"CT", 9, 0, 9, 0, 6, "fdfdfd"},
		"nothing is to be discovered": {"CT", 9, 9, 0, 0, 6, "ftftft"},
		"only what is promoted":       {"CPT", 0, 0, 0, 9, 9, ""},
		"all run out":                 {"CTP", 1, 1, 1, 1, 9, "ftpd"},
		"an odd number of turns":      {"T", 9, 9, 9, 9, 6, "tdtdtd"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from := slices.Concat(queueOf(feed.SourcePromoted, test.p), queueOf(feed.SourceFollowing, test.f), queueOf(feed.SourceTrending, test.t), queueOf(feed.SourceDiscovery, test.d))
			got := letters(blended(t, test.pattern, feed.Diversity{}, 20, test.most, from))
			assert.Equal(t, test.want, got)
		})
	}
}

// TestPromotedPositions checks that by default promoted items have positions 9, 29 and 49 and no
// others.
func TestPromotedPositions(t *testing.T) {
	t.Parallel()
	from := slices.Concat(queueOf(feed.SourcePromoted, 50), queueOf(feed.SourceFollowing, 90), queueOf(feed.SourceTrending, 90), queueOf(feed.SourceDiscovery, 90))
	var at []int
	for i, ref := range blended(t, feed.DefaultPattern, feed.Diversity{}, 20, 60, from) {
		if ref.Source == feed.SourcePromoted {
			at = append(at, i+1)
		}
	}
	assert.Equal(t, []int{9, 29, 49}, at)
}

// TestBlendAnySources blends sources of any length by any pattern. The source that the pattern
// names for a position fills it, or if that is exhausted the first of its substitutes that is not.
// Each source is ordered best first, except promoted, which retains its drawn order. No item is
// lost or repeated.
func TestBlendAnySources(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		pattern := "C"
		for range rnd.IntN(12) {
			pattern += string("CTP "[rnd.IntN(4)])
		}
		p, err := feed.ParsePattern(pattern)
		require.NoError(t, err)
		left := map[feed.Source]int{}
		var from []feed.Candidate
		for _, s := range HomeSources {
			left[s] = rnd.IntN(30) * rnd.IntN(2)
			from = append(from, queueOf(s, left[s])...)
		}
		rnd.Shuffle(len(from), func(i, j int) { from[i], from[j] = from[j], from[i] })
		due := map[feed.Source][]string{}
		for _, s := range HomeSources {
			queue := queueOf(s, left[s])
			if s == feed.SourcePromoted {
				queue = slices.DeleteFunc(slices.Clone(from), func(c feed.Candidate) bool { return c.Source != s.String() })
			}
			for _, c := range queue {
				due[s] = append(due[s], c.ID)
			}
		}
		most := 1 + rnd.IntN(120)
		got := blended(t, pattern, feed.Diversity{}, 1+rnd.IntN(30), most, from)
		for i, ref := range got {
			want := feed.SourceScore
			for _, s := range p.At(i).HandOver() {
				if left[s] > 0 {
					want = s
					break
				}
			}
			require.Equal(t, want, ref.Source, "position %d by %q", i+1, pattern)
			require.Equal(t, due[ref.Source][0], ref.ID, "its next")
			due[ref.Source] = due[ref.Source][1:]
			left[ref.Source]--
		}
		others := left[feed.SourceFollowing] + left[feed.SourceTrending] + left[feed.SourceDiscovery]
		require.True(t, len(got) == most || others == 0, "%d of %d left", others, len(from))
	}
}

// TestBlendVariesAuthorsAndStories checks that authors take turns across all sources, and that
// no page has two items with the same story, whatever their sources.
func TestBlendVariesAuthorsAndStories(t *testing.T) {
	t.Parallel()
	from := slices.Concat(queueOf(feed.SourceFollowing, 6), queueOf(feed.SourceTrending, 4))
	for i := range from {
		from[i].Author = "ann"
	}
	from[2].Author, from[2].Score = "bob", 0.9 // the third item of following
	from[6].Story, from[0].Story = feed.Sketch("Rust is loved by all"), feed.Sketch("Rust is loved by all")
	got := blended(t, "CT", feed.Diversity{Author: feed.Spread{Decay: 0.1}, SameStory: 0.9}, 4, 10, from)
	assert.Equal(t, []string{"following_0", "trending_1", "following_2", "trending_2"}, feed.IDs(got[:4]))
	assert.Equal(t, "trending_0", got[9].ID, "its story was told, so it was set aside until nothing else was left")
}
