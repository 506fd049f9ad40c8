package server

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/social"
)

// annsWorld has public posts of ann, who has fans and a group, among items. Readers are new in each call, since
// no feed repeats anything.
type annsWorld struct {
	*testing.T
	apps  []*App // the first one is read from
	clock *clock
	// How many new readers there were, agents whom she mentions, and members of her group.
	readers, mentions, members int
}

const annsGroup = "club"

// prepared is how many agents each post of ann's mentions, and how many members her group has.
const prepared = 20

func newAnnsWorld(t *testing.T, m mode) *annsWorld {
	w := &annsWorld{T: t, clock: at(noon)}
	cfg := m.config(t)
	cfg.Auth.AdminToken = testAdmin
	w.apps = []*App{open(t, cfg, WithClock(w.clock.Now))}
	if m.name == "services" {
		cfg.DataDir = t.TempDir()
		w.apps = append(w.apps, open(t, cfg, WithClock(w.clock.Now)))
	}
	items := madeItems(30)
	for i := range items {
		items[i].Title = fmt.Sprintf("i%da i%db i%dc", i, i, i)
	}
	items[0].Tags = []string{"rain"}
	put(t, w.apps[0], items...)
	var members []string
	for i := range prepared {
		members = append(members, fmt.Sprint("member", i+1))
	}
	group := social.Circle{ID: annsGroup, Owner: "ann", CircleTerms: social.CircleTerms{Kind: social.KindGroup}}
	_, err := w.store().PutCircle(t.Context(), group, members, time.Time{})
	require.NoError(t, err)
	for i := range 4 {
		w.publish(fmt.Sprint("public_", i), social.Audience{Public: true})
	}
	w.publish("of_group", social.Audience{Circles: []string{annsGroup}})
	for _, reader := range []string{"r1", "r2", "r3"} {
		_, _, err := w.store().Like(t.Context(), reader, "post:public_0")
		require.NoError(t, err)
	}
	w.settle()
	likesIndexed(t, w.apps[0], w.clock)
	w.settle()
	promote(t, w.apps[0], "post:public_1")
	askAdmin[api.RankingVersion](t, w.apps[0], "PUT", "/v1/feeds/of_ann", `{"any":{"authors":["ann"]},"why":"a test"}`)
	return w
}

func (w *annsWorld) store() social.Store { return w.apps[0].network.fanout.Store() }

func (w *annsWorld) publish(id string, to social.Audience) {
	w.Helper()
	p := social.Post{ID: "post:" + id, Author: "ann", Caption: fmt.Sprintf("%[1]sa %[1]sb %[1]sc", id), Tags: []string{"rain"}, Audience: to, CreatedAt: w.clock.Now().Unix()}
	if to.Public {
		for i := range prepared {
			p.Mentions = append(p.Mentions, fmt.Sprint("mentioned", i+1))
		}
	}
	_, _, err := w.store().CreatePost(w.Context(), p, social.Creation{})
	require.NoError(w, err)
}

// settle waits until all derived data is up to date on every server.
func (w *annsWorld) settle() {
	w.Helper()
	for _, a := range w.apps {
		waitSettled(w, a)
		refreshIndex(w, a)
	}
	w.clock.Advance(5*time.Minute + time.Second) // what is trending is computed again
	for _, a := range w.apps {
		waitTrending(w, a)
	}
}

// choose sets whether ann wants to be recommended, on the last server.
func (w *annsWorld) choose(value string) {
	w.Helper()
	var card struct{ Data social.Author }
	callJSON(w.T, w.apps[len(w.apps)-1], "PATCH", "/v1/authors/ann", "ann", `{"recommend":`+value+`}`, &card)
	require.Equal(w, value == "false", card.Data.Recommend != nil)
}

// reader returns a new reader.
func (w *annsWorld) reader(kind string) string {
	w.readers++
	return fmt.Sprint(kind, w.readers)
}

// mentioned returns another agent whom ann's posts mention.
func (w *annsWorld) mentioned() string {
	w.mentions++
	return fmt.Sprint("mentioned", w.mentions)
}

func (w *annsWorld) follows(reader, author string) string {
	w.Helper()
	_, err := w.store().Follow(w.Context(), reader, author, time.Time{})
	require.NoError(w, err)
	return reader
}

