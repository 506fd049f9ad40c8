package replica

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	catalogelastic "github.com/freshet/freshet/catalog/elastic"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/recall"
	recallelastic "github.com/freshet/freshet/recall/elastic"
	recallmemory "github.com/freshet/freshet/recall/memory"
	"github.com/freshet/freshet/recall/recalltest"
)

func TestMain(m *testing.M) { os.Exit(testenv.Reuse(m).Run()) }

// system is an index with its catalog, the source over it, and a copy.
type system struct {
	t        testing.TB
	client   *faulty
	index    string
	catalog  *catalogelastic.Catalog
	elastic  *recallelastic.Source
	source   *Source
	follower *follower
	clock    *clock
	mu       sync.Mutex
	counts   map[string]feed.Counts
}

// clock is the time, plus what a test adds.
type clock struct {
	mu    sync.Mutex
	added time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.added) //nolint:forbidigo // a test's own clock
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.added += d
}

// faulty lets a test edit requests and answers.
type faulty struct {
	esindex.Client
	mu   sync.Mutex
	edit func(*http.Request, func() (*http.Response, error)) (*http.Response, error)
}

func (f *faulty) Perform(req *http.Request) (*http.Response, error) {
	f.mu.Lock()
	edit := f.edit
	f.mu.Unlock()
	if edit == nil {
		return f.Client.Perform(req)
	}
	return edit(req, func() (*http.Response, error) { return f.Client.Perform(req) })
}

func (f *faulty) set(edit func(*http.Request, func() (*http.Response, error)) (*http.Response, error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.edit = edit
}

func ownSchema() *esindex.LateSchema {
	s := esindex.OwnSchema(esindex.Fields{})
	s.More = feed.AllHalfLives
	return esindex.Known(s)
}

// open returns a system over an empty index with a number of shards.
func open(t testing.TB, shards int) *system {
	t.Helper()
	address, index := testenv.Elastic(t)
	client, err := esindex.Connect(esindex.ClientConfig{Addresses: []string{address}})
	require.NoError(t, err)
	s := &system{t: t, client: &faulty{Client: client}, index: index, clock: &clock{}, counts: map[string]feed.Counts{}}
	s.create(shards)
	s.catalog = catalogelastic.New(client, catalogelastic.Config{Index: index, Schema: ownSchema(), Counts: s.countsOf})
	s.elastic = recallelastic.New(client, recallelastic.Config{Index: index, Schema: ownSchema()})
	s.source = New(s.client, Config{
		Index: index, Schema: ownSchema(), Elastic: s.elastic, NewIndex: func() Index { return recallmemory.New() },
		Clock: s.clock.now, Timeout: 20 * time.Second, Logger: testenv.Logger(t),
	})
	s.follower = s.source.follower
	return s
}

func (s *system) countsOf(context.Context, []string) (map[string]feed.Counts, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]feed.Counts{}
	for id, c := range s.counts {
		out[id] = c
	}
	return out, nil
}

func (s *system) send(method, path string, body []byte) {
	s.t.Helper()
	require.NoError(s.t, esindex.Do(s.t.Context(), s.client, method, path, "", body, nil))
}

// create creates the index with a number of shards.
func (s *system) create(shards int) {
	s.t.Helper()
	_, err := esindex.Ensure(s.t.Context(), s.client, s.index, esindex.Fields{})
	require.NoError(s.t, err)
	require.NoError(s.t, esindex.AddFields(s.t.Context(), s.client, s.index, esindex.Fields{}, feed.AllHalfLives))
	if shards == 1 {
		return
	}
	var found map[string]struct {
		Mappings json.RawMessage `json:"mappings"`
	}
	require.NoError(s.t, esindex.Ask(s.t.Context(), s.client, http.MethodGet, "/"+s.index+"/_mapping", "", nil, &found))
	s.send(http.MethodDelete, "/"+s.index, nil)
	s.send(http.MethodPut, "/"+s.index, fmt.Appendf(nil, `{"settings":{"number_of_shards":%d,"number_of_replicas":0},"mappings":%s}`, shards, found[s.index].Mappings))
}

func (s *system) put(items ...feed.Item) {
	s.t.Helper()
	refused, err := s.catalog.Put(s.t.Context(), items)
	require.NoError(s.t, err)
	require.Nil(s.t, refused)
}

func (s *system) look() {
	s.t.Helper()
	require.NoError(s.t, s.source.Update(s.t.Context()))
}

