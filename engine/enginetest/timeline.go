package enginetest

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/freshet/freshet/engine/timeline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

//go:embed timelines
var timelines embed.FS

// TimelineSystem is a system that scenarios of timelines run against.
type TimelineSystem struct {
	Store     social.Store
	Timelines *timeline.Timelines
	// Settle waits until no job is queued or running.
	Settle func(t *testing.T)
	// Lists makes the lists unavailable, or available again.
	Lists func(t *testing.T, up bool)
}

type timelineScenario struct {
	At       time.Time       `yaml:"at"`
	Services bool            `yaml:"services"` // it needs lists that can become unavailable
	Steps    []*timelineStep `yaml:"steps"`
}

// timelineStep performs one action, chosen by the first field that is set.
type timelineStep struct {
	Post     *timelinePost     `yaml:"post"`
	Posts    *timelineSeries   `yaml:"posts"`
	Edit     map[string]string `yaml:"edit"`     // id: caption
	Delete   map[string]string `yaml:"delete"`   // id: author
	Follow   pairs             `yaml:"follow"`   // agent: authors
	Unfollow pairs             `yaml:"unfollow"` //
	Block    pairs             `yaml:"block"`
	Circle   *struct {
		ID      string   `yaml:"id"`
		Owner   string   `yaml:"owner"`
		Members []string `yaml:"members"`
	} `yaml:"circle"`
	Settle  bool          `yaml:"settle"`
	Lists   string        `yaml:"lists"` // down or up
	Advance time.Duration `yaml:"advance"`
	Warm    string        `yaml:"warm"`

	Timeline string            `yaml:"timeline"` // the agent
	Cursor   string            `yaml:"cursor"`   // next: that of the previous page; otherwise the id of a post
	Limit    int               `yaml:"limit"`    // default 20
	Want     []string          `yaml:"want"`
	First    []string          `yaml:"first"` // instead of Want: the first posts
	N        int               `yaml:"n"`     // with First: the number of posts
	HasMore  bool              `yaml:"has_more"`
	NoNext   bool              `yaml:"no_next"` // next_cursor is null
	Degraded []string          `yaml:"degraded"`
	Captions map[string]string `yaml:"captions"`
	Reasons  map[string]string `yaml:"reasons"`
}

type pairs map[string][]string

type timelinePost struct {
	ID        string        `yaml:"id"`
	Author    string        `yaml:"author"`
	Age       time.Duration `yaml:"age"`
	Followers bool          `yaml:"followers"`
	Circles   []string      `yaml:"circles"`
	Mentions  []string      `yaml:"mentions"`
}

// timelineSeries are posts of one author, named by prefix and number, a second apart; Age is that
// of the last one.
type timelineSeries struct {
	Prefix string        `yaml:"prefix"`
	Author string        `yaml:"author"`
	N      int           `yaml:"n"`
	Age    time.Duration `yaml:"age"`
}

// RunTimelines runs every scenario of timelines over a separate system. The lists argument of
// open requires lists that can become unavailable; open returns false if they cannot.
func RunTimelines(t *testing.T, open func(t *testing.T, lists bool, clock feed.Clock) (TimelineSystem, bool)) {
	files, err := fs.Glob(timelines, "timelines/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(strings.TrimPrefix(file, "timelines/"), ".yaml"), func(t *testing.T) {
			t.Parallel()
			data, err := timelines.ReadFile(file)
			require.NoError(t, err)
			var sc timelineScenario
			dec := yaml.NewDecoder(bytes.NewReader(data))
			dec.KnownFields(true)
			require.NoError(t, dec.Decode(&sc))
			st := &timelineStory{T: t}
			st.now.Store(&sc.At)
			var ok bool
			if st.TimelineSystem, ok = open(t, sc.Services, st.clock); !ok {
				t.Skip("lists in this process cannot be unavailable")
			}
			for i, step := range sc.Steps {
				st.run(step, fmt.Sprintf("step %d", i+1))
			}
		})
	}
}

// timelineStory is a running scenario of timelines.
type timelineStory struct {
	*testing.T
	TimelineSystem
	story
	positions map[string]social.Position
	next      social.Position
}

