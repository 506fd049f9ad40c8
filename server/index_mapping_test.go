package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

// indexVersion is an external index, in its mapping before or after a change.
type indexVersion struct {
	name   string
	time   string // the mapping of the time field
	write  func(t time.Time) any
	tags   string // the name of the tags field
	id     string // the name of the id field
	reason string // part of the error in /readyz; "" means the mapping is usable
}

func epoch(t time.Time) any  { return t.Unix() }
func millis(t time.Time) any { return t.UnixMilli() }
func iso(t time.Time) any    { return t.UTC().Format(time.RFC3339) }

const (
	epochDate  = `{"type":"date","format":"epoch_second"}`
	number     = `{"type":"long"}`
	otherIndex = "-2"
)

// make creates the index under a name, with three items with different tags.
func (v *indexVersion) make(send func(method, path, body string), name string, now time.Time) {
	send(http.MethodPut, "/"+name, fmt.Sprintf(
		`{"mappings":{"properties":{%q:{"type":"keyword"},"title":{"type":"text"},%q:{"type":"keyword"},"published":%s}}}`, v.id, v.tags, v.time))
	for i, tag := range []string{"go", "cats", "rust"} {
		doc, _ := json.Marshal(map[string]any{ // all values can be encoded
			v.id: fmt.Sprintf("%s-%d", strings.ReplaceAll(v.name, " ", "-"), i), "title": "About " + tag, v.tags: tag, "published": v.write(now.Add(-time.Duration(i) * time.Hour)),
		})
		send(http.MethodPut, fmt.Sprintf("/%s/_doc/%d?refresh=true", name, i), string(doc))
	}
}

// withoutCats returns the items of a version except the one tagged "cats".
func (v *indexVersion) withoutCats() []string {
	name := strings.ReplaceAll(v.name, " ", "-")
	return []string{name + "-0", name + "-2"}
}

// TestIndexAliasSwitchedToOtherMapping moves an alias to an index with another mapping. If the
// mapping is usable, the next answer uses it. Otherwise answers come from earlier recalls and say
// so, and readiness reports why. A muted tag is never shown.
func TestIndexAliasSwitchedToOtherMapping(t *testing.T) {
	before := indexVersion{name: "before", time: epochDate, write: epoch, tags: "tags", id: "id"}
	for _, after := range []indexVersion{
		{name: "same", time: epochDate, write: epoch, tags: "tags", id: "id"},
		{name: "ISO times", time: `{"type":"date"}`, write: iso, tags: "tags", id: "id"},
		{name: "milliseconds", time: `{"type":"date","format":"epoch_millis"}`, write: millis, tags: "tags", id: "id"},
		{name: "a number", time: number, write: epoch, tags: "tags", id: "id"},
		{name: "a number of milliseconds", time: number, write: millis, tags: "tags", id: "id"},
		{name: "seconds that are milliseconds", time: epochDate, write: millis, tags: "tags", id: "id", reason: "epoch_millis"},
		{name: "tags renamed", time: epochDate, write: epoch, tags: "topics", id: "id", reason: "fields.tags (tags)"},
		{name: "id renamed", time: epochDate, write: epoch, tags: "tags", id: "key", reason: "fields.id (id)"},
	} {
		t.Run(after.name, func(t *testing.T) {
			t.Parallel()
			cfg := services(t)
			ownIndices(t, &cfg)
			cfg.Elasticsearch.ManageIndex = false
			cfg.Elasticsearch.Fields = configs.Fields{ID: "id", Title: "title", UpdateTime: "published", Tags: "tags"}
			send := elasticsearchSender(t, cfg)
			index := cfg.Elasticsearch.Index
			before.make(send, index+"-1", noon)
			send(http.MethodPut, "/"+index+"-1/_alias/"+index, "")

			a := open(t, cfg, WithClock(at(noon).Now), shortPauses)
			waitReady(t, a)
			for i := range 4 {
				require.NoError(t, a.Engine.PutProfile(t.Context(), fmt.Sprint("u_", i), feed.Profile{MutedTags: []string{"cats"}}))
			}
			require.Equal(t, before.withoutCats(), ids(ask(t, a, refresh("u_0", 10))))

			after.make(send, index+otherIndex, noon)
			send(http.MethodPost, "/_aliases", fmt.Sprintf(`{"actions":[{"remove":{"index":"%[1]s-1","alias":%[1]q}},{"add":{"index":"%[1]s-2","alias":%[1]q}}]}`, index))
			if after.reason == "" {
				answer := ask(t, a, refresh("u_1", 10))
				assert.Equal(t, after.withoutCats(), ids(answer))
				assert.Empty(t, answer.Degraded)
				assert.Equal(t, "up", ready(t, a).state)
				return
			}
			answer := ask(t, a, refresh("u_1", 10))
			assert.Equal(t, before.withoutCats(), ids(answer), "what was recalled before stands in")
			assert.Equal(t, []string{"recall"}, answer.Degraded)
			state := ready(t, a)
			assert.Equal(t, http.StatusOK, state.status, "all servers share the index")
			assert.Equal(t, "degraded", state.state)
			assert.Contains(t, state.error, after.reason)
			assert.NotNil(t, state.secondsLeft, "how long answers may come from before")

			send(http.MethodPost, "/_aliases", fmt.Sprintf(`{"actions":[{"remove":{"index":"%[1]s-2","alias":%[1]q}},{"add":{"index":"%[1]s-1","alias":%[1]q}}]}`, index))
			testenv.WaitFor(t, func() bool { return ready(t, a).state == "up" }, "the index of before is used again")
			answer = ask(t, a, refresh("u_2", 10))
			assert.Equal(t, before.withoutCats(), ids(answer))
			assert.Empty(t, answer.Degraded)
		})
	}
}

