package prove

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if !child() {
		goleak.VerifyTestMain(m)
	}
}

// short returns the options of a run of seconds, with every fault.
func short() Options {
	o := Defaults()
	o.For, o.Rate, o.Agents, o.Follows, o.Posts = 2*time.Second, 500, 12, 4, 200
	o.Kill, o.Redis, o.Ahead, o.Lost, o.Hangs, o.Settle = 700*time.Millisecond, 0, time.Minute, 0.1, 0.1, time.Second
	return o
}

// TestFlawsFound judges a feed that keeps all promises, and feeds that do not: each flaw is found,
// named for what it is, with the calls that led to it; and nothing else is.
func TestFlawsFound(t *testing.T) {
	t.Parallel()
	for flaw, kind := range map[string]string{
		"": "", "repeats": "repeated", "forgets at a restart": "repeated",
		"leaks": "leaked", "shows the deleted": "leaked",
		"loses at a restart": "lost", "forgets request ids": "lost",
	} {
		t.Run(flaw, func(t *testing.T) {
			t.Parallel()
			c, err := Run(t.Context(), short(), newMemory(flaw), Place{}, Services{}, io.Discard)
			require.NoError(t, err)
			counts := map[string]int64{"repeated": c.Repeated, "lost": c.Lost, "leaked": c.Leaked}
			for name, n := range counts {
				if name == kind {
					assert.Positive(t, n, name)
				} else {
					assert.Zero(t, n, "%s: %+v", name, c.Findings)
				}
			}
			assert.Equal(t, kind == "", c.Kept())
			assert.Positive(t, c.Pages)
			assert.Zero(t, c.Errors, "%v", c.ErrorTexts)
			for _, f := range c.Findings {
				assert.NotEmpty(t, f.Calls, "%+v", f)
			}
			if kind == "lost" {
				assert.Contains(t, strings.Join(c.Findings[0].Calls, "\n"), "publish "+c.Findings[0].Entry)
			}
		})
	}
}

// TestMarkedApart judges a feed whose answers say when they may repeat and leak: both are counted apart.
func TestMarkedApart(t *testing.T) {
	t.Parallel()
	o := short()
	o.Lost, o.Hangs = 0, 0 // the retry of a degraded page gets a page that does not say so
	c, err := Run(t.Context(), o, newMemory("degraded"), Place{}, Services{}, io.Discard)
	require.NoError(t, err)
	assert.True(t, c.Kept(), "%+v", c.Findings)
	assert.Positive(t, c.RepeatedMarked)
	assert.Positive(t, c.LeakedMarked)
}

// TestEmptyFound judges feeds that end early: those that say so are counted apart.
func TestEmptyFound(t *testing.T) {
	t.Parallel()
	for flaw, says := range map[string]bool{"ends early": false, "ends early and says so": true} {
		t.Run(flaw, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				o := short()
				o.For, o.Rate, o.Agents, o.Posts, o.Lost, o.Hangs = 3*settled, 20, 4, 1000, 0, 0
				o.Follows, o.Limit = 2, 5
				a := newMemory(flaw)
				a.OwesPublic = true
				c, err := Run(t.Context(), o, a, Place{}, Services{}, io.Discard)
				require.NoError(t, err)
				assert.True(t, c.Kept(), "%+v", c.Findings)
				counts := map[bool]int64{true: c.EmptyMarked, false: c.Empty}
				assert.Positive(t, counts[says])
				assert.Zero(t, counts[!says])
			})
		})
	}
}

// TestFaultAwaited begins a fault's time when the service can bear it, not before.
func TestFaultAwaited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &run{start: time.Now(), out: io.Discard}
		wait := func(ctx context.Context) error { return pause(ctx, 20*time.Second) }
		require.NoError(t, r.disturb(t.Context(), Fault{Name: "kill", Await: wait, Do: func(ctx context.Context) error { return pause(ctx, time.Second) }}))
		assert.Equal(t, span{20 * time.Second, 21 * time.Second}, r.journal.lines[0].at)
		failed := Fault{Name: "kill", Await: func(context.Context) error { return errors.New("no replica") }, Do: func(context.Context) error { panic("not made") }}
		assert.EqualError(t, r.disturb(t.Context(), failed), "kill: no replica")
	})
}

