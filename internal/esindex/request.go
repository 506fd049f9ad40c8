package esindex

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
)

// ErrUnavailable is wrapped by errors that mean that Elasticsearch was unreachable, or too busy to
// answer; a later retry may succeed.
var ErrUnavailable = errors.New("elasticsearch is unavailable")

// Error is the refusal of a request, by Elasticsearch or by a proxy in front of it.
type Error struct {
	Status  int
	Type    string
	Reason  string
	Foreign bool // the answer is not in Elasticsearch's form: a proxy's own page, or empty
}

func (e *Error) Error() string {
	return fmt.Sprintf("elasticsearch answered %d %s: %s", e.Status, e.Type, e.Reason)
}

// The types of refusals by an index that was deleted or closed.
const (
	notFound = "index_not_found_exception"
	closed   = "index_closed_exception"
)

// Unwrap returns [ErrUnavailable] for every refusal except those caused by the request itself: one
// that Elasticsearch does not understand, and a conflict with a concurrent change. All others end
// when their cause is fixed: the node, the index, the user's rights, a proxy.
func (e *Error) Unwrap() error {
	if e.ofRequest() {
		return nil
	}
	return ErrUnavailable
}

// ofIndex are the types of refusals because an index does not exist, is blocked until its disk has
// room again, or was just created or moved and its shard does not accept requests yet.
var ofIndex = []string{"cluster_block_exception", "illegal_index_shard_state_exception", notFound, closed}

// ofRequest reports whether the refusal is caused by the request itself, or comes from an ingest
// pipeline of the index that rejects the document, with status 500.
func (e *Error) ofRequest() bool {
	about := e.Status == http.StatusBadRequest || e.Status == http.StatusConflict || e.Type == "fail_processor_exception"
	return about && !e.Foreign && !slices.Contains(ofIndex, e.Type)
}

// busy are the statuses of a node that is overloaded, starting, or without the shard, or of a proxy
// in front of it.
var busy = []int{http.StatusTooManyRequests, http.StatusRequestTimeout, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}

// passes reports whether the refusal may end without intervention.
func (e *Error) passes() bool {
	return e.Foreign || slices.Contains(ofIndex, e.Type) || slices.Contains(busy, e.Status)
}

// Missing reports whether err is a refusal because the index does not exist.
func Missing(err error) bool { return IsType(err, notFound) }

// Gone reports whether err is a refusal because the index does not exist or is closed.
func Gone(err error) bool { return Missing(err) || IsType(err, closed) }

// Refused reports whether err is an answer of Elasticsearch that waiting is not expected to change:
// the request, the index or the user's rights must change.
func Refused(err error) bool {
	var e *Error
	return errors.As(err, &e) && (!e.passes() || Gone(e))
}

// IsType reports whether err is a refusal of this type.
func IsType(err error, name string) bool {
	var e *Error
	return errors.As(err, &e) && e.Type == name
}

var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxPooled is the largest buffer, in bytes, that is pooled.
const maxPooled = 1 << 20

