package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// maxAnswer bounds the size of a response in bytes. The largest are pages: a hundred items of up to
// 256 KiB.
const maxAnswer = 64 << 20

// Request is one call. The methods of this package create them; programs need them only for routes
// that have no method here.
type Request struct {
	Method   string
	Path     string      // escaped, with the query; starts with a slash
	Body     []byte      // nil for none
	Type     string      // Content-Type of the body; "" is application/json
	Encoding string      // Content-Encoding of the body; "" for none
	Header   http.Header // additional headers, such as If-Match

	// Repeatable means that the call may be repeated when it is unknown whether it was executed. Other
	// calls are only repeated if the server cannot have started them.
	Repeatable bool
	// Within limits the start of the last attempt, from the start of the call; 0 sets no limit.
	Within time.Duration
	// Timeout limits one attempt; 0 means the value of [WithTimeout].
	Timeout time.Duration
}

// Response is a successful response.
type Response struct {
	Status int
	Header http.Header
	Data   json.RawMessage // of the envelope; nil if it has none
}

// longestRetryAfter is the longest wait that a server can request without ending the call.
const longestRetryAfter = time.Minute

// Do makes a call and repeats it if that is safe and [WithRetries] allows it. A response that is
// not a success is an [*Error]. This includes redirects: following one would send tokens to another
// host.
//
// Calls of one agent that change one resource (PUT, PATCH or DELETE of one path) are made one after
// the other, so that the last one takes effect. A call without a body, such as a like, ends the
// retries of those before it, which fail with [ErrSuperseded].
func (c *Client) Do(ctx context.Context, r Request) (Response, error) {
	if changesSomething(r.Method) {
		return c.inTurn(ctx, r)
	}
	return c.tryAll(ctx, ctx, r)
}

// tryAll makes a call until it gets a response. When waits ends there is no further attempt.
func (c *Client) tryAll(ctx, waits context.Context, r Request) (Response, error) {
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval, pauses.Multiplier, pauses.MaxInterval = c.pause, 2, 10*time.Second
	start := time.Now()
	for try := 1; ; try++ {
		res, err := c.once(ctx, r)
		isLast := try >= c.tries || waits.Err() != nil
		if err == nil || isLast || !mayRetry(err, r.Repeatable) {
			return res, err
		}
		wait := pauses.NextBackOff()
		var refused *Error
		tooLong := false
		if errors.As(err, &refused) {
			wait, tooLong = max(wait, refused.RetryAfter), refused.RetryAfter > longestRetryAfter
		}
		// The server's error is more informative than a deadline that is certain to expire.
		begins := time.Now().Add(wait)
		until, limited := ctx.Deadline()
		afterDeadline := limited && begins.After(until)
		afterWithin := r.Within > 0 && begins.After(start.Add(r.Within))
		if tooLong || afterDeadline || afterWithin {
			return res, err
		}
		if c.notify != nil {
			c.notify(err, wait)
		}
		if sleep(waits, wait) != nil {
			return Response{}, ended(ctx)
		}
	}
}

// mayRetry reports whether another attempt may help and is safe.
func mayRetry(err error, repeatable bool) bool {
	var refused *Error
	if errors.As(err, &refused) {
		switch refused.Status {
		case http.StatusTooManyRequests: // refused before anything was done
			return true
		case http.StatusServiceUnavailable, http.StatusBadGateway, http.StatusGatewayTimeout:
			return repeatable
		}
		return false
	}
	if !errors.Is(err, ErrUnreachable) {
		return false
	}
	var network *net.OpError
	neverSent := errors.As(err, &network) && network.Op == "dial"
	return neverSent || repeatable
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

// once makes one attempt, limited by the timeout of the request or the client.
func (c *Client) once(ctx context.Context, r Request) (Response, error) {
	limit := cmp.Or(r.Timeout, c.timeout)
	if limit <= 0 {
		return c.send(ctx, r)
	}
	tries, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	res, err := c.send(tries, r)
	if err != nil && tries.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w: no response within %s", ErrUnreachable, limit)
	}
	return res, err
}