// ids returns the ids that a recall proposes now, and checks where it comes from.
func (s *system) ids(from string) []string {
	s.t.Helper()
	q := feed.Query{Origin: time.Unix(origin, 0), N: 1000, Ranking: feed.Ranking{Base: 1, Decay: feed.Decay{Scale: 24 * time.Hour, Decay: 0.5, Floor: 1e-6}}}
	r, err := s.source.Recall(s.t.Context(), q)
	require.NoError(s.t, err)
	out := []string{}
	for _, c := range r.Candidates {
		require.Equal(s.t, from, c.Source)
		out = append(out, c.ID)
	}
	slices.Sort(out)
	return out
}

const (
	origin    = 1_800_000_000
	inMemory  = "memory"
	inElastic = recallelastic.Name
)

func item(id string) feed.Item {
	return feed.Item{ID: id, Title: "Title of " + id, UpdateTime: origin - 100, Tags: []string{"a"}}
}

// copying is a source that copies each change before the next recall.
type copying struct {
	*Source
	*system
}

func (c copying) Upsert(items []feed.Item) {
	c.put(items...)
	c.look()
}

func (c copying) Delete(id string) {
	require.NoError(c.t, c.catalog.Remove(c.t.Context(), id))
	c.system.mu.Lock()
	delete(c.counts, id)
	c.system.mu.Unlock()
	c.Missing([]string{id})
	c.look()
}

func (c copying) SetCounts(counts map[string]feed.Counts) {
	c.system.mu.Lock()
	for id, n := range counts {
		c.counts[id] = n
	}
	c.system.mu.Unlock()
	unknown, again, err := c.catalog.SetCounts(c.t.Context(), counts)
	require.NoError(c.t, err)
	require.Empty(c.t, again)
	c.system.mu.Lock()
	for _, id := range unknown {
		delete(c.counts, id)
	}
	c.system.mu.Unlock()
	c.look()
}

// Recall fails the test if Elasticsearch answers.
func (c copying) Recall(ctx context.Context, q feed.Query) (recall.Result, error) {
	require.Equal(c.t, inMemory, c.Name())
	return c.Source.Recall(ctx, q)
}

func (c copying) Popular(ctx context.Context, spans []recall.Span, n int) ([][]recall.PopularItem, error) {
	return c.elastic.Popular(ctx, spans, n)
}

func TestConformance(t *testing.T) {
	t.Parallel()
	recalltest.Run(t, func(t *testing.T, items []feed.Item) recall.Source {
		s := open(t, 1)
		c := copying{s.source, s}
		s.clock.add(time.Hour)
		c.Upsert(items)
		s.clock.add(-time.Hour) // so that the copy stays current however long the test takes
		return c
	})
}

// TestCopyEqualsIndex changes an index of several shards from several goroutines while it is
// followed. At the end the copy has exactly the documents of the index, and both recall the same.
func TestCopyEqualsIndex(t *testing.T) {
	t.Parallel()
	s := open(t, 3)
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-done:
				return
			default:
				assert.NoError(t, s.source.Update(t.Context()))
			}
		}
	}()
	var writers sync.WaitGroup
	for w := range 3 {
		writers.Go(func() { s.changeAtRandom(rand.New(rand.NewPCG(uint64(w), 7)), 60) })
	}
	writers.Wait()
	close(done)
	<-stopped
	s.look()
	s.clock.add(time.Hour) // a comparison is due
	s.look()

	require.NoError(t, s.catalog.Refresh(t.Context()))
	want := map[string]bool{}
	for it, err := range s.all() {
		require.NoError(t, err)
		want[it] = true
	}
	got := map[string]bool{}
	for id := range s.follower.copied.index.IDs() {
		got[id] = true
	}
	require.NotEmpty(t, want)
	require.Equal(t, want, got)
	s.sameRecall()
}

// sameRecall checks that the copy and Elasticsearch recall the same.
func (s *system) sameRecall() {
	s.t.Helper()
	for _, p := range []feed.Profile{{}, {Interests: map[string]float64{"a": 2, "b": 1}, Keywords: feed.Keywords("changed")}, {MutedTags: []string{"b"}}} {
		q := feed.Query{Profile: p, Origin: time.Unix(origin, 0), N: 1000, Ranking: feed.Ranking{
			Base: 1, PopularityWeight: 0.5, Popularity2h: 1.5, Popularity2d: 0.2, Decay: feed.Decay{Scale: 24 * time.Hour, Decay: 0.5, Floor: 1e-6},
		}}
		want, err := s.elastic.Recall(s.t.Context(), q)
		require.NoError(s.t, err)
		got, err := s.source.Recall(s.t.Context(), q)
		require.NoError(s.t, err)
		require.NotEmpty(s.t, want.Candidates)
		byID := map[string]feed.Candidate{}
		for _, c := range got.Candidates {
			require.Equal(s.t, inMemory, c.Source)
			byID[c.ID] = c
		}
		require.Len(s.t, byID, len(want.Candidates))
		for _, c := range want.Candidates {
			other := byID[c.ID]
			assert.InEpsilon(s.t, c.Score, other.Score, 1e-4, c.ID)
			c.Score, c.Source = other.Score, other.Source
			assert.Equal(s.t, c, other)
		}
	}
}

