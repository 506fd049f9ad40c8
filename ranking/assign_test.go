package ranking

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

var someRanking = feed.DefaultRanking()

// wants returns the variants listed in text as "name=share name=share …".
func wants(t testing.TB, text string) []feed.Variant {
	t.Helper()
	var list []feed.Variant
	for one := range strings.FieldsSeq(text) {
		name, share, _ := strings.Cut(one, "=")
		var s float64
		_, err := fmt.Sscan(share, &s)
		require.NoError(t, err)
		list = append(list, feed.Variant{Name: name, Share: s, Ranking: someRanking})
	}
	return list
}

// owners returns the variant of each bucket, "" for the control group, and checks the properties of
// every assignment.
func owners(t testing.TB, variants []feed.Variant) [feed.Buckets]string {
	t.Helper()
	live := feed.Live{Ranking: someRanking, Variants: variants}
	require.NoError(t, live.Validate(), "parts overlap or are out of order")
	var by [feed.Buckets]string
	for _, v := range variants {
		n, last := 0, -2
		for _, p := range v.Parts {
			require.Greater(t, p[0], last+1, "%s: neighbouring parts are merged", v.Name)
			last = p[1]
			for b := p[0]; b <= p[1]; b++ {
				by[b] = v.Name
				n++
			}
		}
		require.Equal(t, v.Share, float64(n)/feed.Buckets, "%s: the share is what the parts hold", v.Name)
	}
	return by
}

func assign(t testing.TB, current, wanted []feed.Variant) []feed.Variant {
	t.Helper()
	got, err := Assign(current, wanted)
	require.NoError(t, err)
	require.Len(t, got, len(wanted))
	for i, w := range wanted {
		require.Equal(t, w.Name, got[i].Name)
		require.Equal(t, w.Ranking, got[i].Ranking)
		require.InDelta(t, w.Share, got[i].Share, 1.0/feed.Buckets, "share of %s", w.Name)
	}
	return got
}

// TestAssignInvariants changes shares at random many times, with fixed seeds, and checks each
// step against the previous one.
func TestAssignInvariants(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	names := []string{"a", "b", "slow", "half-life", "pop_02", "x9"}
	for seed := range uint64(25) {
		r := rand.New(rand.NewPCG(seed, 1))
		var current []feed.Variant
		before := owners(t, current)
		for range 25 {
			var wanted []feed.Variant
			left := 1.0
			for _, i := range r.Perm(len(names)) {
				if r.IntN(3) == 0 {
					continue
				}
				share := left * r.Float64()
				if share < 1.0/feed.Buckets || r.IntN(10) == 0 {
					share = 0
				}
				left -= share
				wanted = append(wanted, feed.Variant{Name: names[i], Share: share, Ranking: someRanking})
			}
			next := assign(t, current, wanted)
			after := owners(t, next)
			short := grown(current, next) > 1-sum(current)+1e-6
			for b := range feed.Buckets {
				if before[b] == after[b] {
					continue
				}
				lost, won := before[b] != "" && has(wanted, before[b]), after[b] != "" && has(current, after[b])
				switch {
				case before[b] != "" && after[b] != "" && !short:
					t.Fatalf("bucket %d went from %s to %s although the control group had enough", b, before[b], after[b])
				case lost && share(next, before[b]) >= share(current, before[b]):
					t.Fatalf("%s lost a bucket without shrinking", before[b])
				case won && share(next, after[b]) <= share(current, after[b]):
					t.Fatalf("%s won a bucket without growing", after[b])
				}
			}
			current, before = next, after
		}
	}
}

func sum(list []feed.Variant) (total float64) {
	for _, v := range list {
		total += v.Share
	}
	return total
}

// grown returns the total growth of the variants that grow.
func grown(from, to []feed.Variant) (total float64) {
	for _, v := range to {
		total += max(0, v.Share-share(from, v.Name))
	}
	return total
}

