package offline

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

const alphabet = "abcdefghijklmnopqrstuvwxyz"

func letters(s string) []string { return strings.Split(s, "") }

// The lists of figure 5 of Webber, Moffat and Zobel, with the overlap at each
// depth as the figure has it.
func TestOverlapPaperExample(t *testing.T) {
	a, b := letters("abcdefg"), letters("zcavwxy")
	average := 0.0
	for i, want := range []struct{ overlap, average float64 }{
		{0, 0}, {0, 0}, {2.0 / 3, 0.222}, {2.0 / 4, 0.292}, {2.0 / 5, 0.313}, {2.0 / 6, 0.317}, {2.0 / 7, 0.312},
	} {
		got := Overlap(a[:i+1], b[:i+1])
		average += got
		assert.InDelta(t, want.overlap, got, 1e-12, "at depth %d", i+1)
		assert.InDelta(t, want.average, average/float64(i+1), 5e-4, "average to depth %d", i+1)
	}
}

func TestOverlap(t *testing.T) {
	for _, tt := range []struct {
		a, b          string
		overlap, news float64
	}{
		{"abcd", "dcba", 1, 0},
		{"abcd", "efgh", 0, 1},
		{"abcd", "abxy", 0.5, 0.5},
		{"abcd", "ab", 0.5, 0},
		{"ab", "abcd", 0.5, 0.5},
	} {
		assert.InDelta(t, tt.overlap, Overlap(letters(tt.a), letters(tt.b)), 1e-12, "%s %s", tt.a, tt.b)
		assert.InDelta(t, tt.news, NewShare(letters(tt.a), letters(tt.b)), 1e-12, "%s %s", tt.a, tt.b)
	}
	assert.Equal(t, 1.0, Overlap(nil, nil))
	assert.Equal(t, 0.0, Overlap(nil, letters("a")))
	assert.Equal(t, 0.0, NewShare(letters("a"), nil))
	assert.Equal(t, 1.0, NewShare(nil, letters("a")))
}

// The values are those that the authors' own program computes, in its precision, from the test
// data of the crate rbo (uneven_abc.json).
func TestRBOReferenceValues(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		p    float64
		want float64
	}{
		{alphabet, "drfuoxnpszeva", 0.1, 0.000246},
		{alphabet, "akdwcjomxrubqitenhspyl", 0.1, 0.948509},
		{alphabet, "afcmleivjhs", 0.1, 0.951493},
		{alphabet, "kapotqxc", 0.1, 0.048245},
		{alphabet, "av", 0.2, 0.9},
		{alphabet, "bncxagm", 0.2, 0.105466},
		{alphabet, "b", 0.2, 0.092574},
		{alphabet, "aptkn", 0.2, 0.892587},
		{alphabet, "afdqwtvehcpubinloygrs", 0.4, 0.782330},
		{alphabet, "ma", 0.4, 0.200001},
		{alphabet, "karfvodcjmwgzlypebunq", 0.9, 0.468431},
		{alphabet, "zhatsimjpnkvcfxwqgoeryubd", 0.9, 0.364444},
		{alphabet, "f", 0.9, 0.053090},
		{alphabet, "sozxjfdenvqkbgryapc", 0.9, 0.307626},
		{alphabet, "zclx", 0.9, 0.233312},
	} {
		assert.InDelta(t, tt.want, RBO(letters(tt.a), letters(tt.b), tt.p), 6e-7, "%s %s %v", tt.a, tt.b, tt.p)
		assert.InDelta(t, tt.want, RBO(letters(tt.b), letters(tt.a), tt.p), 6e-7, "%s %s %v", tt.b, tt.a, tt.p)
	}
}

func TestRBOKnownValues(t *testing.T) {
	// Two lists of two in opposite order: X(1) = 0, X(2) = 2, so
	// (1−p)/p · p² + p² = p.
	assert.InDelta(t, 0.9, RBO(letters("ab"), letters("ba"), 0.9), 1e-12)
	assert.Equal(t, 1.0, RBO(nil, nil, 0.9))
	assert.Equal(t, 0.0, RBO(nil, letters("a"), 0.9))
	assert.Equal(t, 0.0, RBO(letters("abc"), letters("xyz"), 0.9))
}

