// Package ndjson reads bodies of many entries, processes the entries in batches, and reports the
// outcome of each. It holds no more than one batch in memory.
package ndjson

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"strings"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
)

// Config limits a read. A zero field means its default.
type Config struct {
	Batch     int // entries per batch; default 1,000
	Bytes     int // JSON bytes at which a batch is full; default 4 MiB
	MaxErrors int // rejections listed in a report, while all are counted; default 1,000
	// Reject, if not nil, is called with each rejection, which is then not listed in the report.
	Reject func(api.Rejection)
}

// Kind describes the entries of a body.
type Kind struct {
	Body   string // name of the body in messages, such as "file"; default "body"
	Entry  string // name of an entry in messages, such as "item"
	Verb   string // the operation on them, such as "storing"
	Array  bool   // the body may be one JSON array of them
	Table  bool   // lines may be columns instead of JSON, which [Batch.Add] parses
	Whole  bool   // an entry replaces an earlier one with its id
	Most   int    // largest entry, in bytes
	Reason func(error) string
	// Unavailable is wrapped by the error of a batch that could not be processed.
	Unavailable error
}

// ErrKept is the result for an entry that was left out because the stored one is not older.
var ErrKept = errors.New("the stored entry is not older")

// Batch collects the entries that are processed together.
type Batch interface {
	// Add parses the entry of a line, or the array element of this number, and adds it to the
	// batch. An error rejects it; the id is returned also then.
	Add(line int, data []byte) (id string, err error)
	// TooBig is called with the beginning of an entry that is too large, and returns the error that
	// rejects it.
	TooBig(data []byte) (id string, err error)
	// Put processes the entries added since the last call. The errors are per entry and reject it;
	// a nil slice means none; [ErrKept] counts as accepted. err means that the batch could not be
	// processed; if there are errors per entry too, the entries without one have been processed,
	// and those with a refusal ([feed.Refused]) are rejected.
	Put(ctx context.Context) ([]error, error)
}

// Read processes the entries of r, which is NDJSON (one entry per line) or one JSON array of them.
// A bad entry is rejected and reading continues. A byte order mark at the beginning is skipped.
//
// The report is valid also with an error, and covers the processed entries. Errors wrap
// [feed.ErrInvalid] if the rest of the body cannot be parsed, [Kind.Unavailable] if a batch could
// not be processed (its unprocessed entries are then in neither count); others are those of r.
func Read(ctx context.Context, r io.Reader, kind Kind, cfg Config, into Batch) (api.Upload, error) {
	cfg.Batch, cfg.Bytes, cfg.MaxErrors = cmp.Or(cfg.Batch, 1000), cmp.Or(cfg.Bytes, 4<<20), cmp.Or(cfg.MaxErrors, 1000)
	p := &reading{ctx: ctx, kind: kind, cfg: cfg, batch: into, br: bufio.NewReaderSize(r, 64<<10), report: api.Upload{Errors: []api.Rejection{}}}
	err := p.read()
	// Entries read completely before an error are processed nevertheless.
	flushErr := p.flush()
	if err == nil || errors.Is(flushErr, kind.Unavailable) {
		err = flushErr
	}
	slices.SortStableFunc(p.report.Errors, func(a, b api.Rejection) int { return cmp.Compare(a.Line, b.Line) })
	return p.report, err
}

// reading is the state of reading one body.
type reading struct {
	ctx   context.Context
	kind  Kind
	cfg   Config
	batch Batch
	br    *bufio.Reader
	buf   []byte // the line or element being read, reused

	ids   []string
	lines []int // lines[i] is the line of the entry with ids[i]
	bytes int

	seed maphash.Seed
	seen map[uint64]struct{} // hashes of the accepted ids, if entries replace earlier ones

	failed bool // a batch could not be processed, so no further one is
	report api.Upload
}

// read detects the format of the body and reads it.
func (p *reading) read() error {
	head, _ := p.br.Peek(4) // no more: a live body may begin with a short line
	if how := packed(p.br, head); how != "" {
		return p.invalid("%s", how)
	}
	name := encoding(head)
	if name != "" {
		return p.invalid("it is %[1]s; send UTF-8 (iconv -f %[1]s -t UTF-8 converts it)", name)
	}
	if bytes.HasPrefix(head, mark) {
		_, _ = p.br.Discard(len(mark))
	}
	line, first, err := p.skipBlank()
	switch {
	case errors.Is(err, io.EOF) && p.kind.Array:
		return p.invalid("it is empty; send [] if there are no %ss", p.kind.Entry)
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return p.unreadable(err)
	case first == '[' && p.kind.Array:
		_, _ = p.br.Discard(1)
		return p.readArray()
	}
	return p.readLines(line)
}

// mark is the byte order mark at the beginning of some UTF-8 files.
var mark = []byte("\xef\xbb\xbf")

// packed returns what to do about a body that begins with these bytes, if it is in a well-known
// format that is no text, and "" if it is not.
func packed(br *bufio.Reader, head []byte) string {
	if bytes.HasPrefix(head, []byte("PAR1")) || bytes.HasPrefix(head, []byte("BZh")) {
		head, _ = br.Peek(10) // so far it may be a line of text
	}
	for _, format := range []struct{ begin, how string }{
		{"\x1f\x8b", "it is gzip; unpack it, or send it with Content-Encoding: gzip"},
		{"PK\x03\x04", "it is a ZIP archive, as .xlsx is; unpack it, or save a table as CSV and convert it (mlr --icsv --ojsonl cat)"},
		{"\x28\xb5\x2f\xfd", "it is zstd; unpack it (zstd -d), or pack it with gzip"},
		{"\xfd7zX", "it is xz; unpack it (xz -d), or pack it with gzip"},
		{"PAR1\x15", "it is Parquet; write each row as a JSON object with the documented fields, on one line"},
	} {
		if bytes.HasPrefix(head, []byte(format.begin)) {
			return format.how
		}
	}
	if bytes.HasPrefix(head, []byte("BZh")) && bytes.HasSuffix(head, []byte("1AY&SY")) {
		return "it is bzip2; unpack it (bzip2 -d), or pack it with gzip"
	}
	return ""
}