// all reads a feed to its end.
func (w *annsWorld) all(reader, name string) (ids []string) {
	w.Helper()
	page, err := askFeed(w.Context(), w.apps[0], reader, name, "refresh", 20)
	for err == nil && len(page.Data.Items) > 0 {
		ids = append(ids, page.ids()...)
		page, err = askFeed(w.Context(), w.apps[0], reader, name, "load_more", 20)
	}
	require.NoError(w, err)
	require.NotEmpty(w, ids, "%s: the test proves nothing", name)
	return ids
}

// forStrangers are the lists that recommend ann to those who have not chosen to read her, each as it is now.
func (w *annsWorld) forStrangers() map[string]func() []string {
	someone := func() string { return w.reader("reader") }
	read := func(reader func() string, name string) func() []string {
		return func() []string { return w.all(reader(), name) }
	}
	return map[string]func() []string{
		"for-you":                  read(someone, "for_you"),
		"for-you of a follower":    func() []string { return w.all(w.follows(someone(), "ann"), "for_you") },
		"home":                     read(someone, "home"),
		"home by the server":       func() []string { return w.all(w.follows(someone(), social.Server), "home") },
		"home of whom it mentions": func() []string { return w.all(w.mentioned(), "home") },
		"a feed of a tag":          read(someone, "tag:rain"),
		"a stored feed": func() []string {
			page, err := askFeed(w.Context(), w.apps[0], someone(), "of_ann", "refresh", 20)
			require.NoError(w, err)
			return page.ids()
		},
		"guest feed": func() []string { return guestFeed(w, w.apps[0], "?limit=100").ids() },
		"related":    func() []string { return relatedIDs(w.T, w.apps[0], someone(), "doc_0000") },
		"suggestions": func() (authors []string) {
			var page struct{ Data api.Suggestions }
			reader := someone()
			callJSON(w.T, w.apps[0], "GET", "/v1/agents/"+reader+"/suggestions?limit=100", reader, "", &page)
			for _, s := range page.Data.Authors {
				authors = append(authors, s.Author)
			}
			return authors
		},
	}
}

func isAnns(id string) bool {
	return id == "ann" || strings.HasPrefix(id, "post:public_") || id == "post:of_group" || id == "post:new"
}

func (w *annsWorld) checkStrangers(want bool, when string) {
	w.Helper()
	for name, read := range w.forStrangers() {
		ids := read()
		assert.Equal(w, want, slices.ContainsFunc(ids, isAnns), "%s: %s has %v", when, name, ids)
	}
}

// checkOthers checks the lists that have ann's posts whatever she has chosen.
func (w *annsWorld) checkOthers(when string) {
	w.Helper()
	list := func(reader, path string) []string {
		var page homeAnswer
		callJSON(w.T, w.apps[0], "GET", path, reader, "", &page)
		return page.ids()
	}
	fan := func() string { return w.follows(w.reader("fan"), "ann") }
	for name, ids := range map[string][]string{
		"timeline":                w.publicOf(list(fan(), "/v1/timeline?limit=100")),
		"home of a follower":      w.publicOf(w.all(fan(), "home")),
		"page":                    w.publicOf(list(w.reader("reader"), "/v1/authors/ann/posts?limit=100")),
		"timeline by the server":  w.publicOf(list(w.follows(w.reader("reader"), social.Server), "/v1/timeline?limit=100")),
		"timeline of a mentioned": w.publicOf(list(w.mentioned(), "/v1/timeline?limit=100")),
	} {
		assert.Len(w, ids, 4, "%s: %s has %v", when, name, ids)
	}
	assert.Equal(w, 200, asReader(w.T, w.apps[0], "GET", "/v1/posts/post:public_0", ""), when)
	w.members++
	member := fmt.Sprint("member", w.members)
	assert.Contains(w, w.all(member, "home"), "post:of_group", when)
	assert.Contains(w, list(member, "/v1/circles/"+annsGroup+"/posts"), "post:of_group", when)
	assert.Contains(w, list(member, "/v1/timeline?limit=100"), "post:of_group", when)
}

func (w *annsWorld) publicOf(ids []string) (public []string) {
	for _, id := range ids {
		if strings.HasPrefix(id, "post:public_") {
			public = append(public, id)
		}
	}
	return public
}

