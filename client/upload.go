package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/internal/ndjson"
)

// upload sends the lines of r. The lines of the next request are read and compressed while one is
// sent; there is never a second request before the first is answered.
func (c *Client) upload(ctx context.Context, r io.Reader, u upload) (_ Summary, err error) {
	sending, cancel := outliving(ctx)
	defer cancel()
	u.client, u.sending = c, sending
	if u.zip, err = gzip.NewWriterLevel(io.Discard, gzip.BestSpeed); err != nil {
		return Summary{}, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	lines := ndjson.Kind{Body: "file", Entry: "object", Verb: "uploading", Most: maxLine, Reason: error.Error, Unavailable: ErrUnavailable, Table: u.table}
	_, err = ndjson.Read(ctx, readLive(ctx, r, &u), lines, ndjson.Config{Batch: maxLines, Bytes: maxBytes - maxLine - maxLines, Reject: u.refuse}, &u)
	u.settle()
	if u.failed != nil {
		err = u.failed
	}
	return u.sum, err
}

// outliving returns the context of requests: it outlives a cancellation of ctx by lastWait, so that
// the lines already read are stored and counted.
func outliving(ctx context.Context) (context.Context, context.CancelFunc) {
	sending, cancel := context.WithCancel(context.WithoutCancel(ctx))
	if until, ok := ctx.Deadline(); ok {
		cancel()
		sending, cancel = context.WithDeadline(context.WithoutCancel(ctx), until)
	}
	stop := context.AfterFunc(ctx, func() {
		_ = sleep(sending, lastWait)
		cancel()
	})
	return sending, func() { stop(); cancel() }
}

// upload is the [ndjson.Batch] that collects lines into requests.
type upload struct {
	client  *Client
	sending context.Context // for requests
	path    string
	table   bool                              // lines may be columns, which convert parses
	convert func(line []byte) ([]byte, error) // returns a JSON object for a line; nil skips it, an error rejects it
	reject  func(Rejection)
	sum     Summary
	failed  error // why sending has stopped

	zip  *gzip.Writer
	next request  // collects lines
	sent *request // has not been counted; nil if there is none
}

// request is one request of an upload.
type request struct {
	body    bytes.Buffer // the lines, compressed
	came    time.Time    // when the first line was read
	numbers []int        // line of the file of each line in the body

	answered chan struct{} // closed once report and err are set
	report   api.Upload
	err      error
}

func (u *upload) refuse(r Rejection) {
	u.sum.Rejected++
	u.reject(r)
}

// Add implements [ndjson.Batch].
func (u *upload) Add(number int, line []byte) (string, error) {
	line, err := u.convert(line)
	if err != nil || line == nil {
		return "", err
	}
	if len(u.next.numbers) == 0 {
		u.next.came = time.Now()
		u.zip.Reset(&u.next.body)
	}
	u.next.numbers = append(u.next.numbers, number)
	_, err = u.zip.Write(append(line, '\n'))
	return "", err
}

// TooBig implements [ndjson.Batch].
func (*upload) TooBig([]byte) (string, error) {
	return "", fmt.Errorf("the line has more than %d bytes", maxLine)
}

// Put implements [ndjson.Batch].
func (u *upload) Put(context.Context) ([]error, error) { return nil, u.flush() }

// flush begins to send the collected lines once the previous request is answered, unless sending has
// failed before.
func (u *upload) flush() error {
	u.settle()
	if u.failed != nil || len(u.next.numbers) == 0 {
		return u.failed
	}
	u.failed = u.zip.Close()
	if u.failed != nil {
		return u.failed
	}
	r := u.next
	u.next = request{}
	r.answered = make(chan struct{})
	u.sent = &r
	go func() {
		defer close(r.answered)
		r.send(u.sending, u.client, u.path)
	}()
	return nil
}

// flushSlow sends the collected lines if they have waited for longestStay.
func (u *upload) flushSlow() error {
	if len(u.next.numbers) == 0 || time.Since(u.next.came) < longestStay {
		return nil
	}
	return u.flush()
}

// answered returns a channel that is closed when the request in progress is answered; nil if there is
// none.
func (u *upload) answered() <-chan struct{} {
	if u.sent == nil {
		return nil
	}
	return u.sent.answered
}

// settle waits for the request in progress, and counts its answer.
func (u *upload) settle() {
	r := u.sent
	if r == nil {
		return
	}
	u.sent = nil
	<-r.answered
	counted := u.account(r)
	err := cmp.Or(r.err, counted)
	if err != nil {
		u.failed = fmt.Errorf("upload lines %d to %d: %w", r.numbers[0], r.numbers[len(r.numbers)-1], err)
		return
	}
	u.sum.Requests++
}

// send sends the request.
func (r *request) send(ctx context.Context, client *Client, path string) {
	r.report, r.err = call[api.Upload](ctx, client, Request{
		Method: http.MethodPost, Path: path,
		Body: r.body.Bytes(), Type: "application/x-ndjson", Encoding: "gzip",
		Timeout:    longestTimeout,
		Repeatable: true, // an item replaces itself, a count is absolute, an event is applied once
	})
	refused := (*Error)(nil)
	if errors.As(r.err, &refused) {
		_ = json.Unmarshal(refused.Data, &r.report) // partial result, usually empty
	}
	if r.err == nil {
		r.err = r.complete()
	}
}

// complete checks that the report covers every line that was sent.
func (r *request) complete() error {
	n := r.report.Accepted + r.report.Rejected
	if n != len(r.numbers) {
		return fmt.Errorf("the server reported %d lines, but %d were sent", n, len(r.numbers))
	}
	return nil
}

// account adds the server's report. Its line numbers are relative to the request.
func (u *upload) account(r *request) error {
	u.sum.Accepted += r.report.Accepted
	u.sum.Replaced += r.report.Replaced
	u.sum.Kept += r.report.Kept
	u.sum.Rejected += r.report.Rejected
	for _, e := range r.report.Errors {
		if e.Line < 1 || e.Line > len(r.numbers) {
			return fmt.Errorf("the server reported an error in line %d of a request of %d lines", e.Line, len(r.numbers))
		}
		e.Line = r.numbers[e.Line-1]
		u.reject(e)
	}
	return nil
}
