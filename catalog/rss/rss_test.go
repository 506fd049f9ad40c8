package rss_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog/rss"
	"github.com/freshet/freshet/feed"
)

var readAt = time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)

// memory is a store.
type memory struct {
	mu    sync.Mutex
	items map[string]feed.Item
	puts  int
	err   error
}

func (m *memory) Put(_ context.Context, items []feed.Item, newer bool) (rss.Written, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return rss.Written{}, m.err
	}
	var w rss.Written
	for _, it := range items {
		was, ok := m.items[it.ID]
		if newer && ok && was.UpdateTime >= it.UpdateTime {
			continue
		}
		m.items[it.ID] = it
		m.puts++
		w.Stored++
	}
	return w, nil
}

func (m *memory) Dates(_ context.Context, ids []string) (map[string]int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	dates := map[string]int64{}
	for _, id := range ids {
		if it, ok := m.items[id]; ok {
			dates[id] = it.UpdateTime
		}
	}
	return dates, nil
}

func (m *memory) ids() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.items))
}

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "feed")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// once reads sources once into a new store.
func once(t *testing.T, sources ...string) (*memory, []rss.Outcome) {
	t.Helper()
	m := &memory{items: map[string]feed.Item{}}
	p, err := rss.New(sources, m, http.DefaultClient, "test", func() time.Time { return readAt })
	require.NoError(t, err)
	outcomes, err := p.Once(t.Context())
	require.NoError(t, err)
	return m, outcomes
}

const channel = `<?xml version="1.0"?><rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/" xmlns:dc="http://purl.org/dc/elements/1.1/">
<channel><title>The &amp; Daily</title><link>https://daily.example/</link><language>en-us</language>%s</channel></rss>`

func TestRSS(t *testing.T) {
	t.Parallel()
	m, outcomes := once(t, file(t, fmt.Sprintf(channel, `
<item><title>AT&amp;amp;T &lt;b&gt;buys&lt;/b&gt; a &lt;div&gt;</title><link>/a?x=1</link><guid isPermaLink="false">17</guid>
  <pubDate>Fri, 06 Mar 2026 09:00:00 GMT</pubDate><dc:creator>Ana &amp; Bo</dc:creator><category>Space</category><category>space</category>
  <category>https://daily.example/tag</category>
  <description>&lt;p&gt;One&lt;/p&gt;&lt;p&gt;two &lt;script&gt;alert(1)&lt;/script&gt;&amp;amp; three&lt;/p&gt;&lt;img width="1" src="p.gif"&gt;&lt;img src="/i.jpg"&gt;</description></item>
<item><title>Own picture</title><link>https://daily.example/b</link><guid>https://daily.example/b</guid><pubDate>Thu, 05 Mar 2026 09:00:00 +0100</pubDate>
  <media:group><media:content url="https://daily.example/m.png" medium="image"/></media:group><dc:language>pt_BR</dc:language></item>
<item><title>The same</title><guid>https://daily.example/b</guid><pubDate>Thu, 05 Mar 2026 09:00:00 +0100</pubDate></item>
<item><link>javascript:alert(1)</link><guid>18</guid></item>
<item><title>Tomorrow</title><link>https://daily.example/c</link><pubDate>Sat, 07 Mar 2026 09:00:00 GMT</pubDate></item>
<item><description>No title, but a text</description><guid>post:7</guid></item>`)))
	require.Equal(t, []rss.Outcome{{Source: outcomes[0].Source, Title: "The & Daily", Stored: 4, Rejected: 1, Reason: "an entry has neither a title nor a text"}}, outcomes)
	byTitle := map[string]feed.Item{}
	for _, it := range m.items {
		byTitle[it.Title] = it
	}
	a := byTitle["AT&T buys a <div>"]
	assert.Regexp(t, "^rss:[0-9a-f]{32}$", a.ID, "17 may be an entry of every other feed")
	assert.Equal(t, time.Date(2026, 3, 6, 9, 0, 0, 0, time.UTC).Unix(), a.UpdateTime)
	assert.Equal(t, "One two & three", a.Summary)
	assert.Equal(t, []string{"https://daily.example/a?x=1", "https://daily.example/i.jpg", "Ana & Bo", "en-US"}, []string{a.URL, a.ImageURL, a.AuthorID, a.Lang})
	assert.Equal(t, []string{"Space"}, a.Tags)
	assert.JSONEq(t, `"The & Daily"`, string(a.Business["source"]))
	b := byTitle["Own picture"]
	assert.Equal(t, []string{"https://daily.example/b", "https://daily.example/m.png", "pt-BR"}, []string{b.ID, b.ImageURL, b.Lang})
	assert.Equal(t, readAt.Unix(), byTitle["Tomorrow"].UpdateTime, "a date in the future would hide it")
	assert.Equal(t, "https://daily.example/c", byTitle["Tomorrow"].ID)
	assert.True(t, strings.HasPrefix(byTitle["No title, but a text"].ID, "rss:"), "the prefix is that of posts")
}