// TestLaterAwaited repeats a call no sooner than its answer asks.
func TestLaterAwaited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &run{start: time.Now(), down: make([]atomic.Bool, 1)}
		var at []moment
		tries := r.persist(t.Context(), step{}, func(context.Context, int) error {
			at = append(at, r.now())
			return []error{errors.New("cut"), &Later{errors.New("503"), 3 * time.Second}, nil}[len(at)-1]
		})
		assert.Equal(t, []moment{0, between, between + 3*time.Second}, at)
		assert.EqualError(t, tries[1].err, "503")
	})
}

// TestFaultsApart lets a service be for a while after a fault that took longer than the pause.
func TestFaultsApart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &run{o: Options{For: time.Minute, Redis: 10 * time.Second}, start: time.Now(), out: io.Discard}
		r.services.Redis = []Fault{{Name: "slow", Do: func(ctx context.Context) error { return pause(ctx, 12*time.Second) }}}
		require.NoError(t, r.faults(t.Context(), 0))
		require.Len(t, r.journal.lines, 3)
		for n, begins := range []time.Duration{10, 27, 44} {
			assert.Equal(t, begins*time.Second, r.journal.lines[n].at.begin)
		}
	})
}

// TestPlanRepeats draws the same plan for a seed, and another for another.
func TestPlanRepeats(t *testing.T) {
	t.Parallel()
	o := short()
	first := plan(o)
	assert.Equal(t, first, plan(o))
	kinds := map[kind]int{}
	for _, s := range first {
		kinds[s.kind]++
	}
	assert.InDelta(t, 0.9, float64(kinds[read])/float64(len(first)), 0.05)
	for _, k := range []kind{publish, follow, unfollow, block, unblock, erase} {
		assert.Positive(t, kinds[k], k)
	}
	o.Seed++
	assert.NotEqual(t, first, plan(o))
}

// TestReportPrinted prints columns of all kinds, and writes JSON that can be read again.
func TestReportPrinted(t *testing.T) {
	t.Parallel()
	r := &Report{Machine: "two cores", Repeat: "freshet-bench prove --seed 7", Columns: []Column{
		{Adapter: "one", About: "a feed", Repeated: 3, ErrorTexts: map[string]int{"read: gone": 2}, Findings: []Finding{{Kind: "repeated", Text: "r was shown x", Calls: []string{"first", "second"}}}},
		{Adapter: "two", Skipped: "no binary"},
	}}
	var out strings.Builder
	require.NoError(t, r.Print(&out))
	assert.Regexp(t, `shown twice within seven days +3 +n/a\n`, out.String())
	for _, says := range []string{"two did not run: no binary", "2 × read: gone", "repeated: r was shown x", "      second", "--seed 7"} {
		assert.Contains(t, out.String(), says)
	}
	r.Columns[0].Samples = []Sample{{Seconds: 1, P99: 3, Resident: 20}, {Seconds: 2, P99: 4, Resident: 30}}
	r.Columns[0].About = "a <b>feed</b>"
	out.Reset()
	require.NoError(t, r.HTML(&out))
	assert.NoError(t, xml.Unmarshal([]byte(strings.Join(regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(out.String(), 1), "")), new(struct{})))
	assert.Contains(t, out.String(), "a &lt;b&gt;feed&lt;/b&gt;")
	assert.NotRegexp(t, `src=|href=|<script|@import|url\(`, out.String(), "the page needs nothing else")
	assert.Equal(t, 8, strings.Count(out.String(), "<svg"))

	out.Reset()
	require.NoError(t, r.Chart(&out))
	require.NoError(t, xml.Unmarshal([]byte(out.String()), new(struct{})))
	assert.Contains(t, out.String(), "one: 3 shown twice, 0 shown twice but says so, 0 lost, 0 to the wrong reader, 0 empty though more</desc>")
	assert.NotContains(t, out.String(), "two", "it did not run")
	owesNothing := Report{Columns: []Column{{Adapter: "three", OwesNothing: true}}}
	out.Reset()
	require.NoError(t, owesNothing.Chart(&out))
	assert.Contains(t, out.String(), "three: 0 shown twice, 0 shown twice but says so, n/a lost, 0 to the wrong reader, n/a empty though more</desc>")
	assert.NotContains(t, out.String(), "NaN")

	r.Options.Every = time.Minute
	r.Columns[0].Samples[1].Stored = Stored{KeysWithoutTTL: new(7), Tables: map[string]int64{"posts": 3 << 20}}
	out.Reset()
	require.NoError(t, r.Print(&out))
	assert.Regexp(t, `1 s +3\.0 +20 +- +0 +- +0\.0\n +2 s +4\.0 +30 +- +0 +7 +3\.0\n  posts: 3\.0 MiB at the end`, out.String())

	out.Reset()
	require.NoError(t, r.Write(&out))
	var again Report
	require.NoError(t, json.Unmarshal([]byte(out.String()), &again))
	assert.Equal(t, *r, again)
}

