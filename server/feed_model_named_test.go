package server

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
)

// The named feeds of the model of feeds: those by a tag or a language, and the stored ones, which operators
// store, change and delete meanwhile.
var (
	dynamicFeeds = []feed.Name{"tag:red", "tag:blue", "lang:de"}
	storedFeeds  = []feed.Name{"weekend", "picks"}
)

// anyFeed returns for-you or any named feed, of which a stored one may not be there.
func (w *world) anyFeed() feed.Name {
	if w.rnd.IntN(5) < 3 {
		return feed.ForYou
	}
	all := slices.Concat(dynamicFeeds, storedFeeds)
	return all[w.rnd.IntN(len(all))]
}

// inAnyFeed returns a request for a page of any feed.
func (w *world) inAnyFeed(agent string) engine.Request {
	r := w.request(agent)
	r.Feed = w.anyFeed()
	return r
}

// exists reports whether there is such a feed.
func (w *world) exists(name feed.Name) bool {
	_, stored := w.feeds[name]
	return stored || !slices.Contains(storedFeeds, name)
}

// existing returns the named feeds that there are.
func (w *world) existing() []feed.Name {
	return slices.DeleteFunc(slices.Concat(dynamicFeeds, storedFeeds), func(name feed.Name) bool { return !w.exists(name) })
}

// selects reports whether a feed has an item.
func (w *world) selects(name feed.Name, it feed.Item) bool {
	switch name {
	case "tag:red", "tag:blue":
		return slices.Contains(it.Tags, string(name[len("tag:"):]))
	case "lang:de":
		return it.Lang == "de"
	}
	f, stored := w.feeds[name]
	return !stored || meetsAll(f.All, it) && (f.Any.IsZero() || meetsAny(f.Any, it)) && !meetsAny(f.None, it)
}

func meetsAny(c feed.Conditions, it feed.Item) bool {
	return slices.ContainsFunc(c.Tags, func(tag string) bool { return slices.Contains(it.Tags, tag) }) ||
		slices.Contains(c.Langs, it.Lang) || slices.Contains(c.Authors, it.AuthorID)
}

func meetsAll(c feed.Conditions, it feed.Item) bool {
	other := func(want, has string) bool { return want != has }
	return !slices.ContainsFunc(c.Tags, func(tag string) bool { return !slices.Contains(it.Tags, tag) }) &&
		!slices.ContainsFunc(c.Langs, func(lang string) bool { return other(lang, it.Lang) }) &&
		!slices.ContainsFunc(c.Authors, func(author string) bool { return other(author, it.AuthorID) })
}

// storeFeed stores, changes or deletes a feed on one server; the other ones look for changes at once instead of in
// a second.
func (w *world) storeFeed(t *testing.T) {
	t.Helper()
	name := storedFeeds[w.rnd.IntN(len(storedFeeds))]
	s, method, body := w.anyServer(), http.MethodPut, ""
	_, stored := w.feeds[name]
	if stored && w.rnd.IntN(3) == 0 {
		method = http.MethodDelete
		delete(w.feeds, name)
	} else {
		author := []string{fmt.Sprintf("author_%d", w.rnd.IntN(4))}
		f := []feed.Filter{
			{All: feed.Conditions{Tags: []string{"red"}}, None: feed.Conditions{Authors: author}},
			{Any: feed.Conditions{Langs: []string{"fr"}, Tags: []string{"blue"}}},
			{Any: feed.Conditions{Authors: author, Langs: []string{"de"}}},
			{None: feed.Conditions{Langs: []string{"de"}, Authors: author}},
		}[w.rnd.IntN(4)]
		w.feeds[name], body = f, asJSON(t, f)
	}
	w.say("%s %s %s", method, name, body)
	askAdmin[any](t, s.App, method, "/v1/feeds/"+string(name), body)
	for _, other := range w.apps {
		require.NoError(t, other.ranking.Sync(context.WithoutCancel(t.Context())))
		_, has := other.ranking.Feed(name)
		require.Equal(t, method == http.MethodPut, has)
	}
	w.changed()
}

// before returns what was shown that a feed must not show: of a named feed what it has shown itself.
func (r *reader) before(name feed.Name) map[string]shown {
	if !name.Named() {
		return r.shown
	}
	if r.scopes[name] == nil {
		r.scopes[name] = map[string]shown{}
	}
	return r.scopes[name]
}

// flows returns what is known of the session of a feed, and of the other one. All named feeds share a session:
// opening another one replaces it.
func (r *reader) flows(name feed.Name) (own, other *flow) {
	if !name.Named() {
		return &r.flow, &r.named
	}
	if name != r.of {
		r.named.disturb()
		r.of = name
	}
	return &r.named, &r.flow
}