// all yields the ids of the documents in the index.
func (s *system) all() func(yield func(string, error) bool) {
	return func(yield func(string, error) bool) {
		hits, err := esindex.Search[struct {
			ID string `json:"_id"`
		}](s.t.Context(), s.client, s.index, "", object{"size": 10_000, "_source": []string{"id"}, "query": object{"match_all": object{}}})
		if err != nil {
			yield("", err)
			return
		}
		for _, h := range hits {
			if !yield(h.ID, nil) {
				return
			}
		}
	}
}

// changeAtRandom makes a number of changes of every kind.
func (s *system) changeAtRandom(r *rand.Rand, n int) {
	for range n {
		id := fmt.Sprint("item", r.IntN(40))
		switch r.IntN(6) {
		case 0, 1:
			items := make([]feed.Item, 1+r.IntN(30))
			for i := range items {
				items[i] = item(fmt.Sprint("item", r.IntN(400)))
				items[i].Likes, items[i].UpdateTime = r.Int64N(100), origin-r.Int64N(5*86_400)
				items[i].Tags = [][]string{{"a"}, {"b"}, {"a", "b"}, nil}[r.IntN(4)]
			}
			slices.SortFunc(items, func(a, b feed.Item) int { return strings.Compare(a.ID, b.ID) })
			_, err := s.catalog.Put(s.t.Context(), slices.CompactFunc(items, func(a, b feed.Item) bool { return a.ID == b.ID }))
			assert.NoError(s.t, err)
		case 2:
			_, err := s.catalog.Update(s.t.Context(), []string{id}, func(it feed.Item) (feed.Item, error) {
				it.Title += " changed"
				return it, nil
			})
			assert.NoError(s.t, err)
		case 3:
			if err := s.catalog.Remove(s.t.Context(), id); err != nil {
				assert.ErrorIs(s.t, err, feed.ErrNotFound)
			}
		case 4:
			_, _, err := s.catalog.SetCounts(s.t.Context(), map[string]feed.Counts{id: feed.Counts{}.Add(origin - r.Int64N(86_400))})
			assert.NoError(s.t, err)
		case 5:
			_, _, err := s.catalog.SetCounts(s.t.Context(), map[string]feed.Counts{id: {}})
			assert.NoError(s.t, err)
		}
	}
}

func TestDeletedItemsLeaveCopy(t *testing.T) {
	t.Parallel()
	s := open(t, 1)
	s.put(item("a"), item("b"), item("c"))
	s.look()
	require.Equal(t, []string{"a", "b", "c"}, s.ids(inMemory))

	require.NoError(t, s.catalog.Remove(t.Context(), "a"))
	s.look()
	assert.Contains(t, s.ids(inMemory), "a", "recall only proposes")
	docs, err := s.source.Watch(s.catalog).Docs(t.Context(), []string{"a", "b"})
	require.NoError(t, err)
	require.Empty(t, docs[0].JSON)
	s.look()
	assert.Equal(t, []string{"b", "c"}, s.ids(inMemory), "a read has not found it")

	require.NoError(t, s.catalog.Remove(t.Context(), "b"))
	s.look()
	s.clock.add(comparePause)
	s.look()
	assert.Equal(t, []string{"c"}, s.ids(inMemory), "found by comparing all ids")

	s.source.Missing([]string{"c", "d"})
	s.put(item("d"))
	s.look()
	assert.Equal(t, []string{"c", "d"}, s.ids(inMemory), "what the index has stays, although a read did not find it")
}

// TestCopyOfReplacedIndex deletes the index and creates it again with one item; its sequence numbers
// start again.
func TestCopyOfReplacedIndex(t *testing.T) {
	t.Parallel()
	s := open(t, 1)
	s.put(item("a"), item("b"))
	s.look()
	s.send(http.MethodDelete, "/"+s.index, nil)
	require.Error(t, s.source.Update(t.Context()))
	s.create(2)
	s.put(item("c"))
	s.look()
	assert.Equal(t, []string{"c"}, s.ids(inMemory))
}

