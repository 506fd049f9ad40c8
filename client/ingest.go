package client

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/internal/intake"
)

// Bounds of one upload request. A request is small enough to be repeated
// cheaply, and large enough that its overhead does not count.
const (
	// maxLines is as many rejections as the server lists for one request, so
	// that none goes unexplained.
	maxLines = 1_000
	maxBytes = 8 << 20 // before compression
	// maxLine is a line longer than any item the server takes; a longer one is
	// passed over without ever being held in memory.
	maxLine = 1 << 20
)

const (
	// longestStay is how long a line waits for others to be sent with: a live pipe may give
	// few.
	longestStay = time.Second
	// lastWait is how long a canceled upload may take to send what was read.
	lastWait = 10 * time.Second
)

// Summary counts an upload. Empty lines are not counted as items.
type Summary struct {
	Accepted int `json:"accepted"`
	Replaced int `json:"replaced,omitempty"` // of the accepted: items that a later one of the same request has replaced
	Kept     int `json:"kept,omitempty"`     // of the accepted: items that were not newer than the stored ones, see [Client.IngestNewer]
	Rejected int `json:"rejected"`
	Requests int `json:"requests"`
}

// Ingest uploads items, one JSON object a line, gzipped or not, in requests of
// at most 1,000 lines and 8 MiB. They are sent one after the other, so that of
// two items with one id the later line wins. Every rejected line is given to
// reject, in no particular order within a request. The summary is right even
// where an error ends the upload early; uploading again is harmless, because
// an item replaces itself.
//
// What a slow pipe gives is sent within some two seconds. Where ctx is canceled, what was
// read is sent and counted within 10 s. A read of r that has begun may end later.
func (c *Client) Ingest(ctx context.Context, r io.Reader, reject func(Rejection)) (Summary, error) {
	u := &upload{client: c, path: "/v1/items", convert: onlyObjects, reject: reject}
	return u.run(ctx, r)
}

// IngestNewer is [Client.Ingest], but stores no item whose update_time is not later than that
// of the stored one with its id. They count as kept.
func (c *Client) IngestNewer(ctx context.Context, r io.Reader, reject func(Rejection)) (Summary, error) {
	u := &upload{client: c, path: "/v1/items?if_newer=true", convert: onlyObjects, reject: reject}
	return u.run(ctx, r)
}

// IngestCounts uploads likes and comments of stored items as another system knows them,
// {"id","likes","comments"} a line, as [Client.Ingest] uploads items. They are absolute;
// one that is left out stays. Lines about items that are not stored, and about posts, are
// rejected.
func (c *Client) IngestCounts(ctx context.Context, r io.Reader, reject func(Rejection)) (Summary, error) {
	u := &upload{client: c, path: "/v1/items/counts", convert: onlyObjects, reject: reject}
	return u.run(ctx, r)
}

// onlyObjects takes lines as they are. Sent on, a line that begins with [ would
// make the server take the whole request for one JSON array.
func onlyObjects(line []byte) ([]byte, error) {
	if line[0] != '{' {
		return nil, errors.New("the line is not a JSON object")
	}
	return line, nil
}

// run uploads the lines of a file. What a slow pipe has given does not wait for a whole
// request, and is sent also where ctx is canceled.
func (u *upload) run(ctx context.Context, r io.Reader) (Summary, error) {
	var err error
	if u.zip, err = gzip.NewWriterLevel(&u.body, gzip.BestSpeed); err != nil {
		return Summary{}, err
	}
	sending, cancel := outliving(ctx)
	defer cancel()
	read := make(chan error, 1)
	go func() { read <- u.read(sending, r) }()
	look := time.NewTicker(longestStay / 2)
	defer look.Stop()
	for {
		select {
		case err := <-read:
			return u.end(sending, err)
		case <-ctx.Done():
			return u.end(sending, ctx.Err())
		case <-look.C:
			if err := u.flushSlow(sending); err != nil {
				return u.end(sending, err)
			}
		}
	}
}

// outliving is the context of requests: it outlives a cancellation of ctx by lastWait, so
// that what was read is stored and counted.
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

// read reads to the end, which is nil.
func (u *upload) read(ctx context.Context, r io.Reader) error {
	plain, err := unzip(r)
	if err != nil {
		return err
	}
	lines := &lineReader{r: bufio.NewReaderSize(plain, 64<<10)}
	if head, _ := lines.r.Peek(4); intake.Encoding(head) != "" {
		return fmt.Errorf("the file is %[1]s, it must be UTF-8 (iconv -f %[1]s -t UTF-8 makes that of it)", intake.Encoding(head))
	}
	for first := true; ; {
		line, tooLong, err := lines.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return fmt.Errorf("read line %d: the gzip file ends early: %w", lines.number, err)
		case err != nil:
			return fmt.Errorf("read line %d: %w", lines.number, err)
		}
		if line = trimmed(line); first && len(line) > 0 {
			first = false
			if err := oneALine(lines.number, line, lines.r); err != nil {
				return err
			}
		}
		if err := u.take(ctx, lines.number, line, tooLong); err != nil {
			return err
		}
	}
}

// trimmed is a line without spaces around it, and without the mark that some programs begin
// UTF-8 files with.
func trimmed(line []byte) []byte {
	return bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(line), []byte("\xef\xbb\xbf")))
}

