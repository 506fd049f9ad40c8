package catalog

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/freshet/freshet/feed"
)

// IngestConfig bounds what an ingest holds in memory. A zero field stands for
// its default.
type IngestConfig struct {
	BatchItems int // items put at once; default 1,000
	BatchBytes int // JSON bytes put at once; default 4 MiB
	MaxErrors  int // rejections listed in a report, all are counted; default 1,000
	// GroupByURL gives items without a group that of their link, see
	// [feed.URLGroup].
	GroupByURL bool
}

// WithDefaults fills in the zero fields.
func (c IngestConfig) WithDefaults() IngestConfig {
	c.BatchItems = cmp.Or(c.BatchItems, 1000)
	c.BatchBytes = cmp.Or(c.BatchBytes, 4<<20)
	c.MaxErrors = cmp.Or(c.MaxErrors, 1000)
	return c
}

// Validate says which value is unusable.
func (c IngestConfig) Validate() error {
	if c.BatchItems < 1 || c.BatchBytes < 1 || c.MaxErrors < 1 {
		return fmt.Errorf("an ingest needs at least 1 for each of its bounds, not %+v", c)
	}
	return nil
}

// Report is the outcome of uploading the items of one body.
type Report struct {
	Accepted int         `json:"accepted"`
	Rejected int         `json:"rejected"`
	Errors   []Rejection `json:"errors"` // by line; the first [IngestConfig.MaxErrors] of those rejected
}

// Rejection is one item that was not stored.
type Rejection struct {
	Line   int    `json:"line"`         // line of NDJSON, element of an array; from 1
	ID     string `json:"id,omitempty"` // where it could be read
	Reason string `json:"reason"`
}

// Ingest reads items from a stream into a catalog.
type Ingest struct {
	w   Writer
	cfg IngestConfig
}

// NewIngest returns an ingest into w. It panics if cfg is not valid.
func NewIngest(w Writer, cfg IngestConfig) *Ingest {
	cfg = cfg.WithDefaults()
	if err := cfg.Validate(); err != nil {
		panic(err)
	}
	return &Ingest{w: w, cfg: cfg}
}

// Read stores the items of r, which is NDJSON (one item a line) or one JSON
// array of items. It holds no more than a batch in memory. A bad item is
// rejected and the rest goes on. A byte order mark at the beginning is passed
// over; a body without any item is an error, but for the array [].
//
// The report is valid beside an error too, and tells what is stored. Errors
// wrap [feed.ErrInvalid] where the body cannot be read on, [ErrUnavailable] where a
// batch could not be stored (its items are then in neither count), else what r
// returned. Reading the same body again is safe.
func (in *Ingest) Read(ctx context.Context, r io.Reader) (Report, error) {
	return in.read(ctx, r, &itemBatch{in: in})
}

func (in *Ingest) read(ctx context.Context, r io.Reader, into batch) (Report, error) {
	p := &intake{ctx: ctx, in: in, batch: into, br: bufio.NewReaderSize(r, 64<<10), report: Report{Errors: []Rejection{}}}
	err := p.read()
	// What was read whole before an error is stored nevertheless.
	if flushErr := p.flush(); err == nil || errors.Is(flushErr, ErrUnavailable) {
		err = flushErr
	}
	slices.SortStableFunc(p.report.Errors, func(a, b Rejection) int { return cmp.Compare(a.Line, b.Line) })
	return p.report, err
}

// batch holds the entries that are stored together.
type batch interface {
	// add parses an entry and keeps it; an error rejects it.
	add(data []byte) (id string, err error)
	// put stores what was kept since the last call. The errors are by entry, nil where
	// all are stored; the error is that of the batch as a whole.
	put(ctx context.Context) ([]error, error)
}

// itemBatch stores items.
type itemBatch struct {
	in    *Ingest
	items []feed.Item
}

func (b *itemBatch) add(data []byte) (string, error) {
	it, err := feed.ParseItem(data)
	if err != nil {
		return "", err
	}
	if b.in.cfg.GroupByURL && it.GroupID == "" {
		it.GroupID = feed.URLGroup(it.URL)
	}
	b.items = append(b.items, it)
	return it.ID, nil
}

// put starts a new slice each time, because the writer may have kept the old one.
func (b *itemBatch) put(ctx context.Context) ([]error, error) {
	items := b.items
	b.items = nil
	return b.in.w.Put(ctx, items)
}

