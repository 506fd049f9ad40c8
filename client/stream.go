package client

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
)

const (
	// streamSilence is how long a stream may be silent. A server sends something every 15 s.
	streamSilence = time.Minute
	// longestStreamWait is the longest wait before reconnecting, even if the server asks for more.
	longestStreamWait = time.Hour
	// longestLine is the maximum length of a line of a stream.
	longestLine = 64 << 10
)

// News is an event of a stream.
type News struct {
	// ID is the position in the stream; pass it to a later [Client.Stream].
	ID string `json:"-"`
	// Count is the number of new posts in the timeline since the previous event, 99 for that many or
	// more. 0 means that the stream has started, or restarted.
	Count int `json:"count"`
}

// StreamEvent is an event of [Client.StreamEvents].
type StreamEvent struct {
	News
	// Notified means that the event is about notifications alone, and Count 0. Unread is then the number of
	// unread ones, 99 for that many or more: there is a new one, one was undone, or the agent has seen some on a device.
	Notified bool
	Unread   int
}

// Stream calls GET /v1/stream and yields an event whenever the agent's timeline has new posts. last
// is the ID of the latest event that the caller has; "" starts now. When the stream ends, or the
// server is unreachable or busy, Stream reconnects and resumes at the same position, after
// notifying [WithRetryNotice]. It continues until ctx ends or the server refuses the call, which
// the last error reports.
func (c *Client) Stream(ctx context.Context, last string) iter.Seq2[News, error] {
	return func(yield func(News, error) bool) {
		for event, err := range c.StreamEvents(ctx, last) {
			if !event.Notified && !yield(event.News, err) {
				return
			}
		}
	}
}

// StreamEvents is [Client.Stream] with the events about notifications. A stream begins with one if there are unread
// ones.
func (c *Client) StreamEvents(ctx context.Context, last string) iter.Seq2[StreamEvent, error] {
	return func(yield func(StreamEvent, error) bool) {
		s := &stream{client: c, yield: yield, last: last, pause: time.Second}
		waits := backoff.NewExponentialBackOff()
		for {
			began, err := s.connect(ctx)
			if s.left {
				return
			}
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			if ctx.Err() != nil || !mayRetry(err, true) {
				yield(StreamEvent{}, err)
				return
			}
			if began {
				waits.Reset()
			}
			if err := s.wait(ctx, err, waits.NextBackOff()); err != nil {
				yield(StreamEvent{}, err)
				return
			}
		}
	}
}

// stream is a stream over all its connections.
type stream struct {
	client  *Client
	yield   func(StreamEvent, error) bool
	silence *time.Timer // ends the connection
	last    string
	pause   time.Duration // as requested by the server
	left    bool          // the caller has stopped iterating
}

// wait waits until the next attempt to connect.
func (s *stream) wait(ctx context.Context, cause error, least time.Duration) error {
	wait := max(least, s.pause)
	var refused *Error
	if errors.As(cause, &refused) {
		wait = max(wait, refused.RetryAfter)
	}
	wait = min(wait, longestStreamWait)
	if s.client.notify != nil {
		s.client.notify(cause, wait)
	}
	return sleep(ctx, wait)
}

// connect yields the events of one connection. The error is the reason why it ended; began reports
// whether the server had accepted it.
func (s *stream) connect(ctx context.Context) (began bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.silence = time.AfterFunc(cmp.Or(s.client.timeout, streamSilence), cancel)
	defer s.silence.Stop()
	header := http.Header{}
	if s.last != "" {
		header.Set("Last-Event-ID", s.last)
	}
	res, err := s.client.follow(ctx, "/v1/stream", "text/event-stream", header)
	if err != nil {
		return false, err
	}
	defer func() { _ = res.Body.Close() }()
	return true, s.read(res.Body)
}

// follow sends a request for an answer of a content type that is read as it comes. The caller closes its
// body.
func (c *Client) follow(ctx context.Context, path, accept string, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path, nil)
	if err != nil {
		return nil, err
	}
	req.Header = c.header.Clone()
	maps.Copy(req.Header, header)
	req.Header.Set("Accept", accept)
	res, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	kind, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
	if res.StatusCode == http.StatusOK && kind == accept {
		return res, nil
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(res.Body, longestLine))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	if _, err = open(res, answer); err == nil {
		err = ErrNotFreshet
	}
	return nil, err
}

// read yields the events of a stream until it ends.
func (s *stream) read(body io.Reader) error {
	s.silence.Reset(streamSilence)
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, longestLine)
	var id, event, data string
	began := false
	for lines.Scan() {
		s.silence.Reset(streamSilence)
		name, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "id":
			id = value
		case "event":
			event = value
		case "data":
			data += value
		case "retry":
			if ms, err := strconv.Atoi(value); err == nil && ms >= 0 {
				s.pause = time.Duration(min(ms, int(longestStreamWait/time.Millisecond))) * time.Millisecond
			}
		}
		if lines.Text() != "" {
			continue
		}
		if id != "" { // the block is complete
			s.last = id
		}
		news, ok, err := s.news(event, data, began)
		if err != nil {
			return err
		}
		if ok && !s.yield(news, nil) {
			s.left = true
			return nil
		}
		began, event, data = true, "", ""
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%w: the stream was cut off: %w", ErrUnreachable, err)
	}
	return fmt.Errorf("%w: it ended the stream", ErrUnreachable)
}

// news decodes a block. It returns false if the block contains no event, such as a heartbeat, or one that is
// not known.
func (s *stream) news(event, data string, began bool) (StreamEvent, bool, error) {
	news := StreamEvent{News: News{ID: s.last}}
	var content struct{ Count, Unread int }
	switch event {
	case "new", "notification":
		if err := json.Unmarshal([]byte(data), &content); err != nil {
			return news, false, fmt.Errorf("decode an event of the stream: %w", err)
		}
	default:
		return news, !began, nil
	}
	news.Count, news.Unread, news.Notified = content.Count, content.Unread, event == "notification"
	return news, true, nil
}