// TestIndexRecreatedWithoutField recreates the index without the field of the muted tags. The first
// search fails and makes the server read the mapping again, and the previous recall is used
// instead.
func TestIndexRecreatedWithoutField(t *testing.T) {
	t.Parallel()
	cfg := services(t)
	ownIndices(t, &cfg)
	cfg.Elasticsearch.ManageIndex = false
	cfg.Elasticsearch.Fields = configs.Fields{ID: "id", Title: "title", UpdateTime: "published", Tags: "tags"}
	send, index := elasticsearchSender(t, cfg), cfg.Elasticsearch.Index
	before := indexVersion{name: "before", time: epochDate, write: epoch, tags: "tags", id: "id"}
	before.make(send, index, noon)
	a := open(t, cfg, WithClock(at(noon).Now), shortPauses)
	waitReady(t, a)
	muted := feed.Profile{MutedTags: []string{"cats"}}
	for _, reader := range []string{"u_1", "u_2", "u_3", "u_4"} {
		require.NoError(t, a.Engine.PutProfile(t.Context(), reader, muted))
	}
	require.Equal(t, before.withoutCats(), ids(ask(t, a, refresh("u_1", 10))))

	send(http.MethodDelete, "/"+index, "")
	after := indexVersion{name: "before", time: epochDate, write: epoch, tags: "topics", id: "id"}
	after.make(send, index, noon)
	for _, reader := range []string{"u_2", "u_3"} {
		answer := ask(t, a, refresh(reader, 10))
		assert.Equal(t, before.withoutCats(), ids(answer))
		assert.Equal(t, []string{"recall"}, answer.Degraded)
	}
	assert.Contains(t, ready(t, a).error, "fields.tags (tags)")

	send(http.MethodDelete, "/"+index, "")
	before.make(send, index, noon)
	testenv.WaitFor(t, func() bool { return ready(t, a).state == "up" }, "it fits again")
	answer := ask(t, a, refresh("u_4", 10))
	assert.Equal(t, before.withoutCats(), ids(answer))
	assert.Empty(t, answer.Degraded)
}

// TestIndexAddedToAliasLacksField adds an index to an alias that lacks the language field; the
// other fields have the same mapping.
func TestIndexAddedToAliasLacksField(t *testing.T) {
	t.Parallel()
	cfg, send := externalIndex(t)
	cfg.Elasticsearch.Fields.Lang = "lang"
	index := cfg.Elasticsearch.Index
	send(http.MethodPut, "/"+index+"-1/_mapping", `{"properties":{"lang":{"type":"keyword"}}}`)
	document(send, index+"-1", "d1", `,"id":"one","lang":"en"`)
	a := open(t, cfg, WithClock(at(noon).Now), shortPauses)
	waitReady(t, a)
	for _, reader := range []string{"u_1", "u_2"} {
		require.NoError(t, a.Engine.PutProfile(t.Context(), reader, feed.Profile{Langs: []string{"en"}}))
	}
	require.Equal(t, []string{"one"}, ids(ask(t, a, refresh("u_1", 10))))
	send(http.MethodPut, "/"+index+"-2", strings.Replace(externalMapping, `"mappings":{`, `"mappings":{"dynamic":false,`, 1))
	document(send, index+"-2", "d2", `,"id":"zwei","lang":"de"`)
	send(http.MethodPut, "/"+index+"-2/_alias/"+index, "")
	answer := ask(t, a, refresh("u_2", 10))
	assert.Equal(t, []string{"one"}, ids(answer))
	assert.Equal(t, []string{"recall"}, answer.Degraded)
	assert.Contains(t, ready(t, a).error, "fields.lang (lang)")
}