// oneALine refuses a file whose first line shows that it has no object on each line.
func oneALine(number int, line []byte, next *bufio.Reader) error {
	if line[0] == '[' {
		return fmt.Errorf("line %d begins with [: the file must hold one JSON object a line (jq -c '.[]' makes that of an array)", number)
	}
	if intake.Spread(line, next) {
		return fmt.Errorf("line %d begins an object that goes on in the next line: the file must hold one JSON object a line (jq -c . makes that of it)", number)
	}
	return nil
}

// take takes a line that was read.
func (u *upload) take(ctx context.Context, number int, line []byte, tooLong bool) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.over {
		return errors.New("the upload has ended")
	}
	if tooLong {
		u.refuse(number, fmt.Sprintf("the line has more than %d bytes", maxLine))
		return nil
	}
	return u.add(ctx, number, line)
}

// flushSlow sends what was read where too little comes for a whole request.
func (u *upload) flushSlow(ctx context.Context) error {
	if !u.mu.TryLock() { // something comes, or is sent
		return nil
	}
	defer u.mu.Unlock()
	if time.Since(u.came) < longestStay {
		return nil
	}
	return u.flush(ctx)
}

// end sends what was read before the end; err is why it is the end, nil for that of the file.
func (u *upload) end(ctx context.Context, err error) (Summary, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.over = true
	failed := u.flush(ctx)
	switch {
	case err == nil || errors.Is(err, failed):
		err = failed
	case failed != nil:
		err = fmt.Errorf("%w; %w", err, failed)
	}
	return u.sum, err
}

// upload collects lines into a compressed body.
type upload struct {
	client  *Client
	path    string                            // of the route
	convert func(line []byte) ([]byte, error) // makes a JSON object of a line that is not empty; nil passes it over, an error rejects it
	reject  func(Rejection)

	mu     sync.Mutex // of what follows, which the end finds while a pipe is read
	sum    Summary
	came   time.Time // when the first line that is not sent came
	over   bool      // no line is taken any more
	failed error     // why nothing is sent any more

	zip     *gzip.Writer
	body    bytes.Buffer // what zip has written
	size    int          // bytes put into zip
	numbers []int        // file line of each line in the body
}

func (u *upload) refuse(line int, reason string) {
	u.sum.Rejected++
	u.reject(Rejection{Line: line, Reason: reason})
}

func (u *upload) add(ctx context.Context, number int, line []byte) error {
	if len(line) == 0 {
		return nil
	}
	line, err := u.convert(line)
	if err != nil {
		u.refuse(number, err.Error())
		return nil
	}
	if line == nil {
		return nil
	}
	if len(u.numbers) == maxLines || u.size+len(line)+1 > maxBytes {
		if err := u.flush(ctx); err != nil {
			return err
		}
	}
	if len(u.numbers) == 0 {
		u.came = time.Now()
		u.body.Reset()
		u.zip.Reset(&u.body)
	}
	if _, err := u.zip.Write(line); err != nil {
		return err
	}
	if _, err := u.zip.Write([]byte{'\n'}); err != nil {
		return err
	}
	u.size += len(line) + 1
	u.numbers = append(u.numbers, number)
	return nil
}

// flush sends what was collected, unless that has failed before.
func (u *upload) flush(ctx context.Context) error {
	if u.failed == nil && len(u.numbers) > 0 {
		u.failed = u.send(ctx)
	}
	return u.failed
}

func (u *upload) send(ctx context.Context) error {
	if err := u.zip.Close(); err != nil {
		return err
	}
	first, last := u.numbers[0], u.numbers[len(u.numbers)-1]
	report, err := call[api.Upload](ctx, u.client, Request{
		Method: http.MethodPost, Path: u.path,
		Body: u.body.Bytes(), Type: "application/x-ndjson", Encoding: "gzip",
		Timeout:    longestTimeout,
		Repeatable: true, // an item replaces itself, a count is absolute, an event is applied once
	})
	if refused := (*Error)(nil); errors.As(err, &refused) {
		_ = json.Unmarshal(refused.Data, &report) // what was done nevertheless; mostly nothing
	}
	if accountErr := u.account(report); err == nil {
		err = cmp.Or(accountErr, u.complete(report))
	}
	if err != nil {
		return fmt.Errorf("upload lines %d to %d: %w", first, last, err)
	}
	u.sum.Requests++
	u.size, u.numbers = 0, u.numbers[:0]
	return nil
}

// account adds the server's report; its line numbers are those of the request.
func (u *upload) account(report api.Upload) error {
	u.sum.Accepted += report.Accepted
	u.sum.Replaced += report.Replaced
	u.sum.Kept += report.Kept
	u.sum.Rejected += report.Rejected
	for _, e := range report.Errors {
		if e.Line < 1 || e.Line > len(u.numbers) {
			return fmt.Errorf("the server reports line %d of a request of %d", e.Line, len(u.numbers))
		}
		e.Line = u.numbers[e.Line-1]
		u.reject(e)
	}
	return nil
}

// complete checks that the report is about every line that was sent.
func (u *upload) complete(report api.Upload) error {
	if n := report.Accepted + report.Rejected; n != len(u.numbers) {
		return fmt.Errorf("the server reported %d lines, but %d were sent", n, len(u.numbers))
	}
	return nil
}
