package rss

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/mmcdole/gofeed"
)

// maxBytes is the largest feed that is read.
const maxBytes = 16 << 20

// source is one feed and what is known of it from earlier reads.
type source struct {
	name   string
	url    *url.URL // nil for a file
	client *http.Client
	agent  string

	etag, modified string            // of the last response that was stored
	next           validators        // of the response that is being stored
	seen           map[string]uint64 // hash of what was stored of each entry, by id; nil before the first read

	due      time.Time
	failures int
	gone     bool
	after    time.Duration // the pause that the server asked for
}

// validators say which version of a feed a response had (RFC 9110, section 8.8).
type validators struct{ etag, modified string }

// base returns the URL that relative links begin at; nil for a file.
func (s *source) base() *url.URL { return s.url }

// fetch reads the feed; nil if it has not changed since the last read.
func (s *source) fetch(ctx context.Context) (*gofeed.Feed, error) {
	s.after = 0
	if s.url == nil {
		file, err := os.Open(s.name)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }()
		return s.parse(file)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", s.agent)
	req.Header.Set("Accept", "application/atom+xml, application/rss+xml, application/feed+json, application/xml;q=0.9, */*;q=0.5")
	if s.etag != "" {
		req.Header.Set("If-None-Match", s.etag)
	}
	if s.modified != "" {
		req.Header.Set("If-Modified-Since", s.modified)
	}
	res, err := s.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	switch {
	case res.StatusCode == http.StatusNotModified:
		return nil, nil
	case res.StatusCode == http.StatusGone:
		return nil, ErrGone
	case res.StatusCode != http.StatusOK:
		s.after = retryAfter(res.Header.Get("Retry-After"))
		return nil, fmt.Errorf("the server answered %s", res.Status)
	}
	s.next = validators{res.Header.Get("ETag"), res.Header.Get("Last-Modified")}
	return s.parse(res.Body)
}

// retryAfter parses a number of seconds; dates and nonsense are 0.
func retryAfter(text string) time.Duration {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0
	}
	return min(time.Duration(n)*time.Second, longestWait)
}

func (s *source) parse(r io.Reader) (*gofeed.Feed, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxBytes {
		return nil, fmt.Errorf("the feed is larger than %d MiB", maxBytes>>20)
	}
	read, err := gofeed.NewParser().Parse(bytes.NewReader(data))
	if errors.Is(err, gofeed.ErrFeedTypeNotDetected) {
		return nil, notFeed(data, s.url)
	}
	if err != nil {
		return nil, fmt.Errorf("the feed cannot be parsed: %w", err)
	}
	if read.FeedType == "json" && read.FeedVersion == "" { // any JSON object is parsed as a feed
		return nil, notFeed(data, s.url)
	}
	return read, nil
}

// changed returns the entries that have not been stored as they are now.
func (s *source) changed(entries []entry) []entry {
	var list []entry
	for _, e := range entries {
		if s.seen[e.item.ID] != e.hash {
			list = append(list, e)
		}
	}
	return list
}

// remember keeps what was stored, of the entries that the feed still has.
func (s *source) remember(entries []entry) {
	s.seen = make(map[string]uint64, len(entries))
	for _, e := range entries {
		s.seen[e.item.ID] = e.hash
	}
	s.etag, s.modified = s.next.etag, s.next.modified
}

// schedule decides when the source is read again, and returns the pause until then: each failure in
// a row doubles it.
func (s *source) schedule(now time.Time, pause time.Duration, failed error) time.Duration {
	if errors.Is(failed, ErrGone) {
		s.gone = true
		return 0
	}
	wait := pause
	if failed == nil {
		s.failures = 0
	} else {
		s.failures++
		for n := 1; n < s.failures && wait < longestWait; n++ {
			wait *= 2
		}
		wait = max(pause, min(wait, longestWait), s.after)
	}
	s.due = now.Add(wait)
	return wait
}

// notFeed explains data that is no feed: often it is the page of a site that names its feed.
func notFeed(data []byte, page *url.URL) error {
	if !strings.Contains(strings.ToLower(string(data[:min(len(data), 1024)])), "<html") {
		return errors.New("this is no RSS, Atom or JSON feed")
	}
	link := linkedFeed(data)
	if link == "" {
		return errors.New("this is a web page, not a feed")
	}
	if page != nil {
		link = resolve(page, link)
	}
	return fmt.Errorf("this is a web page, not a feed; its feed is %s", link)
}
