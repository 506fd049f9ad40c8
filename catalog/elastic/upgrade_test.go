package elastic_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/catalog/elastic"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
)

// olderIndex makes an index as versions without token fields did, under alias or,
// where that is "", under its own name. The catalog writes tokens into it, as
// servers of this version do.
func olderIndex(t *testing.T, client esindex.Client, index, alias string, names esindex.Fields) (*elastic.Catalog, esindex.Report) {
	t.Helper()
	older := names
	older.TitleTokens, older.SummaryTokens = esindex.None, esindex.None
	body, err := esindex.Definition{Fields: older, Shards: 2, RefreshInterval: "1s"}.Items()
	require.NoError(t, err)
	require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, "/"+index, "", body, nil))
	name := index
	if alias != "" {
		name = alias
		require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, "/"+index+"/_alias/"+alias, "", nil, nil))
	}
	report, err := esindex.Inspect(t.Context(), client, name, names, "")
	require.NoError(t, err)
	require.True(t, report.Older)
	require.False(t, report.Schema.Tokens)
	own := names.WithDefaults()
	report.Schema = report.Schema.WritingTokens(own.TitleTokens, own.SummaryTokens)
	return elastic.New(client, elastic.Config{Index: name, Schema: esindex.Known(report.Schema)}), report
}

func numbered(from, to, version int) []feed.Item {
	items := make([]feed.Item, 0, to-from)
	for i := from; i < to; i++ {
		items = append(items, feed.Item{
			ID: fmt.Sprintf("i%d", i), Title: fmt.Sprintf("C++ number %d of version %d", i, version), UpdateTime: 1_700_000_000, Likes: int64(version),
			Business: map[string]json.RawMessage{"price": json.RawMessage(`1.50`)},
		})
	}
	return items
}

func putAll(t *testing.T, c *elastic.Catalog, items []feed.Item) {
	t.Helper()
	errs, err := c.Put(t.Context(), items)
	require.NoError(t, err)
	require.Nil(t, errs)
}

// found counts the items whose tokens have the phrase.
func found(t *testing.T, client esindex.Client, index, field, phrase string) int {
	t.Helper()
	require.NoError(t, esindex.Do(t.Context(), client, http.MethodPost, "/"+index+"/_refresh", "", nil, nil))
	var answer struct{ Count int }
	body := fmt.Appendf(nil, `{"query":{"match_phrase":{%q:%q}}}`, field, phrase)
	require.NoError(t, esindex.Do(t.Context(), client, http.MethodPost, "/"+index+"/_count", "", body,
		func(b []byte) error { return json.Unmarshal(b, &answer) }))
	return answer.Count
}

// TestUpgradeWhileServersWrite: what was confirmed before, while and after an index
// is brought over is in the new one, in its last version; what was removed is not.
func TestUpgradeWhileServersWrite(t *testing.T) {
	t.Parallel()
	client, index := connect(t)
	c, report := olderIndex(t, client, index, "", esindex.Fields{})
	// As an older version stored them: without tokens.
	plain := report.Schema.WritingTokens(esindex.None, esindex.None)
	putAll(t, elastic.New(client, elastic.Config{Index: index, Schema: esindex.Known(plain)}), numbered(0, 4000, 1))
	var writers sync.WaitGroup
	done := make(chan struct{})
	last := make([]map[int]int, 3) // per writer: the confirmed version of each item, -1 removed
	for w := range last {
		last[w] = map[int]int{}
		writers.Go(func() {
			for n := 2; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				i := w*1000 + n*37%1000
				version, err := n, retried(func() error { return putOne(t.Context(), c, numbered(i, i+1, n)) })
				if n%3 == 0 {
					version, err = -1, retried(func() error { return ignoreGone(c.Remove(t.Context(), fmt.Sprintf("i%d", i))) })
				}
				if !assert.NoError(t, err) {
					return
				}
				last[w][i] = version
			}
		})
	}
	got, err := elastic.Upgrade(t.Context(), client, index, report.Indices[0], esindex.Definition{}, report.Schema)
	require.NoError(t, err)
	require.Equal(t, index+"-v2", got.Index)
	close(done)
	writers.Wait()

	after, err := esindex.Inspect(t.Context(), client, index, esindex.Fields{}, "")
	require.NoError(t, err)
	require.Empty(t, after.Problems)
	require.Equal(t, []string{index + "-v2"}, after.Indices)
	require.True(t, after.Schema.Tokens)
	gone := 0
	for w := range last {
		require.NotEmpty(t, last[w])
		for i, version := range last[w] {
			docs, err := c.Docs(t.Context(), []string{fmt.Sprintf("i%d", i)})
			require.NoError(t, err)
			if version < 0 {
				gone++
				require.True(t, docs[0].Missing(), "i%d was removed", i)
				continue
			}
			want, err := json.Marshal(numbered(i, i+1, version)[0])
			require.NoError(t, err)
			require.Equal(t, string(want), string(docs[0].JSON), "its last version, byte for byte")
		}
	}
	require.Positive(t, gone)
	require.Equal(t, 4000-gone, found(t, client, index, esindex.DefaultTitleTokens, "c++ number"))
}

func putOne(ctx context.Context, c *elastic.Catalog, items []feed.Item) error {
	errs, err := c.Put(ctx, items)
	return errors.Join(append(errs, err)...)
}

func ignoreGone(err error) error {
	if errors.Is(err, catalog.ErrNotFound) {
		return nil
	}
	return err
}

// retried calls again while the catalog is unavailable, as uploaders do.
func retried(call func() error) error {
	for {
		if err := call(); !errors.Is(err, catalog.ErrUnavailable) {
			return err
		}
	}
}

