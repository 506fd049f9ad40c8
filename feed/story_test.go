package feed_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"

	"github.com/freshet/freshet/feed"
)

func likeness(a, b string) float64 {
	x, y := feed.ReadStory(feed.Sketch(a)), feed.ReadStory(feed.Sketch(b))
	return x.Likeness(&y)
}

func TestLikeness(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want float64
	}{
		{"One two three", "one, TWO -- three!", 1},
		{"one two three", "one two three four", 0.75},
		{"one two three", "four five six", 0},
		{"one one two three", "three two one", 1},
		{"one two", "one two", 0}, // too short to compare
		{"", "", 0},
		{"Straße im Winter", "STRASSE IM WINTER", 0.5}, // lowercased, not case-folded
		{"天空和气球", "天空和气球", 1},
		{"天空和气球", "天空和大海", 2.0 / 6},
		{"C++ and C# and go", "c and go", 1},
		{"it's 3.14 now", "it s 3 14 now", 1},
		{"cr\u00e8me br\u00fbl\u00e9e today", "cre\u0300me bru\u0302le\u0301e today", 1}, // accents as separate characters, as some systems write them
		{"Ｎｅｗ ｐｈｏｎｅ ２０１６", "New phone 2016", 1},
		{"Acme™ opens a shop", "Acme opens a shop", 1},
	} {
		assert.InDelta(t, c.want, likeness(c.a, c.b), 1e-12, "%q and %q", c.a, c.b)
		assert.InDelta(t, c.want, likeness(c.b, c.a), 1e-12, "%q and %q", c.b, c.a)
	}
}

func TestSketchStable(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "016f4bdb5865e620", fmt.Sprintf("%x", feed.Sketch("Harbour closed: ferries wait")), "it is stored in indices")
	assert.LessOrEqual(t, len(feed.Sketch(strings.Repeat("a b c d ", 10_000))), 48)
	assert.Len(t, feed.Sketch("a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 a11 a12 a13 a14 a15 a16 a17 a18 a19 a20 a21 a22 a23 a24 a25 a26 a27"), 48)
	for _, bad := range []string{"\x00", strings.Repeat("ab", 25)} {
		assert.Equal(t, feed.Story{}, feed.ReadStory(bad))
	}
}

// Long titles are represented by a sample of their words, which estimates their similarity.
// AtLeast must agree with the estimate even when it skips the comparison.
func TestLikenessLongTitles(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	sum, n := 0.0, 0
	for range 2000 {
		words, shared, round := 3+r.IntN(60), 0, r.Uint32()
		var a, b strings.Builder
		for i := range words {
			if fmt.Fprintf(&a, "w%dx%d ", round, i); r.IntN(2) == 0 {
				fmt.Fprintf(&b, "w%dx%d ", round, i)
				shared++
			} else {
				fmt.Fprintf(&b, "v%dx%d ", round, i)
			}
		}
		exact, got := float64(shared)/float64(2*words-shared), likeness(a.String(), b.String())
		if words < 12 {
			require.InDelta(t, exact, got, 0.1, "%d words", words) // hashes may collide
		}
		sum, n = sum+got-exact, n+1
		x, y := feed.ReadStory(feed.Sketch(a.String())), feed.ReadStory(feed.Sketch(b.String()))
		for _, least := range []float64{0.1, 0.3, 0.5, 0.9, max(got, 0.01)} {
			require.Equal(t, got >= least, x.AtLeast(&y, least), "%v of %v", got, least)
		}
	}
	assert.InDelta(t, 0, sum/float64(n), 0.01, "it errs to neither side")
}