// intake is one body being read.
type intake struct {
	ctx   context.Context
	in    *Ingest
	batch batch
	br    *bufio.Reader
	buf   []byte // the line or element being read, reused

	ids   []string
	lines []int // lines[i] is where the entry with ids[i] stood
	bytes int

	failed bool // a batch could not be stored; nothing more is put
	report Report
}

// read finds out what the body is and reads it.
func (p *intake) read() error {
	if bom, _ := p.br.Peek(3); bytes.Equal(bom, []byte("\xef\xbb\xbf")) {
		_, _ = p.br.Discard(3)
	} else if bytes.HasPrefix(bom, []byte{0x1f, 0x8b}) {
		return feed.Errorf(feed.ErrInvalid, "the body is neither NDJSON nor a JSON array of items: it is gzip; unpack it, or send it with Content-Encoding: gzip")
	} else if bytes.HasPrefix(bom, []byte{0xff, 0xfe}) || bytes.HasPrefix(bom, []byte{0xfe, 0xff}) {
		return feed.Errorf(feed.ErrInvalid, "the body is neither NDJSON nor a JSON array of items: it is UTF-16; send UTF-8")
	}
	line, first, err := p.skipBlank()
	switch {
	case errors.Is(err, io.EOF):
		return feed.Errorf(feed.ErrInvalid, "the body is neither NDJSON nor a JSON array of items: it is empty; send [] where there are no items")
	case err != nil:
		return unreadable(err)
	case first == '[':
		_, _ = p.br.Discard(1)
		return p.readArray()
	}
	return p.readLines(line)
}

// skipBlank reads up to the first byte that is no space, which it returns with the
// number of its line. It goes by what is buffered: a body may be 64 MiB of blank
// lines.
func (p *intake) skipBlank() (line int, first byte, err error) {
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

func unreadable(err error) error { return fmt.Errorf("reading the items: %w", err) }

// take parses one item and puts the batch when it is full.
func (p *intake) take(line int, data []byte) error {
	if err := p.ctx.Err(); err != nil {
		return unreadable(err)
	}
	id, err := p.batch.add(data)
	if err != nil {
		p.reject(line, peekID(data), err)
		return nil
	}
	p.ids = append(p.ids, id)
	p.lines = append(p.lines, line)
	p.bytes += len(data)
	if len(p.ids) >= p.in.cfg.BatchItems || p.bytes >= p.in.cfg.BatchBytes {
		return p.flush()
	}
	return nil
}

// flush puts the batch.
func (p *intake) flush() error {
	if len(p.ids) == 0 || p.failed {
		return nil
	}
	ids, lines := p.ids, p.lines
	p.ids, p.lines, p.bytes = p.ids[:0], p.lines[:0], 0
	rejected, err := p.batch.put(p.ctx)
	if err != nil {
		p.failed = true
		if !errors.Is(err, ErrUnavailable) {
			err = fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
		return fmt.Errorf("storing the items of lines %d to %d: %w", lines[0], lines[len(lines)-1], err)
	}
	p.report.Accepted += len(ids)
	for i, err := range rejected {
		if err != nil {
			p.report.Accepted--
			p.reject(lines[i], ids[i], err)
		}
	}
	return nil
}

func (p *intake) reject(line int, id string, why error) {
	p.report.Rejected++
	if len(p.report.Errors) < p.in.cfg.MaxErrors {
		reason := strings.TrimPrefix(why.Error(), "bad item: ")
		p.report.Errors = append(p.report.Errors, Rejection{Line: line, ID: id, Reason: reason})
	}
}

// errTooBig is the reason for an item that was not even read.
var errTooBig = feed.Errorf(feed.ErrInvalid, "bad item: it has more than the %d bytes an item may have", feed.MaxItemBytes)

// peekID finds the id in what may be the beginning of a broken item; "" where it
// has none.
func peekID(data []byte) string {
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return ""
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return ""
		}
		if name == "id" {
			// Whatever it is: a rejection names the item as its sender did.
			id, _ := dec.Token()
			s, _ := id.(string)
			return clip(s)
		}
		var skipped json.RawMessage
		if dec.Decode(&skipped) != nil {
			return ""
		}
	}
	return ""
}

// clip keeps a report small whatever its sender calls an id.
func clip(s string) string {
	if len(s) <= feed.MaxItemID {
		return s
	}
	return strings.ToValidUTF8(s[:feed.MaxItemID], "") + "…"
}
