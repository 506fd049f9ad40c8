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

	"github.com/klauspost/compress/gzip"

	"github.com/freshet/freshet/feed/api"
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

// Summary counts an upload. Empty lines are not counted as items.
type Summary struct {
	Accepted int `json:"accepted"`
	Rejected int `json:"rejected"`
	Requests int `json:"requests"`
}

// Ingest uploads items, one JSON object a line, gzipped or not, in requests of
// at most 1,000 lines and 8 MiB. They are sent one after the other, so that of
// two items with one id the later line wins. Every rejected line is given to
// reject, in no particular order within a request. The summary is right even
// where an error ends the upload early; uploading again is harmless, because
// an item replaces itself.
func (c *Client) Ingest(ctx context.Context, r io.Reader, reject func(Rejection)) (Summary, error) {
	u := &upload{client: c, path: "/v1/items", convert: onlyObjects, reject: reject}
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

// run uploads the lines of a file.
func (u *upload) run(ctx context.Context, r io.Reader) (Summary, error) {
	plain, err := unzip(r)
	if err != nil {
		return Summary{}, err
	}
	u.zip, err = gzip.NewWriterLevel(&u.body, gzip.BestSpeed)
	if err != nil {
		return Summary{}, err
	}
	lines := &lineReader{r: bufio.NewReaderSize(plain, 64<<10)}
	for {
		line, tooLong, err := lines.next()
		if errors.Is(err, io.EOF) {
			err := u.flush(ctx)
			return u.sum, err
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return u.sum, fmt.Errorf("read line %d: the gzip file ends early: %w", lines.number, err)
		}
		if err != nil {
			return u.sum, fmt.Errorf("read line %d: %w", lines.number, err)
		}
		if tooLong {
			u.refuse(lines.number, fmt.Sprintf("the line has more than %d bytes", maxLine))
			continue
		}
		if err := u.add(ctx, lines.number, line); err != nil {
			return u.sum, err
		}
	}
}

// unzip looks for the two bytes every gzip file starts with.
func unzip(r io.Reader) (io.Reader, error) {
	buffered := bufio.NewReader(r)
	head, err := buffered.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(head) < 2 || head[0] != 0x1f || head[1] != 0x8b {
		return buffered, nil
	}
	zr, err := gzip.NewReader(buffered)
	if err != nil {
		return nil, fmt.Errorf("it begins like a gzip file but is not one: %w", err)
	}
	return zr, nil
}

// upload collects lines into a compressed body.
type upload struct {
	client  *Client
	path    string                            // of the route
	convert func(line []byte) ([]byte, error) // makes a JSON object of a line that is not empty; nil passes it over, an error rejects it
	reject  func(Rejection)
	sum     Summary

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
	line = bytes.TrimSpace(line)
	if number == 1 {
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")) // some editors begin UTF-8 files so
	}
	if len(line) == 0 {
		return nil
	}
	if number == 1 && line[0] == '[' {
		return errors.New("the file begins with [: it must hold one JSON object a line (jq -c '.[]' makes that of an array)")
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

// flush sends what was collected.
func (u *upload) flush(ctx context.Context) error {
	if len(u.numbers) == 0 {
		return nil
	}
	if err := u.zip.Close(); err != nil {
		return err
	}
	first, last := u.numbers[0], u.numbers[len(u.numbers)-1]
	report, err := call[api.Upload](ctx, u.client, Request{
		Method: http.MethodPost, Path: u.path,
		Body: u.body.Bytes(), Type: "application/x-ndjson", Encoding: "gzip",
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

// lineReader cuts lines, holding at most maxLine bytes of one.
type lineReader struct {
	r      *bufio.Reader
	number int // of the line returned last, from 1
	line   []byte
}

// next returns the next line, valid until the next call; the end is [io.EOF].
func (l *lineReader) next() (line []byte, tooLong bool, err error) {
	l.line = l.line[:0]
	l.number++
	for started := false; ; started = true {
		part, err := l.r.ReadSlice('\n')
		if len(l.line)+len(part) > maxLine {
			tooLong = true
		} else {
			l.line = append(l.line, part...)
		}
		switch {
		case err == nil:
			return l.line, tooLong, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && (started || len(part) > 0):
			return l.line, tooLong, nil
		default:
			return nil, false, err
		}
	}
}