// TestNotRecommended checks every list that shows posts of strangers: those of an author who does not want to be
// recommended are in none, from the answer to that call on, on every server, also in sessions that were open before, while
// followers and members keep them; and all have them again when the author changes their mind.
func TestNotRecommended(t *testing.T) {
	t.Parallel()
	for _, m := range networks {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			w := newAnnsWorld(t, m)
			w.checkStrangers(true, "at first")
			w.checkOthers("at first")

			open := map[string]string{}
			for _, name := range []string{"for_you", "home", "tag:rain"} {
				open[name] = w.reader("open")
				page, err := askFeed(t.Context(), w.apps[0], open[name], name, "refresh", 1)
				require.NoError(t, err)
				require.True(t, page.Data.HasMore, name)
			}
			w.choose("false")
			for name, reader := range open {
				for n := 0; n < 60; n++ {
					page, err := askFeed(t.Context(), w.apps[n%len(w.apps)], reader, name, "load_more", 1)
					require.NoError(t, err)
					assert.False(t, slices.ContainsFunc(page.ids(), isAnns), "the session of %s has %v", name, page.ids())
				}
			}
			w.checkStrangers(false, "in the next calls")
			w.checkOthers("in the next calls")
			w.settle()
			for _, a := range w.apps {
				require.NoError(t, a.network.promotions.Refresh(t.Context()))
			}
			w.checkStrangers(false, "later")
			w.checkOthers("later")
			w.explains()

			w.publish("new", social.Audience{Public: true})
			w.settle()
			w.checkStrangers(false, "with a new post")
			assert.Contains(t, w.all(w.follows(w.reader("fan"), "ann"), "home"), "post:new")
			w.badge(0)

			w.choose("null")
			w.settle()
			require.NoError(t, w.apps[0].network.promotions.Refresh(t.Context()))
			w.checkStrangers(true, "when she has changed her mind")
			w.checkOthers("when she has changed her mind")
			w.badge(5)
		})
	}
}

// explains checks what explanations and promotions say of the posts.
func (w *annsWorld) explains() {
	w.Helper()
	for _, name := range []string{"for_you", "home"} {
		e := askAdmin[api.Explanation](w.T, w.apps[0], "POST", "/v1/explain", fmt.Sprintf(`{"agent_id":"somebody","feed":%q,"item":"post:public_0"}`, name))
		require.NotNil(w, e.Item)
		assert.Equal(w, api.OutcomeGone, e.Item.Outcome, name)
		assert.Contains(w, e.Item.Reason, "recommended", name)
	}
	promoted := askAdmin[social.PromotionPage](w.T, w.apps[0], "GET", "/v1/promoted", "").Promotions
	require.Len(w, promoted, 1)
	assert.Equal(w, "its author does not want to be recommended", promoted[0].Why)
}

// badge checks how many of ann's posts the badge of a tag counts for a new reader.
func (w *annsWorld) badge(want int) {
	w.Helper()
	var got struct {
		Data struct {
			NewCount int `json:"new_count"`
		} `json:"data"`
	}
	callJSON(w.T, w.apps[0], "POST", "/v1/feed", w.reader("reader"), `{"action":"refresh","feed":"of_ann","silent":true,"limit":1}`, &got)
	assert.Equal(w, want, got.Data.NewCount)
}

// TestNotRecommendedByEvents checks that another system sets the choice with the author of a post, and that an older event does not
// change it.
func TestNotRecommendedByEvents(t *testing.T) {
	t.Parallel()
	cfg := embedded(t)
	cfg.Auth.AdminToken = testAdmin
	a := open(t, cfg, WithClock(at(noon).Now))
	report := func(id string, at int64, author string) {
		t.Helper()
		event := fmt.Sprintf(`{"type":"post.created","data":{"id":"post:%s","author":%s,"created_at":%d,"caption":"%[1]sa %[1]sb %[1]sc"}}`, id, author, at)
		require.Equal(t, 1, askAdmin[api.Upload](t, a, "POST", "/v1/graph/events", event).Accepted)
	}
	readers := 0
	shown := func() []string {
		t.Helper()
		readers++
		waitSettled(t, a)
		page, err := askFeed(t.Context(), a, fmt.Sprint("reader", readers), "for_you", "refresh", 20)
		require.NoError(t, err)
		return page.ids()
	}
	report("one", noon.Unix()-100, `{"id":"ann","name":"Ann","recommend":false}`)
	report("two", noon.Unix()-90, `{"id":"ann","name":"Ann"}`)
	report("three", noon.Unix()-80, `{"id":"bob","name":"Bob"}`)
	require.Equal(t, []string{"post:three"}, shown())
	report("four", noon.Unix()-110, `{"id":"ann","recommend":true}`)
	require.Equal(t, []string{"post:three"}, shown(), "the event is older")
	report("five", noon.Unix()-70, `{"id":"ann","name":"Ann","recommend":true}`)
	require.ElementsMatch(t, []string{"post:one", "post:two", "post:three", "post:four", "post:five"}, shown())
}