// Do sends one request and passes the body of the answer to read, which must not retain it. A
// refusal is an [*Error]; a failed connection and an exceeded deadline wrap [ErrUnavailable]; a
// cancelled context returns its own error.
func Do(ctx context.Context, client Client, method, path, query string, body []byte, read func([]byte) error) error {
	req := (&http.Request{
		Method: method, URL: &url.URL{Path: path, RawQuery: query}, Header: http.Header{},
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(ctx)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
		req.ContentLength = int64(len(body))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		req.Body, _ = req.GetBody()
	}
	res, err := client.Perform(req)
	if err != nil {
		return unavailable(ctx, err)
	}
	defer func() { _ = res.Body.Close() }()
	return readAnswer(ctx, res, method, read)
}

// Ask is [Do] with JSON: it encodes the request, unless that is nil or []byte, and decodes the
// answer into a value. If answer is nil, the body is ignored.
func Ask(ctx context.Context, client Client, method, path, query string, request, answer any) (err error) {
	body, encoded := request.([]byte)
	if !encoded && request != nil {
		if body, err = json.Marshal(request); err != nil {
			return err
		}
	}
	return Do(ctx, client, method, path, query, body, func(data []byte) error {
		if answer == nil {
			return nil
		}
		if err := json.Unmarshal(data, answer); err != nil {
			return fmt.Errorf("decode the elasticsearch response: %w", err)
		}
		return nil
	})
}

// Found is the response to a search.
type Found[H any] struct {
	Hits struct {
		Hits []H `json:"hits"`
	} `json:"hits"`
}

// Search returns the hits of a search in all shards; missing shards are an error. params are
// further parameters, each followed by an &.
func Search[H any](ctx context.Context, client Client, index, params string, request any) ([]H, error) {
	var found Found[H]
	err := Ask(ctx, client, http.MethodPost, "/"+index+"/_search", params+wholeAnswer, request, &found)
	return found.Hits.Hits, err
}

// wholeAnswer is the search parameter that makes missing shards an error.
const wholeAnswer = "allow_partial_search_results=false"

// readAnswer reads the response to a request with this method.
func readAnswer(ctx context.Context, res *http.Response, method string, read func([]byte) error) error {
	buf := bodies.Get().(*bytes.Buffer)
	defer func() {
		if buf.Cap() <= maxPooled {
			bodies.Put(buf)
		}
	}()
	buf.Reset()
	if _, err := buf.ReadFrom(res.Body); err != nil {
		return unavailable(ctx, err)
	}
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return refusal(res, method, buf.Bytes())
	}
	if read == nil {
		return nil
	}
	err := read(buf.Bytes())
	if err != nil && !json.Valid(buf.Bytes()) { // a proxy, or a node that died, has truncated it
		return fmt.Errorf("%w: the response is truncated JSON: %w", ErrUnavailable, err)
	}
	return err
}

func unavailable(ctx context.Context, err error) error {
	switch cause := ctx.Err(); {
	case errors.Is(cause, context.Canceled):
		return cause
	case cause != nil && !errors.Is(err, cause):
		return fmt.Errorf("%w: %w: %w", ErrUnavailable, cause, err)
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}

func refusal(res *http.Response, method string, body []byte) error {
	e := &Error{Status: res.StatusCode, Type: http.StatusText(res.StatusCode), Reason: "no reason given"}
	var answer struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &answer) != nil || len(answer.Error) == 0 {
		e.Foreign = method != http.MethodHead || !fromElasticsearch(res) // a response to HEAD has no body
		return e
	}
	var cause Cause
	if json.Unmarshal(answer.Error, &cause) != nil {
		_ = json.Unmarshal(answer.Error, &e.Reason)
		return e
	}
	return cause.Refusal(res.StatusCode)
}

// Cause is the error object of a response.
type Cause struct {
	Type      string  `json:"type"`
	Reason    string  `json:"reason"`
	RootCause []Cause `json:"root_cause"`
	CausedBy  *Cause  `json:"caused_by"`
}

// Refusal returns the error of a response with this status and cause.
func (c Cause) Refusal(status int) error {
	root := c.Root()
	return &Error{Status: status, Type: root.Type, Reason: root.Reason}
}

// Root returns the most specific cause: the first root cause if there is one ("all shards failed"
// is not specific), with the reasons nested below it. Elasticsearch puts those outside the root
// cause.
func (c Cause) Root() Cause {
	if len(c.RootCause) > 0 {
		root := c.RootCause[0]
		for at := &c; at != nil && root.CausedBy == nil; at = at.CausedBy {
			if at.Type == root.Type {
				root.CausedBy = at.CausedBy
			}
		}
		c = root
	}
	for below := c.CausedBy; below != nil; below = below.CausedBy {
		if below.Reason != "" {
			c.Reason += ": " + below.Reason
		}
	}
	c.RootCause, c.CausedBy = nil, nil
	return c
}
