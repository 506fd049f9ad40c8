package events

import (
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/freshet/freshet/feed"
)

// While an experiment runs, the pages of its agents and of control's are remembered, so that an act
// counts for the variant that showed the item, at its position.

const (
	// PagesFor is how long a page is remembered: an act on it counts for that long.
	PagesFor = 24 * time.Hour
	// PagesMost is the number of pages that are remembered of an agent; the oldest are dropped first.
	PagesMost = 50
)

// Page is the record of a page that an agent was given.
type Page struct {
	Run    string // of the variant that ranked it
	Feed   feed.Name
	At     time.Time // to the millisecond
	Offset int       // number of items that the session has given before
	Items  []PageItem
}

// PageItem is an item of a page.
type PageItem struct {
	Group  uint32 // [GroupHash]
	Source feed.Source
}

// PageOf is a page of an agent, by the hash of the agent's id ([AgentHash]).
type PageOf struct {
	Agent uint64
	Page  Page
}

// AgentHash returns the hash under which an agent's pages are remembered.
func AgentHash(agent string) uint64 { return xxhash.Sum64String(agent) }

// GroupHash returns the hash of a group in a page. Two groups of an agent's pages are mistaken for each
// other once in about a million.
func GroupHash(group string) uint32 { return uint32(xxhash.Sum64String(group)) }

// placed is an item of a page in its session.
type placed struct {
	page     *Page
	source   feed.Source
	position int // from 1
}

// pageFormat is the first byte of an encoded page.
const pageFormat = 1

// Encode encodes a page in about 30 bytes and 5 for each item.
func (p *Page) Encode() []byte {
	data := make([]byte, 0, 16+len(p.Run)+len(p.Feed)+5*len(p.Items))
	data = append(data, pageFormat)
	data = binary.BigEndian.AppendUint64(data, uint64(p.At.UnixMilli()))
	data = binary.AppendUvarint(data, uint64(p.Offset))
	for _, text := range []string{p.Run, string(p.Feed)} {
		data = binary.AppendUvarint(data, uint64(len(text)))
		data = append(data, text...)
	}
	for _, it := range p.Items {
		data = append(binary.BigEndian.AppendUint32(data, it.Group), byte(it.Source))
	}
	return data
}

var errPage = errors.New("the record of a page is damaged")

// DecodePage decodes a page.
func DecodePage(data []byte) (p Page, err error) {
	if len(data) < 10 || data[0] != pageFormat {
		return p, errPage
	}
	p.At = time.UnixMilli(int64(binary.BigEndian.Uint64(data[1:]))).UTC()
	offset, n := binary.Uvarint(data[9:])
	if n <= 0 {
		return p, errPage
	}
	p.Offset, data = int(offset), data[9+n:]
	var texts [2]string
	for i := range texts {
		length, n := binary.Uvarint(data)
		if n <= 0 || uint64(len(data)-n) < length {
			return p, errPage
		}
		texts[i], data = string(data[n:n+int(length)]), data[n+int(length):]
	}
	p.Run, p.Feed = texts[0], feed.Name(texts[1])
	if len(data)%5 != 0 {
		return p, errPage
	}
	for ; len(data) > 0; data = data[5:] {
		p.Items = append(p.Items, PageItem{binary.BigEndian.Uint32(data), feed.Source(data[4])})
	}
	return p, nil
}

// written is about how long after an act or a page other pages of its agent may be written and read
// before it.
const written = 2 * time.Second

// late is about how much later than others a page may be written: those of a session are a second or two
// late, all of a server longer if it could not reach the store.
const late = 30 * time.Second

// inOrder sorts the pages of an agent, which a store has in the order in which they were written, as they
// were given. Pages that are dated further apart than that stay, because the clocks of servers may differ.
func inOrder(pages []Page) {
	for i := range pages {
		for j := i; j > 0; j-- {
			early := pages[j-1].At.Sub(pages[j].At)
			if early <= 0 || early > late {
				break
			}
			pages[j-1], pages[j] = pages[j], pages[j-1]
		}
	}
}

// known reports whether a page is one that an act or a page of a time may follow. The clock of the server
// that gave it may be ahead. A page that is dated just after the time may be a later one.
func (p *Page) known(now time.Time) bool {
	age := now.Sub(p.At)
	return age >= 0 && age <= PagesFor || age < -written && age >= -feed.ActTolerance
}

// shownOn returns where a group was shown last; ok is false if no page has it. If the only page is dated
// just after the act, a clock was ahead: nobody acts on what was not shown.
func shownOn(pages []Page, group string, now time.Time) (at placed, ok bool) {
	hash := GroupHash(group)
	for i := len(pages) - 1; i >= 0; i-- {
		p := &pages[i]
		j := slices.IndexFunc(p.Items, func(it PageItem) bool { return it.Group == hash })
		if j < 0 {
			continue
		}
		here := placed{p, p.Items[j].Source, p.Offset + j + 1}
		early := p.At.Sub(now)
		switch {
		case p.known(now):
			return here, true
		case !ok && early > 0 && early <= written:
			at, ok = here, true
		}
	}
	return at, ok
}

// lastOf returns the page of a feed that a page given now continues, or nil if that is unknown: the newest
// before it, or one of a server whose clock is ahead.
func lastOf(pages []Page, name feed.Name, now time.Time) (last *Page) {
	for i := len(pages) - 1; i >= 0; i-- {
		p := &pages[i]
		switch {
		case p.Feed != name || !p.known(now):
		case !p.At.After(now):
			return p
		case last == nil:
			last = p
		}
	}
	return last
}