func TestElasticsearchAnswersWhileBehind(t *testing.T) {
	t.Parallel()
	s := open(t, 1)
	s.put(item("a"), item("b"))
	require.NoError(t, s.catalog.Refresh(t.Context()))
	assert.Equal(t, []string{"a", "b"}, s.ids(inElastic))
	_, why := s.source.State()
	assert.Contains(t, why, "waits for Elasticsearch")

	s.look()
	_, why = s.source.State()
	assert.Empty(t, why)
	q := feed.Query{Origin: time.Unix(origin, 0), N: 1, Ranking: feed.Ranking{Base: 1, Decay: feed.Decay{Scale: time.Hour, Decay: 0.5, Floor: 1e-6}}}
	first, err := s.source.Recall(t.Context(), q)
	require.NoError(t, err)
	require.Equal(t, inMemory, first.Candidates[0].Source)

	s.clock.add(MaxLag + time.Second)
	assert.Equal(t, []string{"a", "b"}, s.ids(inElastic))
	items, why := s.source.State()
	assert.Equal(t, 2, items)
	assert.Contains(t, why, "behind the index")
	q.After = first.Next
	second, err := s.source.Recall(t.Context(), q)
	require.NoError(t, err)
	require.Equal(t, inMemory, second.Candidates[0].Source, "later rounds go to the source of the first")
	require.NotEqual(t, first.Candidates[0].ID, second.Candidates[0].ID)

	q.After = ""
	first, err = s.source.Recall(t.Context(), q)
	require.NoError(t, err)
	require.Equal(t, inElastic, first.Candidates[0].Source)
	s.look()
	q.After = first.Next
	second, err = s.source.Recall(t.Context(), q)
	require.NoError(t, err)
	require.Equal(t, inElastic, second.Candidates[0].Source)
}

// TestIncompleteStateRefused checks that a state that lacks a shard is no state: the copy would lack
// its items.
func TestIncompleteStateRefused(t *testing.T) {
	t.Parallel()
	s := open(t, 3)
	for i := range 20 {
		s.put(item(fmt.Sprint(i)))
	}
	for missing := range 3 {
		s.client.set(editStats(func(shards map[string]any) { delete(shards, fmt.Sprint(missing)) }))
		require.ErrorIs(t, s.source.Update(t.Context()), esindex.ErrUnavailable)
		assert.Equal(t, inElastic, s.source.Name())
	}
	s.client.set(nil)
	s.look()
	require.Len(t, s.ids(inMemory), 20)
	s.client.set(editStats(func(shards map[string]any) { delete(shards, "2") }))
	require.Error(t, s.source.Update(t.Context()))
	require.Len(t, s.ids(inMemory), 20)
}

// editShard edits the state of the first shard's primary in the answers about the index.
func (s *system) editShard(edit func(shard map[string]any)) {
	s.client.set(editStats(func(shards map[string]any) { edit(shards["0"].([]any)[0].(map[string]any)) }))
}

// TestLostChangesStartCopyAnew changes a shard's history, as a forced allocation of an old copy does.
func TestLostChangesStartCopyAnew(t *testing.T) {
	t.Parallel()
	s := open(t, 1)
	s.put(item("a"), item("b"))
	s.look()
	copied := s.follower.copied
	s.editShard(func(shard map[string]any) {
		shard["commit"].(map[string]any)["user_data"].(map[string]any)["history_uuid"] = "another"
	})
	s.look()
	require.NotSame(t, copied, s.follower.copied)
	copied = s.follower.copied
	s.look()
	require.Same(t, copied, s.follower.copied)
}

