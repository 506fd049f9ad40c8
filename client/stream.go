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
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
)

const (
	// streamSilence is how long a stream may be silent. A server sends something every
	// 15 s.
	streamSilence = time.Minute
	// longestStreamWait is the longest wait for a new try, whatever the server asks for.
	longestStreamWait = time.Hour
	// longestLine is the most of a line of a stream that is read.
	longestLine = 64 << 10
)

// News is an event of a stream.
type News struct {
	// ID is the position of the stream: give it to a later [Client.Stream].
	ID string `json:"-"`
	// Count is how many posts are new in the timeline since the news before, 99 for that many
	// or more. 0: the stream has begun, or has begun again.
	Count int `json:"count"`
}

// Stream calls GET /v1/stream and yields what it tells: that the agent's timeline has
// something new. last is the ID of the latest news that the caller knows of; "": from
// now on. When the stream ends, or the server cannot be reached or is busy, it
// connects again, where it has been; [WithRetryNotice] tells of that. It goes on until
// ctx ends or the server refuses the call, which the last error says.
func (c *Client) Stream(ctx context.Context, last string) iter.Seq2[News, error] {
	return func(yield func(News, error) bool) {
		s := &stream{client: c, last: last, pause: time.Second}
		waits := backoff.NewExponentialBackOff()
		for {
			began, err := s.connect(ctx, yield)
			if s.left {
				return
			}
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			if ctx.Err() != nil || !again(err, true) {
				yield(News{}, err)
				return
			}
			if began {
				waits.Reset()
			}
			if err := s.wait(ctx, err, waits.NextBackOff()); err != nil {
				yield(News{}, err)
				return
			}
		}
	}
}

// stream is a stream over all its connections.
type stream struct {
	client *Client
	last   string
	pause  time.Duration // as the server asks for
	left   bool          // the caller wants no more
}

// wait waits until it is time to connect again.
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

// connect yields what one connection tells. The error says why it ended; began is
// true where it had been accepted.
func (s *stream) connect(ctx context.Context, yield func(News, error) bool) (began bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	silence := time.AfterFunc(cmp.Or(s.client.timeout, streamSilence), cancel)
	defer silence.Stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.client.base+"/v1/stream", nil)
	if err != nil {
		return false, err
	}
	req.Header = s.client.header.Clone()
	req.Header.Set("Accept", "text/event-stream")
	if s.last != "" {
		req.Header.Set("Last-Event-ID", s.last)
	}
	res, err := s.client.http.Do(req)
	if err != nil {
		return false, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	defer func() { _ = res.Body.Close() }()
	if kind, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";"); res.StatusCode != http.StatusOK || kind != "text/event-stream" {
		answer, err := io.ReadAll(io.LimitReader(res.Body, longestLine))
		if err != nil {
			return false, fmt.Errorf("%w: %w", ErrUnreachable, err)
		}
		if _, err = open(res, answer); err == nil {
			err = ErrNotFreshet
		}
		return false, err
	}
	silence.Reset(streamSilence)
	return true, s.read(res.Body, func() { silence.Reset(streamSilence) }, yield)
}

// read yields the blocks of a stream until it ends.
func (s *stream) read(body io.Reader, heard func(), yield func(News, error) bool) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, longestLine)
	var id, event, data string
	began := false
	for lines.Scan() {
		heard()
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
		if id != "" { // the block is whole
			s.last = id
		}
		news, ok, err := s.news(event, data, began)
		if err != nil {
			return err
		}
		if ok && !yield(news, nil) {
			s.left = true
			return nil
		}
		began, event, data = true, "", ""
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%w: the stream broke off: %w", ErrUnreachable, err)
	}
	return fmt.Errorf("%w: it has ended the stream", ErrUnreachable)
}

// news decodes a block; false: it holds no event, such as a heartbeat.
func (s *stream) news(event, data string, began bool) (News, bool, error) {
	news := News{ID: s.last}
	if event != "new" {
		return news, !began, nil
	}
	if err := json.Unmarshal([]byte(data), &news); err != nil {
		return news, false, fmt.Errorf("the stream's event cannot be read: %w", err)
	}
	return news, true, nil
}