func TestAtomAndJSONFeed(t *testing.T) {
	t.Parallel()
	atom := file(t, `<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="de"><title>Notizen</title><link href="https://notes.example/"/><updated>2026-03-06T08:00:00Z</updated>
<entry><id>tag:notes.example,2026:1</id><title type="html">Ein &lt;i&gt;Wort&lt;/i&gt;</title><link rel="alternate" href="/1"/><published>2026-03-01T08:00:00Z</published>
<updated>2026-03-06T08:00:00Z</updated><author><name>Cy</name></author><category term="go"/><content type="html">&lt;p&gt;Text&lt;/p&gt;</content></entry></feed>`)
	jsonFeed := file(t, `{"version":"https://jsonfeed.org/version/1.1","title":"J","home_page_url":"https://j.example/","language":"ja","items":[
{"id":"https://j.example/1","url":"https://j.example/1","title":"One","content_text":"body","image":"https://j.example/1.png","date_published":"2026-03-06T08:00:00Z","tags":["x"],"authors":[{"name":"Di"}]}]}`)
	m, outcomes := once(t, atom, jsonFeed)
	require.Equal(t, []int{1, 1}, []int{outcomes[0].Stored, outcomes[1].Stored}, "%v", outcomes)
	one := m.items["tag:notes.example,2026:1"]
	assert.Equal(t, []string{"Ein Wort", "Text", "https://notes.example/1", "Cy"}, []string{one.Title, one.Summary, one.URL, one.AuthorID})
	assert.Equal(t, time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC).Unix(), one.UpdateTime, "an edit does not make it new")
	two := m.items["https://j.example/1"]
	assert.Equal(t, []string{"One", "body", "https://j.example/1.png", "Di", "ja", "x"}, []string{two.Title, two.Summary, two.ImageURL, two.AuthorID, two.Lang, two.Tags[0]})
}

func TestNotFeeds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, err string }{
		"page":           {`<!doctype html><html><head><title>x</title></head></html>`, "this is a web page, not a feed"},
		"page with feed": {`<html><head><link rel="alternate" type="application/rss+xml" href="https://x.example/rss"></head></html>`, "its feed is https://x.example/rss"},
		"nothing":        {"", "this is no RSS, Atom or JSON feed"},
		"items":          {`{"id":"a","title":"b"}`, "this is no RSS, Atom or JSON feed"},
		"cut off":        {`<rss version="2.0"><channel><item><title>a`, "the feed cannot be parsed"},
		"large":          {"<rss>" + strings.Repeat(" ", 16<<20), "larger than 16 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			good := file(t, fmt.Sprintf(channel, `<item><title>t</title><guid>g</guid></item>`))
			m, outcomes := once(t, file(t, test.text), good)
			require.ErrorContains(t, outcomes[0].Err, test.err)
			assert.Len(t, m.ids(), 1, "the other feed is stored")
		})
	}
	_, outcomes := once(t, filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, outcomes[0].Err, os.ErrNotExist)
	for _, source := range []string{"ftp://x.example/a", "https:///a", "http://[::1/a"} {
		_, err := rss.New([]string{source}, nil, nil, "", nil)
		require.Error(t, err, source)
	}
	_, err := rss.New([]string{"a", "a"}, nil, nil, "", nil)
	require.ErrorContains(t, err, "given twice")
}

