// Package intake reads bodies of many entries, hands the entries on in batches, and reports
// the outcome of each. It holds no more than a batch in memory.
package intake

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

// Config bounds a read. A zero field stands for its default.
type Config struct {
	Batch     int // entries handed on at once; default 1,000
	Bytes     int // JSON bytes with which a batch is handed on; default 4 MiB
	MaxErrors int // rejections listed in a report, all are counted; default 1,000
	// Reject, where it is not nil, is given each rejection in place of the report.
	Reject func(api.Rejection)
}

// Kind says what the entries of a body are.
type Kind struct {
	Body   string // in texts: "file"; default "body"
	Entry  string // one of them, in texts: "item"
	Verb   string // what is done with them: "storing"
	Array  bool   // the body may be one JSON array of them
	Whole  bool   // an entry replaces an earlier one with its id
	Most   int    // bytes an entry may have
	Reason func(error) string
	// Unavailable is wrapped by the error of a batch that could not be handed on.
	Unavailable error
}

// ErrKept is about an entry that was left out because what is stored is not older.
var ErrKept = errors.New("what is stored is not older")

// Batch collects the entries that are handed on together.
type Batch interface {
	// Add parses the entry of a line, or the element of this number, and keeps it; an error
	// rejects it, and id names it all the same.
	Add(line int, data []byte) (id string, err error)
	// TooBig is called with the beginning of an entry that is not read, and rejects it.
	TooBig(data []byte) (id string, err error)
	// Put hands on what was kept since the last call. The errors are by entry and reject it;
	// nil: none; [ErrKept] counts as accepted. The error says that the batch could not be
	// handed on; where there are errors by entry, those without one and those that are refused
	// ([feed.Refused]) are done nevertheless.
	Put(ctx context.Context) ([]error, error)
}

// Read hands on the entries of r, which is NDJSON (one entry a line) or one JSON array of
// them. A bad entry is rejected and the rest goes on. A byte order mark at the beginning is
// passed over.
//
// The report is valid beside an error too, and tells what is done. Errors wrap
// [feed.ErrInvalid] where the body cannot be read on, [Kind.Unavailable] where a batch could
// not be handed on (what is not done of it is then in neither count), else what r returned.
func Read(ctx context.Context, r io.Reader, kind Kind, cfg Config, into Batch) (api.Upload, error) {
	cfg.Batch, cfg.Bytes, cfg.MaxErrors = cmp.Or(cfg.Batch, 1000), cmp.Or(cfg.Bytes, 4<<20), cmp.Or(cfg.MaxErrors, 1000)
	p := &reading{ctx: ctx, kind: kind, cfg: cfg, batch: into, br: bufio.NewReaderSize(r, 64<<10), report: api.Upload{Errors: []api.Rejection{}}}
	err := p.read()
	// What was read whole before an error is handed on nevertheless.
	if flushErr := p.flush(); err == nil || errors.Is(flushErr, kind.Unavailable) {
		err = flushErr
	}
	slices.SortStableFunc(p.report.Errors, func(a, b api.Rejection) int { return cmp.Compare(a.Line, b.Line) })
	return p.report, err
}

// reading is one body being read.
type reading struct {
	ctx   context.Context
	kind  Kind
	cfg   Config
	batch Batch
	br    *bufio.Reader
	buf   []byte // the line or element being read, reused

	ids   []string
	lines []int // lines[i] is where the entry with ids[i] stood
	bytes int

	seed maphash.Seed
	seen map[uint64]struct{} // hashes of the ids that were accepted, where entries replace others

	failed bool // a batch could not be handed on; nothing more is
	report api.Upload
}

// read finds out what the body is and reads it.
func (p *reading) read() error {
	head, _ := p.br.Peek(4)
	if bytes.HasPrefix(head, []byte{0x1f, 0x8b}) {
		return p.invalid("it is gzip; unpack it, or send it with Content-Encoding: gzip")
	}
	if name := encoding(head); name != "" {
		return p.invalid("it is %[1]s; send UTF-8 (iconv -f %[1]s -t UTF-8 makes that of it)", name)
	}
	if bytes.HasPrefix(head, mark) {
		_, _ = p.br.Discard(len(mark))
	}
	line, first, err := p.skipBlank()
	switch {
	case errors.Is(err, io.EOF) && p.kind.Array:
		return p.invalid("it is empty; send [] where there are no %ss", p.kind.Entry)
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

// mark is the byte order mark that some programs begin UTF-8 files with.
var mark = []byte("\xef\xbb\xbf")

// encoding names the encoding of a text by its first four bytes, where that is not UTF-8;
// else it is "". JSON begins with two characters of ASCII, so a zero byte tells it, too.
func encoding(head []byte) string {
	switch {
	case bytes.Equal(head, []byte{0xff, 0xfe, 0, 0}), bytes.HasPrefix(head, []byte{0, 0}), len(head) == 4 && head[0] != 0xff && head[1] == 0 && head[2] == 0:
		return "UTF-32"
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}), len(head) > 1 && (head[0] == 0 || head[1] == 0):
		return "UTF-16"
	}
	return ""
}

// skipBlank reads up to the first byte that is no space, which it returns with the
// number of its line. It goes by what is buffered: a body may be 64 MiB of blank
// lines.
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
			return line, rest[0], nil // Discard leaves the buffer as it is
		}
		if err := p.ctx.Err(); err != nil {
			return line, 0, err
		}
	}
}

func (p *reading) unreadable(err error) error {
	return fmt.Errorf("reading the %ss: %w", p.kind.Entry, err)
}

// invalid is the error about a body that cannot be read on.
func (p *reading) invalid(format string, args ...any) error {
	form := "not NDJSON, one " + p.kind.Entry + " a line"
	if p.kind.Array {
		form = "neither NDJSON nor a JSON array of " + p.kind.Entry + "s"
	}
	return feed.Errorf(feed.ErrInvalid, "the "+cmp.Or(p.kind.Body, "body")+" is "+form+": "+format, args...)
}

// take parses one entry and hands the batch on when it is full.
func (p *reading) take(line int, data []byte) error {
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

// flush hands the batch on.
func (p *reading) flush() error {
	if len(p.ids) == 0 || p.failed {
		return nil
	}
	ids, lines := p.ids, p.lines
	p.ids, p.lines, p.bytes = p.ids[:0], p.lines[:0], 0
	errs, err := p.batch.Put(p.ctx)
	for i := range ids {
		switch {
		case errs == nil && err != nil: // nothing is known of it
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
	if p.seen[maphash.String(p.seed, id)] = struct{}{}; len(p.seen) == before {
		p.report.Replaced++
	}
}

func (p *reading) tooBig(line int, data []byte) {
	id, err := p.batch.TooBig(data)
	p.reject(line, id, err)
}

func (p *reading) reject(line int, id string, why error) {
	p.report.Rejected++
	rejection := api.Rejection{Line: line, ID: clip(id), Reason: p.kind.Reason(why)}
	if p.cfg.Reject != nil {
		p.cfg.Reject(rejection)
	} else if len(p.report.Errors) < p.cfg.MaxErrors {
		p.report.Errors = append(p.report.Errors, rejection)
	}
}

// clip keeps a report small whatever its sender calls an id.
func clip(s string) string {
	if len(s) <= feed.MaxItemID {
		return s
	}
	return strings.ToValidUTF8(s[:feed.MaxItemID], "") + "…"
}