func (c *Client) send(ctx context.Context, r Request) (Response, error) {
	var body io.Reader // a nil Reader, so that a call without a body declares none
	if r.Body != nil {
		body = bytes.NewReader(r.Body)
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, c.base+r.Path, body)
	if err != nil {
		return Response{}, err
	}
	req.Header = c.header.Clone()
	for name, values := range r.Header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	if r.Body != nil {
		req.Header.Set("Content-Type", cmp.Or(r.Type, "application/json"))
	}
	if r.Encoding != "" {
		req.Header.Set("Content-Encoding", r.Encoding)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return Response{}, unreached(ctx, err)
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil {
		return Response{}, unreached(ctx, fmt.Errorf("the response was cut off: %w", err))
	}
	if len(answer) > maxAnswer {
		return Response{}, fmt.Errorf("%w: it is larger than %d MiB", ErrNotFreshet, maxAnswer>>20)
	}
	return open(res, answer)
}

// unreached returns the context's error if that ended the call, otherwise [ErrUnreachable].
func unreached(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%w: %w", ErrUnreachable, err)
}

// open decodes the envelope of a response.
func open(res *http.Response, answer []byte) (Response, error) {
	var envelope struct {
		Code *int            `json:"code"`
		Msg  string          `json:"msg"`
		Data json.RawMessage `json:"data"`
	}
	ours := json.Unmarshal(answer, &envelope) == nil && envelope.Code != nil
	success := res.StatusCode >= 200 && res.StatusCode < 300
	switch {
	case success && ours && *envelope.Code == 0:
		return Response{Status: res.StatusCode, Header: res.Header, Data: envelope.Data}, nil
	case success && !ours:
		return Response{}, fmt.Errorf("%w (%s, %d bytes)", ErrNotFreshet, res.Header.Get("Content-Type"), len(answer))
	}
	refused := &Error{
		Status:     res.StatusCode,
		RetryAfter: retryAfter(res.Header),
		RequestID:  res.Header.Get("X-Request-ID"),
	}
	to, err := res.Location()
	if err == nil && res.StatusCode >= 300 && res.StatusCode < 400 {
		refused.Location = to.String()
	}
	if ours {
		refused.Code, refused.Msg, refused.Data = *envelope.Code, envelope.Msg, envelope.Data
	}
	return Response{}, refused
}

// retryAfter returns the wait from the Retry-After header, given in seconds or as a date by the
// server's clock; 0 if there is none.
func retryAfter(header http.Header) time.Duration {
	value := header.Get("Retry-After")
	if seconds, err := strconv.ParseInt(value, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(min(max(seconds, 0), int64(math.MaxInt64/time.Second))) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return max(0, at.Sub(now))
}

// run makes a call without a body, ignoring any data in the response.
func (c *Client) run(ctx context.Context, method, path string) error {
	_, err := c.Do(ctx, Request{Method: method, Path: path, Repeatable: true})
	return err
}

// v1 returns the path of a route with escaped names, which may contain any characters, including
// slashes.
func v1(parts ...string) string {
	path := "/v1"
	for _, part := range parts {
		path += "/" + url.PathEscape(part)
	}
	return path
}

// call makes a call and decodes the data of its response.
func call[T any](ctx context.Context, c *Client, r Request) (T, error) {
	var data T
	res, err := c.Do(ctx, r)
	if err != nil {
		return data, err
	}
	if err := json.Unmarshal(res.Data, &data); err != nil {
		return data, fmt.Errorf("decode the response to %s %s: %w", r.Method, r.Path, err)
	}
	if kept, ok := any(&data).(interface{ keep(data json.RawMessage) }); ok {
		kept.keep(res.Data)
	}
	return data, nil
}

// rawResponse holds the data of a response as received, in addition to the decoded fields.
type rawResponse struct {
	Raw json.RawMessage `json:"-"` // all of its data
}

func (r *rawResponse) keep(data json.RawMessage) { r.Raw = data }

// send is [call] with a body that it encodes first; the call is not repeated unless r is
// Repeatable.
func send[T any](ctx context.Context, c *Client, r Request, body any) (T, error) {
	var err error
	if r.Body, err = json.Marshal(body); err != nil {
		var none T
		return none, err
	}
	return call[T](ctx, c, r)
}