func (st *timelineStory) run(s *timelineStep, name string) {
	ctx := st.Context()
	switch {
	case s.Post != nil:
		st.post(*s.Post)
	case s.Posts != nil:
		for i := range s.Posts.N {
			st.post(timelinePost{
				ID: fmt.Sprintf("%s%d", s.Posts.Prefix, i+1), Author: s.Posts.Author,
				Age: s.Posts.Age + time.Duration(s.Posts.N-1-i)*time.Second,
			})
		}
	case s.Edit != nil:
		for id, caption := range s.Edit {
			_, err := st.Store.EditPost(ctx, social.PostPrefix+id, "", social.Edit{Caption: &caption}, time.Time{})
			require.NoError(st, err, name)
		}
	case s.Delete != nil:
		for id, author := range s.Delete {
			require.NoError(st, st.Store.DeletePost(ctx, social.PostPrefix+id, author, time.Time{}), name)
		}
	case s.Follow != nil:
		s.Follow.each(func(agent, author string) error {
			_, err := st.Store.Follow(ctx, agent, author, time.Time{})
			return err
		}, st.T, name)
	case s.Unfollow != nil:
		s.Unfollow.each(func(agent, author string) error {
			_, err := st.Store.Unfollow(ctx, agent, author, time.Time{})
			return err
		}, st.T, name)
	case s.Block != nil:
		s.Block.each(func(agent, other string) error { _, err := st.Store.Block(ctx, agent, other); return err }, st.T, name)
	case s.Circle != nil:
		_, err := st.Store.PutCircle(ctx, social.Circle{ID: s.Circle.ID, Owner: s.Circle.Owner}, append([]string{}, s.Circle.Members...), time.Time{})
		require.NoError(st.T, err, name)
	case s.Settle:
		st.Settle(st.T)
	case s.Lists != "":
		st.Lists(st.T, s.Lists == "up")
	case s.Advance != 0:
		later := st.clock().Add(s.Advance)
		st.now.Store(&later)
	case s.Warm != "":
		require.NoError(st, st.Timelines.Warm(ctx, s.Warm), name)
	default:
		st.read(s, name)
	}
}

func (p pairs) each(do func(agent, other string) error, t *testing.T, name string) {
	t.Helper()
	for agent, others := range p {
		for _, other := range others {
			require.NoError(t, do(agent, other), name)
		}
	}
}

func (st *timelineStory) post(p timelinePost) {
	at := st.clock().Add(-p.Age)
	post := social.Post{
		ID: social.PostPrefix + p.ID, Author: p.Author, Caption: "This is " + p.ID, CreatedAt: at.Unix(), Mentions: p.Mentions,
		Audience: social.Audience{Public: !p.Followers && len(p.Circles) == 0 && len(p.Mentions) == 0, Followers: p.Followers, Circles: p.Circles},
	}
	_, created, err := st.Store.CreatePost(st.Context(), post, social.Creation{At: at})
	require.NoError(st, err, p.ID)
	require.True(st, created, p.ID)
	if st.positions == nil {
		st.positions = map[string]social.Position{}
	}
	st.positions[p.ID] = post.Position()
}

func (st *timelineStory) read(s *timelineStep, name string) {
	require.NotEmpty(st, s.Timeline, "%s does nothing", name)
	r := timeline.Request{Agent: s.Timeline, Limit: 20}
	if s.Limit > 0 {
		r.Limit = s.Limit
	}
	switch s.Cursor {
	case "":
	case "next":
		r.Below = st.next
	default:
		require.Contains(st, st.positions, s.Cursor, name)
		r.Below = st.positions[s.Cursor]
	}
	page, err := st.Timelines.Timeline(st.Context(), r)
	if s.Degraded == nil && page.Degraded != nil { // on a busy machine the store answers until the list is built
		require.Eventually(st, func() bool {
			if err == nil && page.Degraded != nil {
				page, err = st.Timelines.Timeline(st.Context(), r)
			}
			return err != nil || page.Degraded == nil
		}, 2*time.Minute, 10*time.Millisecond, "%s: %v", name, page.Degraded)
	}
	require.NoError(st, err, name)
	st.next = page.Next
	st.compare(s, page, name)
}

func (st *timelineStory) compare(s *timelineStep, page timeline.Page, name string) {
	got := make([]string, len(page.Posts))
	for i, c := range page.Posts {
		got[i] = strings.TrimPrefix(c.ID, social.PostPrefix)
		if want, ok := s.Captions[got[i]]; ok {
			assert.Contains(st, string(c.Content), `"caption":"`+want+`"`, name)
		}
		if want, ok := s.Reasons[got[i]]; ok {
			assert.Equal(st, social.Reason(want), c.Reason, name)
		}
	}
	want := append([]string{}, s.Want...)
	if s.First != nil {
		require.Len(st, got, s.N, name)
		want, got = s.First, got[:len(s.First)]
	}
	require.Equal(st, want, got, name)
	require.Equal(st, s.HasMore, page.HasMore, "%s: has_more", name)
	require.Equal(st, s.Degraded, page.Degraded, "%s: degraded", name)
	if s.NoNext {
		require.Zero(st, page.Next, name)
	}
}
