package handler

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
)

// Header values are shared slices: net/http reads them and never writes.
var (
	jsonType   = []string{"application/json; charset=utf-8"}
	noStore    = []string{"no-store"}
	forCaller  = []string{"private, no-store"}
	forAll     = []string{"public, max-age=60"}
	retryLater = []string{"1"}
	noSniff    = []string{"nosniff"}
)

// callerHeaders are the headers that say who calls.
const callerHeaders = "Authorization, X-Agent-ID, X-Admin-Token"

// keepBuffer is the largest buffer that is kept for the next call. Pages have a
// few KB; a rare large one must not stay in memory.
const keepBuffer = 256 << 10

// refusedBodyTime is how long a refused call may go on sending its body.
const refusedBodyTime = 2 * time.Second

// envelope is the form of every answer.
type envelope struct {
	Code int    `json:"code"`
	Msg  string `json:"msg"`
	Data any    `json:"data,omitempty"`
}

const successHead = `{"code":0,"msg":"success","data":`

// appendPage writes the whole answer of POST /v1/feed. Items are copied as they
// are stored, without encoding them again.
func appendPage(b []byte, req *engine.Request, a *engine.Answer) []byte {
	size := len(successHead) + 160
	for i := range a.Docs {
		size += len(a.Docs[i].JSON) + 1
	}
	b = slices.Grow(b, size)
	plain := !req.Why && len(a.Trends) == 0 && !slices.ContainsFunc(a.Refs, feed.Ref.Marked)
	b = appendItems(b, len(a.Docs), func(b []byte, i int) []byte {
		switch {
		case a.Docs[i].Missing():
			return b
		case plain:
			return append(b, a.Docs[i].JSON...)
		}
		return appendExplained(b, a, i)
	})
	b = append(b, `,"has_more":`...)
	b = strconv.AppendBool(b, a.HasMore)
	if req.RequestID != "" {
		// The id is checked: none of its characters needs an escape.
		b = append(b, `,"request_id":"`...)
		b = append(b, req.RequestID...)
		b = append(b, '"')
	}
	if req.Silent {
		b = append(b, `,"new_count":`...)
		b = strconv.AppendInt(b, int64(a.NewCount), 10)
	}
	b = appendNewReader(b, a.NewReader)
	b = appendDegraded(b, a.Degraded)
	return append(b, "}}"...)
}

// appendItems begins the answer with a list of n items, each of which item writes, or leaves out.
func appendItems(b []byte, n int, item func(b []byte, i int) []byte) []byte {
	b = append(b, successHead+`{"items":[`...)
	for i := range n {
		before := len(b)
		if b = item(b, i); len(b) > before {
			b = append(b, ',')
		}
	}
	return append(bytes.TrimSuffix(b, []byte(",")), ']')
}

// appendNewReader writes that the reader is new, where they are.
func appendNewReader(b []byte, is bool) []byte {
	if is {
		b = append(b, `,"new_reader":true`...)
	}
	return b
}

// appendDegraded writes what the answer lacks, where it lacks something.
func appendDegraded(b []byte, degraded []string) []byte {
	if len(degraded) == 0 {
		return b
	}
	b = append(b, `,"degraded":[`...)
	for i, what := range degraded {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, what)
	}
	return append(b, ']')
}

// appendString writes s as JSON.
func appendString(b []byte, s string) []byte {
	quoted, err := json.Marshal(s)
	if err != nil { // a string always encodes
		return append(b, `""`...)
	}
	return append(b, quoted...)
}

// succeed answers 200 with data in the envelope, or as data itself says.
func (c *call) succeed(data any) error {
	if own, ok := data.(interface{ send(c *call) error }); ok {
		return own.send(c)
	}
	body, err := json.Marshal(envelope{Msg: "success", Data: data})
	if err != nil {
		return err
	}
	c.send(http.StatusOK, 0, body)
	return nil
}

// empty is the data of an answer without content.
type empty struct{}

// fail answers an error as the table of problems says.
func (s *server) fail(c *call, err error) {
	p := problemOf(err)
	// After the client has disconnected every error follows from that.
	if p.status >= http.StatusInternalServerError && c.gone() {
		p = clientGone
	}
	// Shed calls are counted and not logged: that would add to the overload.
	if p.status >= http.StatusInternalServerError && !errors.Is(err, feed.ErrBusy) {
		c.cause = err
	}
	h := c.gin.Writer.Header()
	if c.gin.Request.ContentLength != 0 {
		// net/http reads the rest of the body before it sends the answer. This
		// limits the time for it; the next request sets its own deadline. The error
		// says that the connection has no deadlines.
		_ = http.NewResponseController(c.gin.Writer).SetReadDeadline(time.Now().Add(refusedBodyTime))
	}
	switch p.status {
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		h["Retry-After"] = retryLater
		var limited rateError
		if errors.As(err, &limited) {
			h["Retry-After"] = []string{limited.seconds()}
		}
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", "Bearer") // in header mode the admin's
	case http.StatusRequestEntityTooLarge:
		// The rest of the body is not read, so the connection cannot be used again.
		h.Set("Connection", "close")
	}
	e := envelope{Code: p.code, Msg: p.msg}
	if p.status >= http.StatusInternalServerError {
		e.Msg += " (request id " + c.id + ")" // what to look for in the log
	}
	var part partial
	if errors.As(err, &part) {
		e.Data = part.data
	}
	body, err := json.Marshal(e)
	if err != nil {
		c.cause = errors.Join(c.cause, err)
		body = []byte(`{"code":50001,"msg":"internal error"}`)
	}
	c.send(p.status, p.code, body)
}

// sendRaw answers what was assembled in the call's buffer.
func (c *call) sendRaw(status int, answer []byte) error {
	c.out = answer
	c.send(status, 0, answer)
	return nil
}

// send writes the call's answer in one piece and with its length, so that a client
// can detect a truncated answer.
func (c *call) send(status, code int, body []byte) {
	c.code = code
	w := c.gin.Writer
	h := w.Header()
	h["Content-Type"] = jsonType
	h["Cache-Control"] = noStore
	switch {
	case c.shared:
		h["Cache-Control"] = forAll
	case c.personal:
		h["Cache-Control"] = forCaller
		h.Add("Vary", callerHeaders)
	}
	h["X-Content-Type-Options"] = noSniff
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil {
		c.unsent = true
	}
}