// TestUncertainStateKeepsCopy has a shard report an earlier state, or none, as during a failover: the
// copy stays, and what changed meanwhile is read afterwards.
func TestUncertainStateKeepsCopy(t *testing.T) {
	t.Parallel()
	s := open(t, 1)
	s.put(item("a"), item("b"))
	s.look()
	copied := s.follower.copied
	s.put(item("c"))
	for name, edit := range map[string]func(shard map[string]any){
		"earlier":      func(shard map[string]any) { shard["seq_no"].(map[string]any)["global_checkpoint"] = 0 },
		"unknown":      func(shard map[string]any) { shard["seq_no"].(map[string]any)["global_checkpoint"] = -2 },
		"no numbers":   func(shard map[string]any) { delete(shard, "seq_no") },
		"no commit":    func(shard map[string]any) { delete(shard, "commit") },
		"initializing": func(shard map[string]any) { shard["routing"].(map[string]any)["state"] = "INITIALIZING" },
		"replica":      func(shard map[string]any) { shard["routing"].(map[string]any)["primary"] = false },
		"other node":   func(shard map[string]any) { shard["routing"].(map[string]any)["node"] = "elsewhere" },
	} {
		s.editShard(edit)
		require.Error(t, s.source.Update(t.Context()), name)
		require.Same(t, copied, s.follower.copied, name)
		require.Equal(t, []string{"a", "b"}, s.ids(inMemory), name)
	}
	s.client.set(nil)
	s.look()
	require.Equal(t, []string{"a", "b", "c"}, s.ids(inMemory))
}

// TestItemThatBecomesInvalid edits a document so that recall by Elasticsearch leaves it out.
func TestItemThatBecomesInvalid(t *testing.T) {
	t.Parallel()
	s := open(t, 1)
	s.put(item("a"), item("b"))
	s.look()
	require.Equal(t, []string{"a", "b"}, s.ids(inMemory))
	s.send(http.MethodPut, "/"+s.index+"/_doc/a", []byte(`{"id":"a","group_id":" ","title":"a","update_time":1}`))
	s.look()
	assert.Equal(t, []string{"b"}, s.ids(inMemory))
}

// TestPagesShrink has Elasticsearch refuse large pages.
func TestPagesShrink(t *testing.T) {
	t.Parallel()
	s := open(t, 1)
	items := make([]feed.Item, 200)
	for i := range items {
		items[i] = item(fmt.Sprint("item", i))
	}
	s.put(items...)
	s.client.set(func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
		if strings.Contains(req.URL.Path, "/_search") {
			body, err := req.GetBody()
			if err != nil {
				return nil, err
			}
			var asked struct{ Size int }
			if err := json.NewDecoder(body).Decode(&asked); err != nil {
				return nil, err
			}
			if asked.Size > 100 {
				return nil, fmt.Errorf("too much")
			}
		}
		return send()
	})
	s.look()
	assert.Len(t, s.ids(inMemory), 200)
}

// TestEveryRequestFailsOnce fails each request of an update in turn. The next update completes the
// copy.
func TestEveryRequestFailsOnce(t *testing.T) {
	t.Parallel()
	s := open(t, 2)
	want := []string{"a", "c"}
	for failing := 0; ; failing++ {
		s.put(item("a"), item("b"), item("c"))
		s.look()
		added := fmt.Sprint("new", failing)
		want = append(want, added)
		s.put(item(added), item("a"))
		require.NoError(t, s.catalog.Remove(t.Context(), "b"))
		s.clock.add(comparePause)
		s.source.Missing([]string{"b", "c"})
		requests := 0
		s.client.set(func(_ *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			requests++
			if requests == failing+1 {
				return nil, fmt.Errorf("connection reset")
			}
			return send()
		})
		err := s.source.Update(t.Context())
		s.client.set(nil)
		if requests <= failing {
			require.NoError(t, err)
			require.Greater(t, failing, 4, "an update makes several requests")
			return
		}
		s.look()
		require.Equal(t, want, s.ids(inMemory), "request %d failed", failing+1)
	}
}

// TestDocumentsThatAreNoItems puts documents into the index that recall by Elasticsearch leaves out,
// and one with a field that Elasticsearch cannot write as JSON, which only reads of contents notice.
func TestDocumentsThatAreNoItems(t *testing.T) {
	t.Parallel()
	s := open(t, 1)
	s.put(item("a"))
	for i, doc := range []string{`{}`, `{"id":"b"}`, `{"id":"c","title":"c","update_time":"never"}`, `{"title":"d","update_time":1}`, `{"id":"e e","title":"e","update_time":1}`, `{"id":"f","group_id":" ","title":"f","update_time":1}`} {
		_ = esindex.Do(t.Context(), s.client, http.MethodPut, fmt.Sprintf("/%s/_doc/doc%d", s.index, i), "", []byte(doc), nil) // refused or not
	}
	testenv.PutYAML(t, s.client, s.index, "odd", "id: odd\ntitle: t\nupdate_time: 1\nx: .nan\n")
	s.put(item("z"))
	s.look()
	assert.Equal(t, []string{"a", "odd", "z"}, s.ids(inMemory))
	s.clock.add(2 * MaxLag)
	assert.Equal(t, []string{"a", "odd", "z"}, s.ids(inElastic))
}
