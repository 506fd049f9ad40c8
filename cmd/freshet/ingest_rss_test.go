package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog/rss"
	"github.com/freshet/freshet/internal/testenv"
)

func rssFeed(titles ...string) string {
	var items strings.Builder
	for i, title := range titles {
		fmt.Fprintf(&items, "<item><title>%s</title><guid>https://daily.example/%d</guid></item>", title, i)
	}
	return `<rss version="2.0"><channel><title>Daily</title>` + items.String() + `</channel></rss>`
}

func TestIngestFeeds(t *testing.T) {
	t.Parallel()
	p := start(t, map[string]string{"DATA_DIR": t.TempDir()})
	feeds := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/feed" {
			http.Error(w, "<html></html>", http.StatusNotFound)
			return
		}
		_, _ = w.Write([]byte(rssFeed("One", "", "Two")))
	}))
	t.Cleanup(feeds.Close)
	ingest := func(args ...string) result {
		return freshet(t, "", append([]string{"ingest", "--server", p.url, "--token", adminToken, "--rss"}, args...)...)
	}
	got := ingest(feeds.URL+"/feed", feeds.URL+"/none")
	require.Equal(t, exitError, got.code)
	assert.Contains(t, got.out, feeds.URL+"/feed: 2 stored, 1 rejected: an entry has neither a title nor a text\n")
	assert.Contains(t, got.out, feeds.URL+"/none: the server answered 404 Not Found\n")
	assert.Contains(t, got.errs, "1 of 2 feeds could not be read or stored")

	again := ingest("--json", write(t, "feed.xml", rssFeed("One, edited", "Three")))
	require.Equal(t, exitOK, again.code, again.errs)
	var o rss.Outcome
	require.NoError(t, json.Unmarshal([]byte(again.out), &o))
	assert.Equal(t, 1, o.Stored, "an entry without a date keeps that of the first read")

	for _, args := range [][]string{{}, {"--every", "1s", "x"}, {"--graph", "x"}, {"--if-newer", "x"}, {"ftp://x/y"}, {"x", "x"}} {
		assert.Equal(t, exitUsage, ingest(args...).code, "%v", args)
	}
	assert.Equal(t, exitUsage, freshet(t, "", "ingest", "--every", "10m", "x").code)
	assert.Equal(t, exitUsage, freshet(t, "", "serve", "--rss", "x").code)
}

// TestIngestFeedsUntilInterrupted reads feeds until the command is interrupted.
func TestIngestFeedsUntilInterrupted(t *testing.T) {
	t.Parallel()
	p := start(t, map[string]string{"DATA_DIR": t.TempDir()})
	ctx, interrupt := context.WithCancel(t.Context())
	out := &buffer{}
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{"ingest", "--rss", "--every", "1m", "--server", p.url, "--token", adminToken, write(t, "feed.xml", rssFeed("One")), filepath.Join(t.TempDir(), "none")}, strings.NewReader(""), out, &bytes.Buffer{})
	}()
	testenv.WaitFor(t, func() bool { return strings.Count(out.String(), "\n") == 2 }, "both outcomes")
	assert.Contains(t, out.String(), "feed.xml: 1 stored\n")
	assert.Contains(t, out.String(), "no such file or directory, next try in 1m0s\n")
	interrupt()
	assert.Equal(t, exitOK, <-code)
}

// TestDemoFeeds serves the entries of a feed to the demo's readers.
func TestDemoFeeds(t *testing.T) {
	t.Parallel()
	p := start(t, map[string]string{"DATA_DIR": t.TempDir()}, "--demo", "--rss", write(t, "feed.xml", rssFeed("One", "Two")))
	testenv.WaitFor(t, func() bool { return strings.Contains(p.log.String(), "stored=2") }, "the feed to be read; the log:\n%s", p.log)
	got := freshet(t, "", "items", "list", "--server", p.url, "--token", adminToken)
	require.Equal(t, exitOK, got.code, got.errs)
	assert.Contains(t, got.out, "One")
	assert.NotContains(t, got.out, "doc_", "made-up items")
}