// TestNotionsLacking judges a feed without follows, blocks and posts for followers: no call needs them,
// and nothing is owed to anybody.
func TestNotionsLacking(t *testing.T) {
	t.Parallel()
	a := newMemory("loses at a restart")
	var poor *without
	start := a.Start
	a.Start = func(ctx context.Context, p Place) (System, error) {
		sys, err := start(ctx, p)
		poor = &without{System: sys}
		return poor, err
	}
	a.Lacks = []Notion{Follows, Blocks, Audiences}
	c, err := Run(t.Context(), short(), a, Place{}, Services{}, io.Discard)
	require.NoError(t, err)
	assert.Zero(t, poor.asked.Load())
	assert.True(t, c.Kept(), "%+v", c.Findings)
	assert.True(t, c.OwesNothing)
	assert.Positive(t, c.Entries)
	var out strings.Builder
	require.NoError(t, (&Report{Columns: []Column{c}}).Print(&out))
	assert.Regexp(t, `lost: never shown +n/a\n`, out.String())
	assert.Contains(t, out.String(), "It has no follows, no blocks, no posts for followers:")
}

// without counts the calls that need what it lacks.
type without struct {
	System
	asked atomic.Int64
}

func (w *without) Follow(context.Context, int, string, string, bool) error {
	w.asked.Add(1)
	return nil
}

func (w *without) Block(context.Context, int, string, string, bool) error {
	w.asked.Add(1)
	return nil
}

func (w *without) Publish(ctx context.Context, server int, p Post) error {
	if p.Followers {
		w.asked.Add(1)
	}
	return w.System.Publish(ctx, server, p)
}

// TestFaultsInTurn makes all faults, each in its turn, one at a time.
func TestFaultsInTurn(t *testing.T) {
	t.Parallel()
	o := short()
	o.For, o.Rate, o.Kill, o.Redis, o.Every = 2*time.Second, 50, 0, 150*time.Millisecond, 100*time.Millisecond
	var busy atomic.Int32
	fault := func(name string) Fault {
		return Fault{Name: name, Do: func(ctx context.Context) error {
			if busy.Add(1) > 1 {
				return errors.New("two faults at once")
			}
			defer busy.Add(-1)
			return pause(ctx, time.Millisecond)
		}}
	}
	s := Services{
		Redis: []Fault{fault("restart"), fault("failover")}, Other: []Fault{fault("cut"), fault("silence")},
		Look: func(context.Context) (Stored, error) { return Stored{KeysWithoutTTL: new(3)}, nil },
	}
	c, err := Run(t.Context(), o, newMemory(""), Place{}, s, io.Discard)
	require.NoError(t, err)
	made := strings.Join(c.FaultsMade, "\n")
	for _, name := range []string{"restart", "failover", "cut", "silence", "server 0, clock 1m0s ahead", "server 1, clock 0s ahead"} {
		assert.Contains(t, made, name)
	}
	assert.InDelta(t, strings.Count(made, "restart"), strings.Count(made, "failover"), 1)
	assert.True(t, c.Kept(), "%+v", c.Findings)
}