func TestKendallTau(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want float64
	}{
		{"abcd", "abcd", 1},
		{"abcd", "dcba", -1},
		{"abcd", "bacd", 2.0 / 3},     // one of six pairs is reversed: (5−1)/6
		{"axbyc", "abc", 1},           // items in only one list do not count
		{"abcxyz", "uvcab", -1.0 / 3}, // of the pairs ab, ac and bc two are reversed
	} {
		got, ok := KendallTau(letters(tt.a), letters(tt.b))
		assert.True(t, ok)
		assert.InDelta(t, tt.want, got, 1e-12, "%s %s", tt.a, tt.b)
	}
	for _, b := range []string{"xyz", "axy"} {
		_, ok := KendallTau(letters("abc"), letters(b))
		assert.False(t, ok, "%s has no two items of abc", b)
	}
}

func TestMedian(t *testing.T) {
	values := []float64{5, 1, 3}
	got, ok := Median(values)
	assert.True(t, ok)
	assert.Equal(t, 3.0, got)
	assert.Equal(t, []float64{5, 1, 3}, values, "the values are left in their order")
	got, _ = Median([]float64{4, 1, 3, 2})
	assert.Equal(t, 2.5, got)
	_, ok = Median(nil)
	assert.False(t, ok)
}

func TestTagCoverage(t *testing.T) {
	interests := map[string]float64{"go": 3, "databases": 1, "sport": 0, "law": 2}
	for _, tt := range []struct {
		tags [][]string
		want float64
	}{
		{nil, 0},
		{[][]string{{"sport", "music"}, nil}, 0},
		{[][]string{{"go"}, {"go", "sport"}, {"go"}}, 1.0 / 3},
		{[][]string{{"go", "law"}, {"databases"}}, 1},
	} {
		got, ok := TagCoverage(interests, tt.tags)
		assert.True(t, ok)
		assert.InDelta(t, tt.want, got, 1e-12, "%v", tt.tags)
	}
	for _, none := range []map[string]float64{nil, {"sport": 0}} {
		_, ok := TagCoverage(none, [][]string{{"go"}})
		assert.False(t, ok)
	}
}

// The properties hold for lists of any length and any overlap.
func TestListProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	draw := func() []string {
		all := letters(alphabet)
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		return all[:r.IntN(len(all)+1)]
	}
	for range 2000 {
		a, b := draw(), draw()
		p := 0.05 + 0.9*r.Float64()
		assert.Equal(t, 1.0, Overlap(a, a))
		assert.Equal(t, 1.0, RBO(a, a, p))
		assert.Equal(t, 0.0, NewShare(a, a))
		assert.Equal(t, Overlap(a, b), Overlap(b, a))
		assert.InDelta(t, RBO(a, b, p), RBO(b, a, p), 1e-12)
		for _, x := range []float64{Overlap(a, b), RBO(a, b, p), NewShare(a, b)} {
			assert.True(t, x >= 0 && x <= 1, "%v of %v and %v", x, a, b)
		}
		if len(a) == len(b) && len(a) > 0 {
			assert.InDelta(t, 1-Overlap(a, b), NewShare(a, b), 1e-12)
		}
		tau, ok := KendallTau(a, b)
		other, okToo := KendallTau(b, a)
		assert.Equal(t, ok, okToo)
		assert.Equal(t, common(a, b) >= 2, ok)
		assert.InDelta(t, tau, other, 1e-12)
		assert.True(t, tau >= -1 && tau <= 1)
		if self, ok := KendallTau(a, a); ok {
			assert.Equal(t, 1.0, self)
			back := slices.Clone(a)
			slices.Reverse(back)
			turned, _ := KendallTau(a, back)
			assert.Equal(t, -1.0, turned)
		}
	}
}

// Greater depth can only add to the value: the weights of the ranks sum to 1.
func TestRBOIsTopHeavy(t *testing.T) {
	base := letters("abcdefghij")
	last := 0.0
	for i := range len(base) - 1 { // swapping lower pairs has less effect
		swapped := slices.Clone(base)
		swapped[i], swapped[i+1] = swapped[i+1], swapped[i]
		got := RBO(base, swapped, 0.9)
		assert.Greater(t, got, last, "swapped at %d", i)
		last = got
	}
	assert.Less(t, last, 1.0)
}