// TestConditional checks that an unchanged feed costs neither a transfer nor a write, and that only
// what has changed is written.
func TestConditional(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	version, asked := 1, []string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		etag := fmt.Sprintf(`"%d"`, version)
		asked = append(asked, r.Header.Get("If-None-Match")+" "+r.Header.Get("User-Agent"))
		if r.Header.Get("If-None-Match") == etag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("ETag", etag)
		_, _ = fmt.Fprintf(w, channel, fmt.Sprintf(`<item><title>v%d</title><guid>a</guid></item><item><title>same</title><guid>b</guid></item>`, version))
	}))
	defer server.Close()
	m := &memory{items: map[string]feed.Item{}, err: errors.New("down")}
	at := readAt
	open := func() *rss.Poller {
		p, err := rss.New([]string{server.URL}, m, server.Client(), "freshet/1", func() time.Time { return at })
		require.NoError(t, err)
		return p
	}
	p := open()
	read := func() rss.Outcome {
		t.Helper()
		at = at.Add(time.Hour)
		outcomes, err := p.Once(t.Context())
		require.NoError(t, err)
		return outcomes[0]
	}
	require.ErrorIs(t, read().Err, m.err)
	m.err = nil
	require.Equal(t, 2, read().Stored, "what could not be stored is read again")
	require.True(t, read().Same)
	mu.Lock()
	version = 2
	mu.Unlock()
	require.Equal(t, 1, read().Stored)
	for id, it := range m.items {
		require.Equal(t, readAt.Add(2*time.Hour).Unix(), it.UpdateTime, "%s: an edit does not make it new", id)
	}
	require.Equal(t, []string{" freshet/1", " freshet/1", `"1" freshet/1`, `"1" freshet/1`}, asked)
	require.Equal(t, 3, m.puts)
	p = open() // a restart: entries without a date do not become new
	require.Zero(t, read().Stored)
}

// transport answers without a network, so that the clock can be a fake one.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestRun checks when feeds are read: on their time, later and later while they fail or ask for it, never again when they are gone.
func TestRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		reads := map[string][]time.Duration{}
		var mu sync.Mutex
		client := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			name := r.URL.Path[1:]
			reads[name] = append(reads[name], time.Since(began).Round(time.Minute))
			res := &http.Response{StatusCode: 200, Header: http.Header{}, Request: r, Body: io.NopCloser(strings.NewReader(fmt.Sprintf(channel, `<item><title>t</title><guid>g</guid></item>`)))}
			switch {
			case name == "gone":
				res.StatusCode = http.StatusGone
			case name == "busy" && len(reads[name]) == 1:
				res.StatusCode, res.Header = http.StatusTooManyRequests, http.Header{"Retry-After": {"3600"}}
			case name == "broken" && len(reads[name]) < 4:
				return nil, errors.New("refused")
			case name == "panics":
				panic("broken")
			}
			return res, nil
		})}
		m := &memory{items: map[string]feed.Item{}}
		p, err := rss.New([]string{"http://x.example/good", "http://x.example/gone", "http://x.example/busy", "http://x.example/broken", "http://x.example/panics"}, m, client, "test", time.Now)
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Minute)
		defer cancel()
		failed := map[string]int{}
		p.Run(ctx, 10*time.Minute, func(o rss.Outcome) {
			mu.Lock()
			defer mu.Unlock()
			if o.Err != nil {
				failed[o.Source[len("http://x.example/"):]]++
				assert.Equal(t, errors.Is(o.Err, rss.ErrGone), o.Next == 0)
			}
		})
		minutes := func(list ...int) (out []time.Duration) {
			for _, m := range list {
				out = append(out, time.Duration(m)*time.Minute)
			}
			return out
		}
		assert.Equal(t, minutes(0, 10, 20, 30, 40, 50, 60, 70, 80, 90), reads["good"][:10])
		assert.Equal(t, minutes(0), reads["gone"])
		assert.Equal(t, minutes(0, 60, 70, 80, 90), reads["busy"][:5])
		assert.Equal(t, minutes(0, 10, 30, 70, 80, 90), reads["broken"][:6])
		assert.Equal(t, minutes(0, 10, 30, 70), reads["panics"])
		assert.Equal(t, map[string]int{"gone": 1, "busy": 1, "broken": 3, "panics": 4}, failed)
	})
}
