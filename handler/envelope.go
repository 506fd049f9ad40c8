package handler

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/freshet/freshet/engine"
)

// Header values are shared slices: net/http reads them and never writes.
var (
	jsonType   = []string{"application/json; charset=utf-8"}
	noStore    = []string{"no-store"}
	retryLater = []string{"1"}
	noSniff    = []string{"nosniff"}
)

// keepBuffer is how large a buffer may be to wait for its next use. Pages are a
// few KB; a rare huge one must not stay in memory.
const keepBuffer = 256 << 10

// refusedBodyTime is how long the rest of a body may take that nobody reads.
const refusedBodyTime = 2 * time.Second

// envelope is how every answer that is not spliced is encoded.
type envelope struct {
	Code int    `json:"code"`
	Msg  string `json:"msg"`
	Data any    `json:"data,omitempty"`
}

const successHead = `{"code":0,"msg":"success","data":`

// appendPage writes the whole answer of POST /v1/feed. Items are spliced as
// they were stored; nothing is encoded again.
func appendPage(b []byte, req *engine.Request, a *engine.Answer) []byte {
	size := len(successHead) + 160
	for i := range a.Docs {
		size += len(a.Docs[i].JSON) + 1
	}
	if cap(b)-len(b) < size {
		b = append(make([]byte, 0, len(b)+size), b...)
	}
	b = append(b, successHead+`{"items":[`...)
	first := true
	for i := range a.Docs {
		if a.Docs[i].Missing() {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(b, a.Docs[i].JSON...)
	}
	b = append(b, `],"has_more":`...)
	b = strconv.AppendBool(b, a.HasMore)
	if req.RequestID != "" {
		// The id has passed its check: no character of it needs an escape.
		b = append(b, `,"request_id":"`...)
		b = append(b, req.RequestID...)
		b = append(b, '"')
	}
	if req.Silent {
		b = append(b, `,"new_count":`...)
		b = strconv.AppendInt(b, int64(a.NewCount), 10)
	}
	if len(a.Degraded) > 0 {
		b = append(b, `,"degraded":[`...)
		for i, what := range a.Degraded {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendString(b, what)
		}
		b = append(b, ']')
	}
	return append(b, "}}"...)
}

// appendString writes s as JSON.
func appendString(b []byte, s string) []byte {
	quoted, err := json.Marshal(s)
	if err != nil { // a string always encodes
		return append(b, `""`...)
	}
	return append(b, quoted...)
}

// succeed answers 200 with data in the envelope.
func (c *call) succeed(data any) error {
	body, err := json.Marshal(envelope{Msg: "success", Data: data})
	if err != nil {
		return err
	}
	c.send(http.StatusOK, 0, body)
	return nil
}

// empty is the data of an answer that has nothing to tell.
type empty struct{}

// fail answers an error by the table.
func (s *server) fail(c *call, err error) {
	p := problemOf(err)
	// Whatever broke after the client left broke because it left.
	if p.status >= http.StatusInternalServerError && c.gone() {
		p = problemOf(errClientGone)
	}
	// A shed call is counted; a line of its own for each would be one more load.
	if p.status >= http.StatusInternalServerError && !errors.Is(err, errBusy) {
		c.cause = err
	}
	h := c.gin.Writer.Header()
	if c.gin.Request.ContentLength != 0 {
		// net/http reads what is left of the body before it sends the answer. A
		// caller who is refused gets no more time for it than this. Without
		// deadlines there is nothing to shorten; the next request sets its own.
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
		if s.cfg.Auth.Mode == ModeJWT {
			h.Set("WWW-Authenticate", "Bearer")
		}
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

// send writes the one answer of the call, in one piece and with its length, so
// that a client can tell a whole answer from a broken one.
func (c *call) send(status, code int, body []byte) {
	c.code = code
	w := c.gin.Writer
	h := w.Header()
	h["Content-Type"] = jsonType
	h["Cache-Control"] = noStore
	h["X-Content-Type-Options"] = noSniff
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil {
		c.unsent = true
	}
}