func has(list []feed.Variant, name string) bool {
	l := feed.Live{Variants: list}
	_, ok := l.Variant(name)
	return ok
}

func share(list []feed.Variant, name string) float64 {
	l := feed.Live{Variants: list}
	v, _ := l.Variant(name)
	return v.Share
}

func TestAssignGrowAndShrink(t *testing.T) {
	t.Parallel()
	ten := assign(t, nil, wants(t, "slow=0.1"))
	fifty := assign(t, ten, wants(t, "slow=0.5"))
	back := assign(t, fifty, wants(t, "slow=0.1"))
	require.Equal(t, ten, back, "what was taken last is given back first")
	require.Equal(t, ten, assign(t, assign(t, ten, nil), wants(t, "slow=0.1")), "an experiment that comes back gets its agents again")

	two := assign(t, ten, wants(t, "slow=0.1 fast=0.9"))
	require.Equal(t, ten[0], two[0])
	_, err := Assign(two, wants(t, "slow=0.2 fast=0.9"))
	require.ErrorIs(t, err, feed.ErrInvalid)
	require.ErrorContains(t, err, "must be at most 1, not 1.1")
}

func TestAssignSuccessiveExperimentsMix(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	total := 0
	const pairs = 200
	for i := range pairs {
		first := owners(t, assign(t, nil, wants(t, fmt.Sprintf("first-%d=0.2", i))))
		second := owners(t, assign(t, nil, wants(t, fmt.Sprintf("second-%d=0.2", i))))
		both := 0
		for b := range feed.Buckets {
			if first[b] != "" && second[b] != "" {
				both++
			}
		}
		require.Less(t, both, feed.Buckets/10, "pair %d: half of the agents of one are those of the other", i)
		total += both
	}
	// Two independent fifths share a twenty-fifth of all agents.
	require.InDelta(t, 0.04, float64(total)/pairs/feed.Buckets, 0.005)
}

func TestAssignExactShares(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"a=0.0001", "a=0.29 b=0.57 c=0.14", "a=0.1 b=0.2 c=0.7", "a=0.3333333333 b=0.3333333333 c=0.3333333333", "a=1",
		"a=0.16666666666666666 b=0.16666666666666666 c=0.16666666666666666 d=0.16666666666666666 e=0.16666666666666666 f=0.16666666666666666",
	} {
		got := assign(t, nil, wants(t, text))
		owners(t, got)
		for i, w := range wants(t, text) {
			require.Equal(t, int(math.Floor(w.Share*feed.Buckets+1e-6)), int(math.Round(got[i].Share*feed.Buckets)), "%s of %s", w.Name, text)
		}
	}
}

func TestAssignEvenDistribution(t *testing.T) {
	t.Parallel()
	live := feed.Live{Ranking: someRanking, Variants: assign(t, nil, wants(t, "a=0.1 b=0.25"))}
	counts := map[string]int{}
	const agents = 100_000
	for i := range agents {
		name, _ := live.For(fmt.Sprintf("u_%d", i))
		counts[name]++
	}
	require.InDelta(t, 0.10, float64(counts["a"])/agents, 0.005)
	require.InDelta(t, 0.25, float64(counts["b"])/agents, 0.005)
	require.InDelta(t, 0.65, float64(counts[feed.Control])/agents, 0.005)
}

func TestForEqualsParts(t *testing.T) {
	t.Parallel()
	live := feed.Live{Ranking: someRanking, Variants: assign(t, nil, wants(t, "a=0.1 b=0.25 none=0 c=0.6"))}
	by := owners(t, live.Variants)
	for i := range 5000 {
		agent := fmt.Sprintf("agent-%d", i)
		want := by[feed.Bucket(agent)]
		if want == "" {
			want = feed.Control
		}
		got, _ := live.For(agent)
		require.Equal(t, want, got)
	}
}

