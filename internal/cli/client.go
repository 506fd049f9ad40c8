// Package cli is the client's side of the commands: it calls a Freshet server
// over HTTP, uploads files of items and writes pages as tables.
package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// maxAnswer bounds what is read of an answer. The largest are pages: a hundred
// items of up to 256 KiB.
const maxAnswer = 64 << 20

// longestAnswer is how long a server may take to begin its answer once it has
// the request; storing an upload is the slowest thing it does.
const longestAnswer = 10 * time.Minute

// Client calls one server.
type Client struct {
	base   string
	header http.Header
	http   *http.Client
	tries  int
	pause  time.Duration
	notify func(cause error, wait time.Duration)
}

// Option changes a [Client].
type Option func(*Client)

// WithToken sends a Bearer token, unless it is empty.
func WithToken(token string) Option {
	return func(c *Client) {
		if token != "" {
			c.header.Set("Authorization", "Bearer "+token)
		}
	}
}

// WithAgent names the agent that calls.
func WithAgent(id string) Option {
	return func(c *Client) { c.header.Set("X-Agent-ID", id) }
}

// WithRetries asks up to tries times while the server cannot be reached or
// says that it is busy. The first wait is pause, each further one twice as
// long, at most 10 s, or what Retry-After asks for if that is longer. notify,
// if not nil, is told before each wait. Only for calls that may be repeated.
func WithRetries(tries int, pause time.Duration, notify func(cause error, wait time.Duration)) Option {
	return func(c *Client) { c.tries, c.pause, c.notify = tries, pause, notify }
}

// New makes a client of the server at a URL such as http://127.0.0.1:8080.
func New(server string, options ...Option) (*Client, error) {
	u, err := url.Parse(server)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("the server must be a URL such as http://127.0.0.1:8080, not %q", server)
	}
	// Copied, so that closing this client's idle connections leaves others alone.
	transport, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil, errors.New("the default HTTP transport was replaced by one that cannot be copied")
	}
	copied := transport.Clone()
	copied.ResponseHeaderTimeout = longestAnswer
	c := &Client{
		base:   strings.TrimSuffix(server, "/"),
		header: http.Header{"User-Agent": {"freshet"}, "Accept": {"application/json"}},
		http:   &http.Client{Transport: copied},
		tries:  1,
	}
	for _, option := range options {
		option(c)
	}
	return c, nil
}

// Close ends the idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Refused is an answer that is not a success.
type Refused struct {
	Status int    // of HTTP
	Code   int    // of the envelope; 0: the answer was none of Freshet's
	Msg    string // why
}

// Error says what the server said, and what to do where that is known.
func (r *Refused) Error() string {
	s := fmt.Sprintf("the server answered %d %s", r.Status, http.StatusText(r.Status))
	if r.Code != 0 {
		s = fmt.Sprintf("the server answered %d (%d): %s", r.Status, r.Code, r.Msg)
	}
	if r.Status == http.StatusUnauthorized || r.Status == http.StatusForbidden {
		s += " (give the token with --token)"
	}
	return s
}

// busy is a failure that may pass.
type busy struct {
	error
	after time.Duration // what Retry-After asks for; 0: nothing
}

func (b *busy) Unwrap() error { return b.error }

// Body is a request body; zero is none.
type Body struct {
	Data     []byte
	Type     string // Content-Type
	Encoding string // Content-Encoding, "" as it is
}

// Call makes a request and returns the data of the answer's envelope. An
// answer that is no success is a [*Refused].
func (c *Client) Call(ctx context.Context, method, path string, body Body) (json.RawMessage, error) {
	waits := backoff.NewExponentialBackOff()
	waits.InitialInterval, waits.Multiplier, waits.MaxInterval = c.pause, 2, 10*time.Second
	for try := 1; ; try++ {
		data, err := c.once(ctx, method, path, body)
		var again *busy
		if err == nil || try >= c.tries || !errors.As(err, &again) || ctx.Err() != nil {
			return data, err
		}
		wait := max(waits.NextBackOff(), again.after)
		if c.notify != nil {
			c.notify(again.error, wait)
		}
		if err := sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *Client) once(ctx context.Context, method, path string, body Body) (json.RawMessage, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body.Data))
	if err != nil {
		return nil, err
	}
	req.Header = c.header.Clone()
	if body.Type != "" {
		req.Header.Set("Content-Type", body.Type)
	}
	if body.Encoding != "" {
		req.Header.Set("Content-Encoding", body.Encoding)
	}
	res, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, &busy{error: fmt.Errorf("cannot reach the server: %w", err)}
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, &busy{error: fmt.Errorf("the server's answer broke off: %w", err)}
	}
	return read(res, answer)
}

// read takes the envelope off an answer.
func read(res *http.Response, answer []byte) (json.RawMessage, error) {
	var envelope struct {
		Code *int            `json:"code"`
		Msg  string          `json:"msg"`
		Data json.RawMessage `json:"data"`
	}
	ours := json.Unmarshal(answer, &envelope) == nil && envelope.Code != nil
	switch {
	case ours && *envelope.Code == 0 && res.StatusCode < 300:
		return envelope.Data, nil
	case !ours && res.StatusCode < 300:
		return nil, fmt.Errorf("what answered is not a Freshet server (%s, %d bytes)", res.Header.Get("Content-Type"), len(answer))
	}
	refused := &Refused{Status: res.StatusCode}
	if ours {
		refused.Code, refused.Msg = *envelope.Code, envelope.Msg
	}
	switch res.StatusCode {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusBadGateway, http.StatusGatewayTimeout:
		return nil, &busy{error: refused, after: retryAfter(res.Header.Get("Retry-After"))}
	}
	return nil, refused
}

// retryAfter reads the form in seconds; the form as a date is for caches.
func retryAfter(header string) time.Duration {
	seconds, err := strconv.Atoi(header)
	if err != nil || seconds < 0 || seconds > int(time.Hour/time.Second) {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
