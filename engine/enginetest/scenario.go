// Package enginetest holds scenarios about readers, written in YAML, that hold for every engine,
// whatever its stores are.
package enginetest

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
)

//go:embed scenarios
var scenarios embed.FS

// System is an engine with the stores that a scenario needs.
type System struct {
	Engine  *engine.Engine
	Catalog catalog.Reader
	Dedup   dedup.Writer
	// Put stores items, and Remove deletes one. Recall reflects the change when they return.
	Put    func(t *testing.T, items ...feed.Item)
	Remove func(t *testing.T, id string)
	// Recorded waits until all delivered items are in a filter.
	Recorded func(t *testing.T)
}

// Config holds the settings of a scenario's system. Zero means the default.
type Config struct {
	N          int           `yaml:"n"`           // candidates of the first round
	Seen       bool          `yaml:"seen"`        // only items reported as seen are impressions
	PendingTTL time.Duration `yaml:"pending_ttl"` // how long delivered items are then filtered
}

// scenario is a sequence of steps by readers.
type scenario struct {
	At     time.Time      `yaml:"at"`
	Config Config         `yaml:"config"`
	Items  []scenarioItem `yaml:"items"`
	Steps  []scenarioStep `yaml:"steps"`
}

type scenarioItem struct {
	ID     string        `yaml:"id"`
	Group  string        `yaml:"group"`
	Age    time.Duration `yaml:"age"` // at the time of the step
	Tags   []string      `yaml:"tags"`
	Author string        `yaml:"author"`
	Lang   string        `yaml:"lang"`
	Title  string        `yaml:"title"`
}

// scenarioStep performs one action, chosen by the first field that is set.
type scenarioStep struct {
	Refresh  string        `yaml:"refresh"` // the agent
	LoadMore string        `yaml:"load_more"`
	Silent   string        `yaml:"silent"`
	Put      *scenarioItem `yaml:"put"`
	Delete   string        `yaml:"delete"`
	Advance  time.Duration `yaml:"advance"` // after everything delivered is recorded
	Profile  *struct {
		Agent     string             `yaml:"agent"`
		Interests map[string]float64 `yaml:"interests"`
		Keywords  []string           `yaml:"keywords"`
		Langs     []string           `yaml:"langs"`
		Authors   []string           `yaml:"muted_authors"`
		Tags      []string           `yaml:"muted_tags"`
		Words     []string           `yaml:"muted_words"`
		For       time.Duration      `yaml:"for"` // how long words are muted; 0 means without an end
	} `yaml:"profile"`
	Forget string `yaml:"forget"` // removes the agent's profile
	Seen   *struct {
		Agent string   `yaml:"agent"`
		IDs   []string `yaml:"ids"`
	} `yaml:"seen"`

	Limit     int      `yaml:"limit"` // default 20
	RequestID string   `yaml:"request_id"`
	Want      []string `yaml:"want"`
	HasMore   bool     `yaml:"has_more"`
	NewCount  int      `yaml:"new_count"`
}

// Run runs every scenario over a separate system, which open makes with the given clock.
func Run(t *testing.T, open func(*testing.T, Config, feed.Clock) System) {
	files, err := fs.Glob(scenarios, "scenarios/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(file, "scenarios/"), ".yaml")
		t.Run(name, func(t *testing.T) {
			data, err := scenarios.ReadFile(file)
			require.NoError(t, err)
			var sc scenario
			dec := yaml.NewDecoder(bytes.NewReader(data))
			dec.KnownFields(true)
			require.NoError(t, dec.Decode(&sc))
			sc.run(t, open)
		})
	}
}

func (sc scenario) run(t *testing.T, open func(*testing.T, Config, feed.Clock) System) {
	st := &story{seen: sc.Config.Seen}
	st.now.Store(&sc.At)
	st.System = open(t, sc.Config, st.clock)
	all := make([]feed.Item, len(sc.Items))
	for i, it := range sc.Items {
		all[i] = it.item(st.clock())
	}
	st.Put(t, all...)
	for i, step := range sc.Steps {
		if !step.run(t, st, fmt.Sprintf("step %d", i+1)) {
			t.FailNow() // later failures would only confuse
		}
	}
}

