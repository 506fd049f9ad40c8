package quality

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/signals/events"
)

// Data holds the posts and the reads of a community.
type Data struct {
	items  []feed.Item // oldest first
	byID   map[string]int
	events []event // by time
}

// event is one act of a reader.
type event struct {
	at     int64 // Unix seconds
	reader string
	kind   events.Kind
	item   int // index in Data.items
}

// reads reports whether the act shows that the item was read.
func (e *event) reads() bool { return e.kind == events.Click || e.kind == events.Like }

// kinds maps the types of events. Freshet has no event for a bookmark, a comment and following an
// item's comments; as approval they count as likes.
var kinds = map[string]events.Kind{
	"click": events.Click, "like": events.Like, "dislike": events.Dislike, "hide": events.Hide,
	"bookmark": events.Like, "comment": events.Like, "follow": events.Like,
}

// Load reads a file of items, one JSON object per line, and files of events, each
// sorted by time, one event per line:
//
//	time<TAB>reader<TAB>type<TAB>item id
//
// Time is in Unix seconds; there is no heading. Any file may be gzipped. Likes and
// comments of items are ignored: they were counted when the file was written, after
// the measured events. Errors name the file and the line.
func Load(items string, eventFiles ...string) (*Data, error) {
	d := &Data{byID: map[string]int{}}
	if err := d.loadItems(items); err != nil {
		return nil, err
	}
	for _, path := range eventFiles {
		if err := d.loadEvents(path, items); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(d.events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	if len(d.events) == 0 {
		return nil, fmt.Errorf("no events in %s", strings.Join(eventFiles, ", "))
	}
	return d, nil
}

func (d *Data) loadItems(path string) error {
	met := map[string]bool{}
	err := eachLine(path, func(line string) error {
		it, err := feed.ParseItem([]byte(line))
		if err != nil {
			return err
		}
		if met[it.ID] {
			return fmt.Errorf("the item %s is also on an earlier line; keep one of them", it.ID)
		}
		met[it.ID], it.Likes, it.Comments = true, 0, 0
		d.items = append(d.items, it)
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(d.items, func(a, b feed.Item) int { return cmp.Compare(a.UpdateTime, b.UpdateTime) })
	for i := range d.items {
		d.byID[d.items[i].ID] = i
	}
	return nil
}

func (d *Data) loadEvents(path, items string) error {
	var last int64
	return eachLine(path, func(line string) error {
		e, id, err := parseEvent(line)
		if err != nil {
			return err
		}
		var known bool
		e.item, known = d.byID[id]
		if !known {
			return fmt.Errorf("there is no item %q in %s", id, items)
		}
		if e.at < last {
			return fmt.Errorf("the event is of %d, before the one above it, of %d; sort the file by time", e.at, last)
		}
		last = e.at
		d.events = append(d.events, e)
		return nil
	})
}

// parseEvent parses an event, without resolving the item id.
func parseEvent(line string) (e event, id string, err error) {
	fields := strings.Split(line, "\t")
	if len(fields) != 4 {
		return e, "", fmt.Errorf("an event has 4 fields with tabs between them (time, reader, type, item id), not %d: %.80q", len(fields), line)
	}
	if e.at, err = strconv.ParseInt(fields[0], 10, 64); err != nil || e.at < 1 || e.at > feed.MaxItemTime {
		return e, "", fmt.Errorf("the time must be Unix seconds, not %.40q", fields[0])
	}
	e.reader, id = fields[1], fields[3]
	if err := feed.CheckAgentID(e.reader); err != nil {
		return e, "", fmt.Errorf("reader %.40q: %w", e.reader, err)
	}
	var known bool
	e.kind, known = kinds[fields[2]]
	if !known {
		return e, "", fmt.Errorf("unknown type %.40q; the types are click, like, bookmark, comment, follow, dislike and hide", fields[2])
	}
	return e, id, nil
}

// LoadReaders reads the readers who count: one per line, or those in a file of events.
func LoadReaders(path string) (map[string]bool, error) {
	readers := map[string]bool{}
	err := eachLine(path, func(line string) error {
		reader := line
		if strings.Contains(line, "\t") {
			e, _, err := parseEvent(line)
			if err != nil {
				return err
			}
			reader = e.reader
		}
		if err := feed.CheckAgentID(reader); err != nil {
			return fmt.Errorf("reader %.40q: %w", reader, err)
		}
		readers[reader] = true
		return nil
	})
	if err == nil && len(readers) == 0 {
		err = fmt.Errorf("%s contains no readers", path)
	}
	return readers, err
}

// Half is a half of the readers. A ranking chosen with one half must be reported with the other,
// or the numbers are overfitted.
type Half string

// The halves: readers whose id has an even or an odd FNV-1a hash of 32 bits.
const (
	All  Half = "all"
	Even Half = "even"
	Odd  Half = "odd"
)

// ParseHalf parses the name of a half.
func ParseHalf(s string) (Half, error) {
	h := Half(s)
	if h == All || h == Even || h == Odd {
		return h, nil
	}
	return "", errors.New("the half must be even, odd or all")
}

// has reports whether a reader is in the half.
func (h Half) has(reader string) bool {
	if h == All {
		return true
	}
	hash := fnv.New32a()
	hash.Write([]byte(reader))
	return hash.Sum32()%2 == 1 == (h == Odd)
}
