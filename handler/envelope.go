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

// Header values are shared slices: net/http only reads them.
var (
	jsonType    = []string{"application/json; charset=utf-8"}
	noStore     = []string{"no-store"}
	forCaller   = []string{"private, no-store"}
	forAll      = []string{"public, max-age=60"}
	retryLater  = []string{"1"}
	noSniff     = []string{"nosniff"}
	crossOrigin = []string{"cross-origin"}
)

// callerHeaders are the headers that identify the caller.
const callerHeaders = "Authorization, X-Agent-ID, X-Admin-Token"

// keepBuffer is the largest buffer reused for the next call. Pages have a few KB; a rare large
// buffer must not stay in memory.
const keepBuffer = 256 << 10

// refusedBodyTime limits how long a rejected call may continue to send its body.
const refusedBodyTime = 2 * time.Second

// envelope is the form of every answer.
type envelope struct {
	Code int    `json:"code"`
	Msg  string `json:"msg"`
	Data any    `json:"data,omitempty"`
}

const successHead = `{"code":0,"msg":"success","data":`

// appendPage writes the whole answer of POST /v1/feed. Stored items are copied without encoding
// them again.
func appendPage(b []byte, req *engine.Request, a *engine.Answer) []byte {
	size := len(successHead) + 160
	for i := range a.Docs {
		size += len(a.Docs[i].JSON) + 1
	}
	b = slices.Grow(b, size)
	plain := !req.Why && len(a.Trends) == 0 && !slices.ContainsFunc(a.Refs, feed.Ref.Marked)
	b = append(b, itemsHead...)
	for i := range a.Docs {
		switch {
		case a.Docs[i].Missing():
			continue
		case plain:
			b = append(b, a.Docs[i].JSON...)
		default:
			b = appendExplained(b, a, i)
		}
		b = append(b, ',')
	}
	b = endItems(b)
	b = append(b, `,"has_more":`...)
	b = strconv.AppendBool(b, a.HasMore)
	if req.RequestID != "" {
		// The id has been validated: no character needs escaping.
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

// itemsHead begins an answer with a list of items, each followed by a comma.
const itemsHead = successHead + `{"items":[`

// endItems ends the list.
func endItems(b []byte) []byte { return append(bytes.TrimSuffix(b, []byte(",")), ']') }

// appendNewReader appends new_reader if the reader is new.
func appendNewReader(b []byte, is bool) []byte {
	if is {
		b = append(b, `,"new_reader":true`...)
	}
	return b
}

// appendDegraded appends the degraded parts of the answer, if any.
func appendDegraded(b []byte, degraded []string) []byte {
	if len(degraded) == 0 {
		return b
	}
	b = append(b, `,"degraded":[`...)
	for i, what := range degraded {
		if i > 0 {
			b = append(b, ',')
		}
		b = feed.AppendString(b, what)
	}
	return append(b, ']')
}

// succeed answers 200 with data in the envelope, or calls data's own send method.
func (c *call) succeed(data any) error {
	if own, ok := data.(interface{ send(c *call) error }); ok {
		return own.send(c)
	}
	return c.answer(http.StatusOK, data)
}

// answer sends data with a status.
func (c *call) answer(status int, data any) error {
	body, err := json.Marshal(envelope{Msg: "success", Data: data})
	if err != nil {
		return err
	}
	c.send(status, 0, body)
	return nil
}

// empty is the data of an answer without content.
type empty struct{}

// fail answers an error according to the table of problems.
func (s *server) fail(c *call, err error) {
	p := problemOf(err)
	// After the client has disconnected, every error is a consequence of that.
	if p.status >= http.StatusInternalServerError && c.gone() {
		p = clientGone
	}
	// Rejected calls are counted but not logged: logging would add to the overload.
	if p.status >= http.StatusInternalServerError && !errors.Is(err, feed.ErrBusy) {
		c.cause = err
	}
	h := c.gin.Writer.Header()
	if c.gin.Request.ContentLength != 0 {
		// net/http reads the rest of the body before it sends the answer. This
		// limits the time for it; the next request sets its own deadline. An error
		// means that the connection does not support deadlines.
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
		h.Set("WWW-Authenticate", "Bearer") // in header mode for admins
	case http.StatusRequestEntityTooLarge:
		// The rest of the body is not read, so the connection cannot be reused.
		h.Set("Connection", "close")
	}
	e := envelope{Code: p.code, Msg: p.msg}
	if p.status >= http.StatusInternalServerError {
		e.Msg += " (request id " + c.id + ")" // to search for in the log
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

// sendRaw sends an answer assembled in the call's buffer.
func (c *call) sendRaw(status int, answer []byte) error {
	c.out = answer
	c.send(status, 0, answer)
	return nil
}

// send writes the answer in one piece and with its length, so that clients can detect a truncated
// answer.
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