// story is a running scenario.
type story struct {
	System
	now       atomic.Pointer[time.Time]
	seen      bool
	confirmed []dedup.Impression // in a filter once everything is recorded
}

func (st *story) clock() time.Time { return *st.now.Load() }

// advance moves the clock forward, with the effects of time: it also settles recorded
// impressions, since the grace period has passed.
func (st *story) advance(t *testing.T, d time.Duration) {
	t.Helper()
	st.Recorded(t)
	require.NoError(t, st.Dedup.ClearPending(t.Context(), st.confirmed))
	st.confirmed = nil
	later := st.clock().Add(d)
	st.now.Store(&later)
}

// confirm notes impressions that will be in a filter.
func (st *story) confirm(t *testing.T, agent string, docs []feed.Doc) {
	t.Helper()
	for _, doc := range docs {
		if !doc.Missing() {
			it, err := doc.Item()
			require.NoError(t, err)
			st.confirmed = append(st.confirmed, dedup.Impression{Agent: agent, Group: it.Group()})
		}
	}
}

func (it scenarioItem) item(now time.Time) feed.Item {
	title := it.Title
	if title == "" {
		title = "About " + it.ID
	}
	return feed.Item{
		ID: it.ID, GroupID: it.Group, Title: title, Tags: it.Tags, AuthorID: it.Author, Lang: it.Lang,
		UpdateTime: now.Add(-it.Age).Unix(),
	}
}

func (s scenarioStep) run(t *testing.T, st *story, name string) bool {
	t.Helper()
	ctx := t.Context()
	switch {
	case s.Put != nil:
		st.Put(t, s.Put.item(st.clock()))
	case s.Delete != "":
		st.Remove(t, s.Delete)
	case s.Advance != 0:
		st.advance(t, s.Advance)
	case s.Profile != nil:
		p := s.Profile
		var words []feed.MutedWord
		for _, term := range p.Words {
			w := feed.MutedWord{Term: term}
			if p.For != 0 {
				w.Until = st.clock().Add(p.For)
			}
			words = append(words, w)
		}
		require.NoError(t, st.Engine.PutProfile(ctx, p.Agent, feed.Profile{
			Interests: p.Interests, Keywords: feed.Keywords(p.Keywords...), Langs: p.Langs, MutedAuthors: p.Authors, MutedTags: p.Tags, MutedWords: words,
		}), name)
	case s.Forget != "":
		require.NoError(t, st.Engine.RemoveProfile(ctx, s.Forget), name)
		_, err := st.Engine.Profile(ctx, s.Forget)
		require.ErrorIs(t, err, feed.ErrNotFound, name)
	case s.Seen != nil:
		require.NoError(t, st.Engine.Seen(ctx, s.Seen.Agent, s.Seen.IDs), name)
		docs, err := st.Catalog.Docs(ctx, s.Seen.IDs)
		require.NoError(t, err, name)
		st.confirm(t, s.Seen.Agent, docs)
	default:
		return s.feed(t, st, name)
	}
	return true
}

func (s scenarioStep) feed(t *testing.T, st *story, name string) bool {
	t.Helper()
	r := engine.Request{Action: engine.ActionRefresh, Limit: 20, RequestID: s.RequestID}
	if s.Limit > 0 {
		r.Limit = s.Limit
	}
	switch {
	case s.Refresh != "":
		r.Agent = s.Refresh
	case s.LoadMore != "":
		r.Agent, r.Action = s.LoadMore, engine.ActionLoadMore
	case s.Silent != "":
		r.Agent, r.Silent = s.Silent, true
	default:
		t.Fatalf("%s does nothing", name)
	}
	answer, err := st.Engine.Feed(t.Context(), r)
	require.NoError(t, err, name)
	if !st.seen && !r.Silent {
		st.confirm(t, r.Agent, answer.Docs)
	}
	want := s.Want
	if want == nil {
		want = []string{}
	}
	return assert.Equal(t, want, ids(answer), name) &&
		assert.Equal(t, s.HasMore, answer.HasMore, "%s: has_more", name) &&
		assert.Equal(t, s.NewCount, answer.NewCount, "%s: new_count", name)
}

// ids returns the ids of an answer, in order.
func ids(answer engine.Answer) []string {
	out := make([]string, len(answer.Docs))
	for i, d := range answer.Docs {
		out[i] = d.ID
	}
	return out
}