// TestIndexDeletedOrClosed deletes or closes the index of a running server, as happens before a
// restore of a snapshot or by mistake. It counts as an outage. No call by readers creates an index;
// a put of items creates Freshet's own, with its mapping.
func TestIndexDeletedOrClosed(t *testing.T) {
	for _, test := range []struct{ name, method, path, reason string }{
		{"deleted", http.MethodDelete, "", "there is no index"},
		{"closed", http.MethodPost, "/_close", "is closed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			cfg := services(t)
			ownIndices(t, &cfg)
			send, index := elasticsearchSender(t, cfg), "/"+cfg.Elasticsearch.Index
			a := open(t, cfg, WithClock(at(noon).Now), shortPauses)
			put(t, a, madeItems(40)...)
			require.NoError(t, a.clients.index.RecallForAll(t.Context(), a.indexUse(a.stores, a.ranking)), "as each minute")
			shown := newOnce()
			shown.add(t, "before", ids(ask(t, a, refresh("u_1", 5))))

			send(test.method, index+test.path, "")
			for _, request := range []engine.Request{refresh("u_1", 5), loadMore("u_1", 5), refresh("u_1", 5)} {
				answer := ask(t, a, request)
				assert.Len(t, answer.Docs, 5, "%v", request)
				shown.add(t, "while it is gone", ids(answer))
			}
			answer := ask(t, a, refresh("u_new", 5))
			assert.Len(t, answer.Docs, 5)
			assert.Contains(t, answer.Degraded, "recall")
			testenv.WaitFor(t, func() bool { return ready(t, a).state == "degraded" }, "readiness says that it is gone")
			state := ready(t, a)
			assert.Equal(t, http.StatusOK, state.status)
			assert.Contains(t, state.error, test.reason)

			if test.name == "closed" {
				errs, err := a.Catalog.Put(t.Context(), madeItems(1))
				require.NoError(t, err)
				require.ErrorIs(t, errs[0], catalog.ErrUnavailable)
				send(http.MethodPost, index+"/_open?wait_for_active_shards=1", "")
			} else {
				status, _ := callElasticsearch(t, cfg, http.MethodGet, index, "")
				require.Equal(t, http.StatusNotFound, status, "nobody has made it meanwhile")
				put(t, a, madeItems(40)...)
			}
			testenv.WaitFor(t, func() bool { return ready(t, a).state == "up" }, "it is back")
			_, mapping := callElasticsearch(t, cfg, http.MethodGet, index+"/_mapping", "")
			assert.Contains(t, mapping, `"dynamic":"false"`, "it is Freshet's own")
			testenv.WaitFor(t, func() bool { return len(ask(t, a, refresh("u_after", 5)).Degraded) == 0 }, "whole answers")
			shown.add(t, "afterwards", ids(ask(t, a, refresh("u_1", 5))))
			cfg.DataDir = t.TempDir()
			waitReady(t, open(t, cfg, WithClock(at(noon).Now), shortPauses))
		})
	}
}

// TestIndexUnusableFoundAfterStart checks that an unusable index prevents a start, and that one
// found unusable later makes the server not ready until it is repaired.
func TestIndexUnusableFoundAfterStart(t *testing.T) {
	t.Parallel()
	cfg, es := elasticsearchLink(t)
	ownIndices(t, &cfg)
	cfg.Elasticsearch.ManageIndex = false
	index := elasticsearchURL(t) + "/" + cfg.Elasticsearch.Index
	do := func(method, path, body string) {
		req, err := http.NewRequestWithContext(t.Context(), method, index+path, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		_ = res.Body.Close()
		require.Equal(t, http.StatusOK, res.StatusCode)
	}
	do(http.MethodPut, "", `{"mappings": {"dynamic": false, "properties": {"id": {"type": "keyword"}, "title": {"type": "text"}}}}`)
	_, err := Open(t.Context(), cfg, WithLogger(slog.New(slog.DiscardHandler)))
	require.ErrorContains(t, err, "update_time")

	es.set(true)
	log := &lines{}
	a := open(t, cfg, WithClock(at(noon).Now), WithLogger(slog.New(slog.NewTextHandler(log, nil))), shortPauses)
	es.set(false)
	testenv.WaitFor(t, func() bool {
		state := ready(t, a)
		return state.status == http.StatusServiceUnavailable && strings.Contains(state.error, "update_time")
	}, "/readyz says what the index lacks")
	assert.Contains(t, log.String(), "update_time")
	do(http.MethodPut, "/_mapping", `{"properties": {"update_time": {"type": "date", "format": "epoch_second"}}}`)
	waitReady(t, a)
}

// lines is a log that may be read and written concurrently.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// elasticsearchURL returns the address of the real Elasticsearch, without a link.
func elasticsearchURL(t *testing.T) string {
	address, _ := testenv.Elastic(t)
	return address
}