// encoding returns the encoding of a text, detected by its first four bytes, if it is not UTF-8,
// and "" if it is. JSON begins with two ASCII characters, so a zero byte is evidence too.
func encoding(head []byte) string {
	hasZeros := len(head) == 4 && head[1] == 0 && head[2] == 0
	switch {
	case bytes.Equal(head, []byte{0xff, 0xfe, 0, 0}), bytes.HasPrefix(head, []byte{0, 0}), hasZeros && head[0] != 0xff:
		return "UTF-32"
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}), len(head) > 1 && (head[0] == 0 || head[1] == 0):
		return "UTF-16"
	}
	return ""
}

// skipBlank skips white space and returns the first other byte, without consuming it, with its line
// number. It works on whole buffers: a body may be 64 MiB of blank lines.
func (p *reading) skipBlank() (line int, first byte, err error) {
	for line = 1; ; {
		if _, err := p.br.Peek(1); err != nil {
			return line, 0, err
		}
		ahead, _ := p.br.Peek(p.br.Buffered())
		rest := bytes.TrimLeft(ahead, " \t\r\n")
		line += bytes.Count(ahead[:len(ahead)-len(rest)], []byte("\n"))
		_, _ = p.br.Discard(len(ahead) - len(rest))
		if len(rest) > 0 {
			return line, rest[0], nil // Discard does not overwrite the buffer
		}
		if err := p.ctx.Err(); err != nil {
			return line, 0, err
		}
	}
}

func (p *reading) unreadable(err error) error {
	return fmt.Errorf("reading the %ss: %w", p.kind.Entry, err)
}

// invalid returns the error about a body that cannot be parsed any further.
func (p *reading) invalid(format string, args ...any) error {
	form := "not NDJSON, one " + p.kind.Entry + " a line"
	if p.kind.Array {
		form = "neither NDJSON nor a JSON array of " + p.kind.Entry + "s"
	}
	return feed.Errorf(feed.ErrInvalid, "the "+cmp.Or(p.kind.Body, "body")+" is "+form+": "+format, args...)
}

// addEntry parses one entry and processes the batch when it is full.
func (p *reading) addEntry(line int, data []byte) error {
	if err := p.ctx.Err(); err != nil {
		return p.unreadable(err)
	}
	id, err := p.batch.Add(line, data)
	if err != nil {
		p.reject(line, id, err)
		return nil
	}
	p.ids = append(p.ids, id)
	p.lines = append(p.lines, line)
	p.bytes += len(data)
	if len(p.ids) >= p.cfg.Batch || p.bytes >= p.cfg.Bytes {
		return p.flush()
	}
	return nil
}

// flush processes the batch.
func (p *reading) flush() error {
	if len(p.ids) == 0 || p.failed {
		return nil
	}
	ids, lines := p.ids, p.lines
	p.ids, p.lines, p.bytes = p.ids[:0], p.lines[:0], 0
	errs, err := p.batch.Put(p.ctx)
	for i := range ids {
		switch {
		case errs == nil && err != nil: // its outcome is unknown
		case errs == nil || errs[i] == nil:
			p.accept(ids[i])
		case errors.Is(errs[i], ErrKept):
			p.report.Accepted++
			p.report.Kept++
		case err == nil || feed.Refused(errs[i]):
			p.reject(lines[i], ids[i], errs[i])
		}
	}
	if err == nil {
		return nil
	}
	p.failed = true
	if !errors.Is(err, p.kind.Unavailable) {
		err = fmt.Errorf("%w: %w", p.kind.Unavailable, err)
	}
	return fmt.Errorf("%s the %ss of lines %d to %d: %w", p.kind.Verb, p.kind.Entry, lines[0], lines[len(lines)-1], err)
}

func (p *reading) accept(id string) {
	p.report.Accepted++
	if !p.kind.Whole {
		return
	}
	if p.seen == nil {
		p.seed, p.seen = maphash.MakeSeed(), map[uint64]struct{}{}
	}
	before := len(p.seen)
	p.seen[maphash.String(p.seed, id)] = struct{}{}
	if len(p.seen) == before {
		p.report.Replaced++
	}
}

func (p *reading) tooBig(line int, data []byte) {
	id, err := p.batch.TooBig(data)
	p.reject(line, id, err)
}

func (p *reading) reject(line int, id string, why error) {
	p.report.Rejected++
	rejection := api.Rejection{Line: line, ID: clip(id), Reason: feed.Brief(p.kind.Reason(why))}
	if p.cfg.Reject != nil {
		p.cfg.Reject(rejection)
	} else if len(p.report.Errors) < p.cfg.MaxErrors {
		p.report.Errors = append(p.report.Errors, rejection)
	}
}

// clip shortens an overlong id, to keep the report small.
func clip(s string) string {
	if len(s) <= feed.MaxItemID {
		return s
	}
	return strings.ToValidUTF8(s[:feed.MaxItemID], "") + "…"
}
