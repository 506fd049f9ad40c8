package app

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
)

// scenario is a story about readers, told in YAML and run over both modes.
type scenario struct {
	At     time.Time      `yaml:"at"`
	Config scenarioConfig `yaml:"config"`
	Items  []scenarioItem `yaml:"items"`
	Steps  []scenarioStep `yaml:"steps"`
}

type scenarioConfig struct {
	N          int           `yaml:"n"`
	On         string        `yaml:"on"`
	PendingTTL time.Duration `yaml:"pending_ttl"`
	SessionTTL time.Duration `yaml:"session_ttl"`
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

// scenarioStep does one thing: the first field that is set says which.
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

func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/scenarios/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		var sc scenario
		dec := yaml.NewDecoder(bytes.NewReader(data))
		dec.KnownFields(true)
		require.NoError(t, dec.Decode(&sc), file)
		for _, m := range modes {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml")+"/"+m.name, func(t *testing.T) {
				sc.run(t, m)
			})
		}
	}
}

func (sc scenario) run(t *testing.T, m mode) {
	cfg := m.config(t)
	sc.Config.apply(&cfg)
	clock := at(sc.At)
	a := open(t, cfg, WithClock(clock.Now))
	all := make([]feed.Item, len(sc.Items))
	for i, it := range sc.Items {
		all[i] = it.item(clock.Now())
	}
	put(t, a, all...)
	st := &story{App: a, clock: clock}
	for i, step := range sc.Steps {
		if !step.run(t, st, fmt.Sprintf("step %d", i+1)) {
			t.FailNow() // what follows would only confuse
		}
	}
}

// story is a scenario under way.
type story struct {
	*App
	clock     *clock
	confirmed []dedup.Impression // in a filter once everything is recorded
}

// advance moves the clock on as time does: what was recorded is also settled,
// since the grace has passed.
func (st *story) advance(t *testing.T, d time.Duration) {
	t.Helper()
	recorded(t, st.App)
	require.NoError(t, st.stores.dedup.Settle(t.Context(), st.confirmed))
	st.confirmed = nil
	st.clock.Advance(d)
}

func (st *story) confirm(agent string, docs []feed.Item) {
	for _, it := range docs {
		st.confirmed = append(st.confirmed, dedup.Impression{Agent: agent, Group: it.Group()})
	}
}

func (c scenarioConfig) apply(cfg *configs.Config) {
	if c.N > 0 {
		cfg.Recall.N = c.N
	}
	if c.On != "" {
		cfg.Impressions.On = c.On
	}
	if c.PendingTTL > 0 {
		cfg.Impressions.PendingTTL = c.PendingTTL
	}
	if c.SessionTTL > 0 {
		cfg.Sessions.TTL = c.SessionTTL
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

func (s scenarioStep) run(t *testing.T, a *story, name string) bool {
	t.Helper()
	ctx := t.Context()
	switch {
	case s.Put != nil:
		put(t, a.App, s.Put.item(a.clock.Now()))
	case s.Delete != "":
		require.NoError(t, a.Catalog.Remove(ctx, s.Delete), name)
	case s.Advance != 0:
		a.advance(t, s.Advance)
	case s.Profile != nil:
		p := s.Profile
		require.NoError(t, a.Engine.PutProfile(ctx, p.Agent, feed.Profile{
			Interests: p.Interests, Keywords: p.Keywords, Langs: p.Langs, MutedAuthors: p.Authors, MutedTags: p.Tags,
		}), name)
	case s.Forget != "":
		require.NoError(t, a.Engine.RemoveProfile(ctx, s.Forget), name)
		_, err := a.Engine.Profile(ctx, s.Forget)
		require.True(t, errors.Is(err, catalog.ErrNotFound), name)
	case s.Seen != nil:
		require.NoError(t, a.Engine.Seen(ctx, s.Seen.Agent, s.Seen.IDs), name)
		docs, err := a.Catalog.Docs(ctx, s.Seen.IDs)
		require.NoError(t, err, name)
		for _, doc := range docs {
			if !doc.Missing() {
				it, err := doc.Item()
				require.NoError(t, err, name)
				a.confirm(s.Seen.Agent, []feed.Item{it})
			}
		}
	default:
		return s.feed(t, a, name)
	}
	return true
}

func (s scenarioStep) feed(t *testing.T, a *story, name string) bool {
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
	answer := ask(t, a.App, r)
	if a.cfg.Impressions.On == configs.OnServed && !r.Silent {
		a.confirm(r.Agent, items(t, answer))
	}
	want := s.Want
	if want == nil {
		want = []string{}
	}
	return assert.Equal(t, want, ids(answer), name) &&
		assert.Equal(t, s.HasMore, answer.HasMore, "%s: has_more", name) &&
		assert.Equal(t, s.NewCount, answer.NewCount, "%s: new_count", name)
}