func TestBucketStable(t *testing.T) {
	for agent, want := range map[string]int{"u_1": 7400, "u_2": 7973, "u_10086": 2813} {
		require.Equal(t, want, feed.Bucket(agent), agent)
	}
	long := strings.Repeat("x", feed.MaxAgentID)
	require.Equal(t, int(xxhash.Sum64String("variant:"+long)%feed.Buckets), feed.Bucket(long))
	live := feed.Live{Ranking: someRanking, Variants: assign(t, nil, wants(t, "a=0.1 b=0.25"))}
	require.Zero(t, testing.AllocsPerRun(100, func() { live.For(long) }), "a refresh pays for it")
}

func TestAssignRefuses(t *testing.T) {
	t.Parallel()
	bad := someRanking
	bad.Base = 0
	many := make([]feed.Variant, feed.MaxVariants+1)
	for name, c := range map[string]struct {
		wanted []feed.Variant
		says   string
	}{
		"no name":       {wants(t, "=0.1"), "1 to 32 characters"},
		"long name":     {wants(t, strings.Repeat("a", 33)+"=0.1"), "this one has 33"},
		"capitals":      {wants(t, "Slow=0.1"), `a-z 0-9 _ -, not "Slow"`},
		"control":       {wants(t, "control=0.1"), "cannot be named control"},
		"twice":         {wants(t, "a=0.1 a=0.2"), "two experiments are named a"},
		"negative":      {wants(t, "a=-0.1"), "share must be 0 to 1, not -0.1"},
		"more than all": {wants(t, "a=1.01"), "share must be 0 to 1"},
		"not a number":  {[]feed.Variant{{Name: "a", Share: math.NaN(), Ranking: someRanking}}, "share must be 0 to 1, not NaN"},
		"too little":    {wants(t, "a=0.00009"), "share must be at least 0.0001, or 0"},
		"sum":           {wants(t, "a=0.5 b=0.5001"), "must be at most 1, not 1.0001"},
		"bad ranking":   {[]feed.Variant{{Name: "a", Share: 0.1, Ranking: bad}}, "experiment a: bad ranking parameters: base must"},
		"too many":      {many, "at most 50"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Assign(nil, c.wanted)
			require.ErrorIs(t, err, feed.ErrInvalid)
			require.ErrorContains(t, err, c.says)
		})
	}
}

func TestLiveValidate(t *testing.T) {
	t.Parallel()
	good := feed.Live{Ranking: someRanking, Variants: assign(t, nil, wants(t, "a=0.1 b=0.2"))}
	require.NoError(t, good.Validate())
	text, err := json.Marshal(good)
	require.NoError(t, err)
	var read feed.Live
	require.NoError(t, json.Unmarshal(text, &read))
	require.Equal(t, good, read)

	with := func(parts ...feed.Part) feed.Live {
		return feed.Live{Ranking: someRanking, Variants: []feed.Variant{{Name: "a", Share: 0.1, Ranking: someRanking, Parts: parts}, good.Variants[1]}}
	}
	for name, live := range map[string]feed.Live{
		"overlap":      with(good.Variants[1].Parts[0]),
		"out of order": with(feed.Part{9, 9}, feed.Part{1, 1}),
		"backwards":    with(feed.Part{9, 1}),
		"beyond":       with(feed.Part{9999, feed.Buckets}),
		"before":       with(feed.Part{-1, 1}),
		"ranking":      {},
	} {
		t.Run(name, func(t *testing.T) { require.ErrorIs(t, live.Validate(), feed.ErrInvalid) })
	}
}

func BenchmarkFor(b *testing.B) {
	live := feed.Live{Ranking: someRanking, Variants: assign(b, nil, wants(b, "a=0.1 b=0.25 c=0.2"))}
	b.ReportAllocs()
	for b.Loop() {
		live.For("u_10086")
	}
}

func BenchmarkAssign(b *testing.B) {
	current := assign(b, nil, wants(b, "a=0.1 b=0.25 c=0.2"))
	for b.Loop() {
		assign(b, current, wants(b, "a=0.2 b=0.25 c=0.1"))
	}
}