// broken is a client that fails at one request, as when the doctor is ended there.
type broken struct {
	esindex.Client
	at string
}

func (b broken) Perform(req *http.Request) (*http.Response, error) {
	if strings.Contains(req.URL.Path, b.at) {
		return nil, errors.New("ended")
	}
	return b.Client.Perform(req)
}

// TestUpgradeAfterOneThatWasEnded ends it at each step, lets writers in again
// afterwards, and repeats it.
func TestUpgradeAfterOneThatWasEnded(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"_bulk", "_pit", "_stats", "_count", "_block", "_aliases"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			client, index := connect(t)
			names := esindex.Fields{Title: "headline", TitleTokens: "words.title"}
			c, report := olderIndex(t, client, index+"-1", index, names)
			putAll(t, c, numbered(0, 1500, 1))
			def := esindex.Definition{Fields: names}
			_, err := elastic.Upgrade(t.Context(), broken{client, step}, index, report.Indices[0], def, report.Schema)
			require.ErrorContains(t, err, "ended")
			putAll(t, c, numbered(1400, 1600, 2))

			got, err := elastic.Upgrade(t.Context(), client, index, report.Indices[0], def, report.Schema)
			require.NoError(t, err)
			require.Equal(t, 1600, got.Items)
			require.Equal(t, 1600, found(t, client, index, "words.title", "c++ number"))
			require.Equal(t, 200, found(t, client, index, "words.title", "of version 2"))
			putAll(t, c, numbered(0, 1, 3))
			// The old one stays: the name was an alias.
			require.NoError(t, esindex.Do(t.Context(), client, http.MethodDelete, "/"+index+"-1", "", nil, nil))
		})
	}
}

// TestUpgradeAfterAKill: one that was killed while nobody could write leaves the
// index blocked; writers wait until it is run again.
func TestUpgradeAfterAKill(t *testing.T) {
	t.Parallel()
	client, index := connect(t)
	c, report := olderIndex(t, client, index, "", esindex.Fields{})
	putAll(t, c, numbered(0, 10, 1))
	block := func() {
		require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, "/"+index+"/_block/write", "", nil, nil))
	}
	block()
	_, err := elastic.Upgrade(t.Context(), client, index, report.Indices[0], esindex.Definition{}, report.Schema)
	require.ErrorContains(t, err, "index.blocks.write", "somebody else's block is left alone")
	require.ErrorIs(t, putOne(t.Context(), c, numbered(0, 1, 2)), catalog.ErrUnavailable)

	require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, "/"+index+"-v2", "", nil, nil))
	_, err = elastic.Upgrade(t.Context(), client, index, report.Indices[0], esindex.Definition{}, report.Schema)
	require.NoError(t, err)
	putAll(t, c, numbered(0, 1, 2))
	require.Equal(t, 10, found(t, client, index, esindex.DefaultTitleTokens, "c++"))
}

// overtaken is a client of an upgrade that another one overtakes: before a request
// is sent, it starts.
type overtaken struct {
	esindex.Client
	at    string
	other func()
}

func (o overtaken) Perform(req *http.Request) (*http.Response, error) {
	if strings.HasSuffix(req.URL.Path, o.at) {
		o.other()
	}
	return o.Client.Perform(req)
}

// TestUpgradeOvertakenByAnother: two at once, as after a job that was given up too
// early, never let the name change over to what only one of them has begun.
func TestUpgradeOvertakenByAnother(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"/_bulk", "/_block/write", "/_aliases"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			client, index := connect(t)
			c, report := olderIndex(t, client, index, "", esindex.Fields{})
			putAll(t, c, numbered(0, 50, 1))
			upgrade := func(client esindex.Client) error {
				_, err := elastic.Upgrade(t.Context(), client, index, report.Indices[0], esindex.Definition{}, report.Schema)
				return err
			}
			var once sync.Once
			err := upgrade(overtaken{client, step, func() {
				once.Do(func() {
					assert.ErrorContains(t, upgrade(broken{client, "_bulk"}), "ended")
					putAll(t, c, numbered(50, 51, 1))
				})
			}})
			require.ErrorContains(t, err, "another doctor")
			putAll(t, c, numbered(51, 52, 1))
			require.Equal(t, 52, found(t, client, index, "title", "number"), "nothing is lost")
			require.NoError(t, upgrade(client))
			require.Equal(t, 52, found(t, client, index, esindex.DefaultTitleTokens, "c++ number"))
		})
	}
}

// late is a client whose first deletion reaches an index that is gone, as one does
// that is on its way while an upgrade removes the old index.
type late struct {
	esindex.Client
	path string
	once *sync.Once
}

func (l late) Perform(req *http.Request) (*http.Response, error) {
	if req.URL.Path == l.path {
		l.once.Do(func() { req.URL.Path = strings.Replace(l.path, "/_bulk", "-gone/_bulk", 1) })
	}
	return l.Client.Perform(req)
}

// TestRemoveWhileTheIndexChanges: a removal that finds the old index gone is not
// answered as one of an item that nobody has.
func TestRemoveWhileTheIndexChanges(t *testing.T) {
	t.Parallel()
	client, index := connect(t)
	c, report := olderIndex(t, client, index, "", esindex.Fields{})
	putAll(t, c, numbered(0, 1, 1))
	c = elastic.New(late{client, "/" + index + "/_bulk", new(sync.Once)}, elastic.Config{Index: index, Schema: esindex.Known(report.Schema)})
	require.ErrorIs(t, c.Remove(t.Context(), "i0"), catalog.ErrUnavailable)
	require.NoError(t, c.Remove(t.Context(), "i0"))
	require.ErrorIs(t, c.Remove(t.Context(), "i0"), catalog.ErrNotFound)
}
