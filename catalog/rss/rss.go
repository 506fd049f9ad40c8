// Package rss reads items from web feeds: RSS, Atom and JSON Feed. A [Poller] reads its sources again
// and again, and passes what is new or has changed to a [Store]. A source that fails is tried again
// later and does not stop the others.
package rss

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/periodic"
	"github.com/freshet/freshet/internal/safego"
)

const (
	// atOnce is the number of sources that are read at the same time.
	atOnce = 8
	// longestWait bounds the pause after repeated failures, unless the pause between two reads is
	// longer.
	longestWait = 24 * time.Hour
)

// ErrGone is returned for a source whose server says that it no longer exists. It is not read again.
var ErrGone = errors.New("the feed no longer exists (410): remove it")

// Store stores what was read.
type Store interface {
	// Put stores items of one source. With newer, it leaves an item out whose update_time is not later
	// than that of the stored one.
	Put(ctx context.Context, items []feed.Item, newer bool) (Written, error)
	// Dates returns the update_time of those of the ids that are stored.
	Dates(ctx context.Context, ids []string) (map[string]int64, error)
}

// Written counts the items of a Put.
type Written struct {
	Stored   int
	Rejected int
	Reason   string // why the first of them was rejected
}

// Outcome is that of reading a source once.
type Outcome struct {
	Source   string        `json:"source"`
	Title    string        `json:"title,omitempty"`    // of the feed
	Stored   int           `json:"stored"`             // new entries, and entries that have changed
	Rejected int           `json:"rejected"`           // entries that are no items
	Reason   string        `json:"reason,omitempty"`   // why the first of them is none
	Err      error         `json:"-"`                  // nothing was stored
	Next     time.Duration `json:"-"`                  // until it is read again; 0: it is not
	Error    string        `json:"error,omitempty"`    // text of Err
	Same     bool          `json:"unchanged,omitzero"` // nothing has changed since the last read
}

// Poller reads sources. Create it with [New].
type Poller struct {
	sources []*source
	store   Store
	clock   feed.Clock
}

// New returns a poller. A source is the http or https URL of a feed, or the path of a file that has
// one. The client reads the URLs, with agent as User-Agent; its timeout limits each read.
func New(sources []string, store Store, client *http.Client, agent string, clock feed.Clock) (*Poller, error) {
	p := &Poller{store: store, clock: clock}
	for _, name := range sources {
		s := &source{name: name, client: client, agent: agent}
		scheme, _, isURL := strings.Cut(name, "://")
		if isURL {
			u, err := url.Parse(name)
			isHTTP := err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
			if !isHTTP {
				return nil, fmt.Errorf("a feed is an http or https URL, or a file, not %q with %s://", name, scheme)
			}
			s.url = u
		}
		if slices.ContainsFunc(p.sources, func(o *source) bool { return o.name == name }) {
			return nil, fmt.Errorf("the feed %q is given twice", name)
		}
		p.sources = append(p.sources, s)
	}
	return p, nil
}

// Once reads each source once and returns the outcomes in the order of the sources. The error is
// that of a context that has ended.
func (p *Poller) Once(ctx context.Context) ([]Outcome, error) {
	outcomes := make([]Outcome, len(p.sources))
	p.read(ctx, p.sources, func(i int, o Outcome) { outcomes[i] = o })
	return outcomes, ctx.Err()
}

// Run reads the sources until ctx ends: each one at once, then every pause, and less often while it
// fails. It returns when no source is left. Each outcome is passed to report, from several goroutines.
func (p *Poller) Run(ctx context.Context, pause time.Duration, report func(Outcome)) {
	for _, s := range p.sources {
		s.due = p.clock()
	}
	for {
		left := slices.DeleteFunc(slices.Clone(p.sources), func(s *source) bool { return s.gone })
		if len(left) == 0 {
			return
		}
		next := slices.MinFunc(left, func(a, b *source) int { return a.due.Compare(b.due) }).due
		if periodic.Pause(ctx, next.Sub(p.clock())) != nil {
			return
		}
		now := p.clock()
		due := slices.DeleteFunc(left, func(s *source) bool { return s.due.After(now) })
		p.read(ctx, due, func(i int, o Outcome) {
			o.Next = due[i].schedule(p.clock(), pause, o.Err)
			report(o)
		})
	}
}

// read reads sources, several at the same time.
func (p *Poller) read(ctx context.Context, sources []*source, each func(i int, o Outcome)) {
	var g errgroup.Group
	g.SetLimit(atOnce)
	for i, s := range sources {
		g.Go(func() error {
			var o Outcome
			err := safego.Run(func() error { o = p.readOne(ctx, s); return o.Err })
			o.Source, o.Err = s.name, err
			if err != nil {
				o.Error = err.Error()
			}
			if ctx.Err() == nil {
				each(i, o)
			}
			return nil
		})
	}
	_ = g.Wait() // the functions return no error
}

// readOne reads a source and stores what is new. What could not be stored is new again the next time.
func (p *Poller) readOne(ctx context.Context, s *source) Outcome {
	read, err := s.fetch(ctx)
	if err != nil || read == nil {
		return Outcome{Err: err, Same: err == nil}
	}
	o := Outcome{Title: read.Title}
	now := p.clock()
	converted := convert(read, s.base(), now)
	o.Rejected, o.Reason = converted.rejected, converted.why
	fresh := s.changed(converted.entries)
	err = p.date(ctx, fresh)
	if err == nil && len(fresh) > 0 {
		var w Written
		w, err = p.store.Put(ctx, itemsOf(fresh), s.seen == nil)
		o.Stored, o.Rejected, o.Reason = w.Stored, o.Rejected+w.Rejected, cmp.Or(o.Reason, w.Reason)
	}
	if err != nil {
		return Outcome{Title: read.Title, Err: err}
	}
	o.Same = len(fresh) == 0
	s.remember(converted.entries)
	return o
}

// date gives entries without a usable date that of the stored item: the time of the first read, so that
// neither an edit nor a restart makes them new again.
func (p *Poller) date(ctx context.Context, entries []entry) error {
	var undated []string
	for _, e := range entries {
		if e.undated {
			undated = append(undated, e.item.ID)
		}
	}
	if undated == nil {
		return nil
	}
	dates, err := p.store.Dates(ctx, undated)
	for i := range entries {
		e := &entries[i]
		if e.undated {
			e.item.UpdateTime = cmp.Or(dates[e.item.ID], e.item.UpdateTime)
		}
	}
	return err
}

func itemsOf(entries []entry) []feed.Item {
	items := make([]feed.Item, len(entries))
	for i, e := range entries {
		items[i] = e.item
	}
	return items
}

// Lines encodes items as an upload has them, one JSON object a line.
func Lines(items []feed.Item) ([]byte, error) {
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	for _, it := range items {
		if err := encoder.Encode(it); err != nil {
			return nil, err
		}
	}
	return lines.Bytes(), nil
}