func TestHitAndReciprocalRank(t *testing.T) {
	assert.Equal(t, []float64{1, 1, 0, 0, 0}, []float64{Hit(1, 10), Hit(10, 10), Hit(11, 10), Hit(0, 10), Hit(-1, 10)})
	// Wikipedia's example of "Mean reciprocal rank": the answers to cat, torus and virus have the
	// ranks 3, 2 and 1; (1/3 + 1/2 + 1)/3 = 11/18.
	assert.InDelta(t, 11.0/18, (ReciprocalRank(3)+ReciprocalRank(2)+ReciprocalRank(1))/3, 1e-15)
	assert.Equal(t, 0.0, ReciprocalRank(0))
}

func TestNDCG(t *testing.T) {
	// The terms 1/log₂(i+1) are those of the table in Wikipedia's "Discounted
	// cumulative gain": 1, 0.6309, 0.5, 0.4307, 0.3869, 0.3562.
	for i, want := range []float64{1, 0.63093, 0.5, 0.43068, 0.38685, 0.35621} {
		assert.InDelta(t, want, NDCG(i+1, 6), 5e-6, "one relevant item at %d", i+1)
	}
	assert.Equal(t, []float64{0, 0, 0}, []float64{NDCG(0, 5), NDCG(7, 5), NDCG(1, 0)})
	last := 2.0
	for rank := 1; rank <= 20; rank++ {
		got := NDCG(rank, 20)
		assert.Less(t, got, last)
		last = got
	}
}

// The quantiles of Student's t are those of any published table.
func TestMarginUsesStudentsT(t *testing.T) {
	for nu, want := range map[float64]float64{4: 2.776, 5: 2.571, 9: 2.262, 29: 2.045, 120: 1.980} {
		assert.InDelta(t, want, t95(nu), 2e-3, "%v degrees of freedom", nu)
	}
}

func TestPaired(t *testing.T) {
	var p Paired
	assert.Equal(t, 0.0, p.Mean())
	// With one click each, the margin is that of the plain t-test, t·s/√n.
	values := []float64{1, 2, 3, 4, 5}
	for i, v := range values {
		_, ok := p.Margin()
		assert.False(t, ok, "%d agents are too few", i)
		p.Add(string(rune('a'+i)), v)
	}
	margin, ok := p.Margin()
	assert.True(t, ok)
	assert.Equal(t, 3.0, p.Mean())
	assert.InDelta(t, 2.776*math.Sqrt(2.5)/math.Sqrt(5), margin, 2e-3)

	// Repeating the same clicks adds no information.
	for range 9 {
		for i, v := range values {
			p.Add(string(rune('a'+i)), v)
		}
	}
	again, _ := p.Margin()
	assert.Equal(t, 3.0, p.Mean())
	assert.InDelta(t, margin, again, 1e-12)
}

func TestSummaries(t *testing.T) {
	// 2, 4, 4, 4, 5, 5, 7, 9: Wikipedia's example of a standard deviation, with a sum of squares of
	// 32.
	got := spreadOf([]float64{9, 2, 4, 5, 4, 7, 4, 5})
	assert.Equal(t, Spread{N: 8, Mean: 5, SD: math.Sqrt(32.0 / 7), Min: 2, Median: 4.5, Max: 9}, got)
	assert.Equal(t, Spread{N: 1, Mean: 3, Min: 3, Median: 3, Max: 3}, spreadOf([]float64{3}))
	assert.Equal(t, Spread{}, spreadOf(nil))

	tau := 0.5
	agents := []AgentFigures{
		{Agent: "u_1", ItemsA: 2, ItemsB: 2, Figures: Figures{Overlap: 0.5, KendallTau: &tau}},
		{Agent: "u_2", Figures: Figures{Overlap: 1}},
		{Agent: "u_3", ItemsB: 1, Figures: Figures{Overlap: 0}},
	}
	sum := Summarize(agents)
	assert.Equal(t, 3, sum.Agents)
	assert.Equal(t, 1, sum.Empty)
	assert.Equal(t, 2, sum.Overlap.N)
	assert.Equal(t, 0.25, sum.Overlap.Mean, "an agent with nothing to compare does not count as agreement")
	assert.Equal(t, 1, sum.KendallTau.N)
	slices.Reverse(agents)
	assert.Equal(t, sum, Summarize(agents))
}