// marked returns the ids of an answer that are marked as shown before.
func marked(answer engine.Answer) (ids []string) {
	for _, ref := range answer.Refs {
		if ref.ShownBefore {
			ids = append(ids, ref.ID)
		}
	}
	return ids
}

// checkMark checks whether an item of a named feed is rightly marked, or not.
func (w *world) checkMark(t *testing.T, who *reader, got feed.Item, again bool) {
	t.Helper()
	if !again {
		assert.True(t, w.may(who.shown, got), "%s of group %s was shown at %s, and is not marked", got.ID, got.Group(), who.shown[got.Group()].at)
		return
	}
	ever := slices.ContainsFunc(keys(got), func(key string) bool {
		s, was := who.shown[key]
		return was && w.clock.Now().Sub(s.at) < 8*24*time.Hour
	})
	assert.True(t, ever, "%s of group %s is marked, and was not shown", got.ID, got.Group())
}

// takeMarked takes the items of an answer that a named feed has marked as shown before, or the others.
func (w *world) takeMarked(t *testing.T, s *server, r engine.Request, answer engine.Answer, again bool) {
	t.Helper()
	if len(answer.Docs) == 0 {
		return
	}
	part := answer
	part.Docs, part.Refs = nil, nil
	for i, ref := range answer.Refs {
		if ref.ShownBefore == again {
			part.Docs, part.Refs = append(part.Docs, answer.Docs[i]), append(part.Refs, ref)
		}
	}
	r.RequestID = "" // the whole answer is remembered
	w.take(t, s, r, part)
}

// lost reports whether a named feed may have forgotten that it has shown an item: its server died before it recorded that, and
// the reader did not refresh again while it was pending.
func (w *world) lost(before map[string]shown, it feed.Item) bool {
	return w.cfg.Impressions.On == configs.OnSeen && !slices.ContainsFunc(keys(it), func(key string) bool {
		s, was := before[key]
		return was && (!s.fuzzy || w.clock.Now().Sub(s.at) <= w.cfg.PendingTTL())
	})
}

// unrecorded notes that a process has died, which may have had to record what named feeds have shown.
func (w *world) unrecorded() {
	for _, r := range w.readers {
		for _, scope := range r.scopes {
			for key, s := range scope {
				s.fuzzy = true
				scope[key] = s
			}
		}
	}
}

// unseen returns the number of groups that a badge may count.
func (w *world) unseen(who *reader, name feed.Name) int {
	groups, before := map[string]bool{}, who.before(name)
	for _, it := range w.items {
		if w.selects(name, it) && w.shows(who, it) && (w.may(before, it) || unsure(before, it)) {
			groups[it.Group()] = true
		}
	}
	return len(groups)
}

// confirmed returns the impressions of an item that are recorded when it is delivered.
func (w *world) confirmed(r engine.Request, key string, served bool) (all []dedup.Impression) {
	if served {
		all = append(all, dedup.Impression{Agent: r.Agent, Group: key})
	}
	if r.Feed.Named() {
		all = append(all, dedup.Impression{Agent: r.Agent, Group: feed.ScopedKey(r.Feed.Scope(), key)})
	}
	return all
}

// TestStoredFeedsOnOtherServers stores, changes and deletes a feed on one server: another one, which looks for changes
// each second, has it after its next look.
func TestStoredFeedsOnOtherServers(t *testing.T) {
	t.Parallel()
	cfg := services(t)
	cfg.Auth.AdminToken = testAdmin
	here := open(t, cfg)
	put(t, here, feed.Item{ID: "red", Title: "Red", UpdateTime: noon.Unix(), Tags: []string{"red"}}, feed.Item{ID: "blue", Title: "Blue", UpdateTime: noon.Unix(), Tags: []string{"blue"}})
	refreshIndex(t, here)
	cfg.DataDir = t.TempDir()
	there := open(t, cfg)
	refreshIndex(t, there)
	agents := 0
	has := func(want ...string) {
		t.Helper()
		require.NoError(t, there.ranking.Sync(t.Context())) // what it does each second
		agents++
		page, err := askFeed(t.Context(), there, fmt.Sprint("u_", agents), "picks", "refresh", 10)
		if want == nil {
			require.ErrorContains(t, err, "there is no feed picks")
			return
		}
		require.NoError(t, err)
		assert.Equal(t, want, page.ids())
	}
	has()
	askAdmin[any](t, here, "PUT", "/v1/feeds/picks", `{"any":{"tags":["red"]}}`)
	has("red")
	askAdmin[any](t, here, "PUT", "/v1/feeds/picks", `{"any":{"tags":["blue"]}}`)
	has("blue")
	askAdmin[any](t, here, "DELETE", "/v1/feeds/picks", "")
	has()
}
