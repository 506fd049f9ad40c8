package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/internal/ndjson"
)

// IngestConfig limits the memory of an ingest.
type IngestConfig struct {
	ndjson.Config
	// GroupByURL derives the group of items without one from their link, see [feed.URLGroup].
	GroupByURL bool
}

// Ingest reads items from a stream into a catalog.
type Ingest struct {
	w   Writer
	cfg IngestConfig
}

// NewIngest returns an ingest into w.
func NewIngest(w Writer, cfg IngestConfig) *Ingest { return &Ingest{w: w, cfg: cfg} }

// items describes the entries of a request body.
var items = ndjson.Kind{
	Entry: "item", Verb: "storing", Array: true, Whole: true, Most: feed.MaxItemBytes, Unavailable: ErrUnavailable,
	Reason: func(err error) string { return strings.TrimPrefix(err.Error(), "bad item: ") },
}

// Read stores the items of r, as [ndjson.Read] does. A body without items is an error, except
// the array []. Reading the same body again is safe.
func (in *Ingest) Read(ctx context.Context, r io.Reader) (api.Upload, error) {
	return ndjson.Read(ctx, r, items, in.cfg.Config, &itemBatch{in: in})
}

// ReadNewer is [Ingest.Read], but skips an item if the stored item with its id has the same or
// a later update_time; it is reported as kept. The comparison and the replacement are atomic,
// with one exception: a new item that another upload stores at the same moment may be replaced
// by an older one.
func (in *Ingest) ReadNewer(ctx context.Context, r io.Reader) (api.Upload, error) {
	return ndjson.Read(ctx, r, items, in.cfg.Config, &newerBatch{itemBatch{in: in}})
}

// itemBatch stores items.
type itemBatch struct {
	named
	in    *Ingest
	items []feed.Item
}

// Add implements [ndjson.Batch].
func (b *itemBatch) Add(_ int, data []byte) (string, error) {
	it, err := feed.ParseItem(data)
	if err != nil {
		return peekID(data), err
	}
	if b.in.cfg.GroupByURL && it.GroupID == "" {
		it.GroupID = feed.URLGroup(it.URL)
	}
	b.items = append(b.items, it)
	return it.ID, nil
}

// Put implements [ndjson.Batch]. It starts a new slice each time, because the writer may retain
// the old one.
func (b *itemBatch) Put(ctx context.Context) ([]error, error) {
	items := b.items
	b.items = nil
	return persist(ctx, len(items), func(of []int) ([]error, error) {
		some := pick(items, of)
		errs, err := b.in.w.Put(ctx, some)
		forgive(some, errs)
		return errs, err
	})
}

// forgive clears the errors of items that a later one with the same id has replaced: a retry
// would overwrite the later one.
func forgive(items []feed.Item, errs []error) {
	replaced := map[string]bool{}
	for i := len(errs) - 1; i >= 0; i-- {
		switch id := items[i].ID; {
		case errs[i] == nil:
			replaced[id] = true
		case replaced[id] && errors.Is(errs[i], ErrUnavailable):
			errs[i] = nil
		}
	}
}

// named identifies items that cannot be parsed by the id found in their first bytes.
type named struct{}

// TooBig implements [ndjson.Batch].
func (named) TooBig(data []byte) (id string, err error) {
	return peekID(data), feed.Errorf(feed.ErrInvalid, "bad item: it exceeds the limit of %d bytes", feed.MaxItemBytes)
}

// peekID returns the id from the beginning of a possibly broken item; "" if it has none.
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
			// Even if it is invalid: a rejection reports the id that the sender used.
			id, _ := dec.Token()
			s, _ := id.(string)
			return s
		}
		var skipped json.RawMessage
		if dec.Decode(&skipped) != nil {
			return ""
		}
	}
	return ""
}

// newerBatch stores items that are newer than the stored ones.
type newerBatch struct{ itemBatch }

// Put implements [ndjson.Batch].
func (b *newerBatch) Put(ctx context.Context) ([]error, error) {
	all := b.items
	b.items = nil
	errs, newest := make([]error, len(all)), make(map[string]int, len(all))
	for i, it := range all {
		before, twice := newest[it.ID]
		if twice && all[before].UpdateTime >= it.UpdateTime {
			errs[i] = ndjson.ErrKept
		} else {
			newest[it.ID] = i
		}
	}
	order := slices.Sorted(maps.Values(newest))
	some := pick(all, order)
	of, err := persist(ctx, len(some), func(left []int) ([]error, error) { return putNewer(ctx, b.in.w, pick(some, left)) })
	for k, i := range order {
		errs[i] = of[k]
	}
	for i := range all {
		if errs[i] == nil { // if the newest is not stored, neither are those before it
			errs[i] = errs[newest[all[i].ID]]
		}
	}
	return errs, err
}

// putNewer stores those of the items that are newer than the stored ones, like [Writer]'s Put.
// The ids are distinct.
func putNewer(ctx context.Context, w Writer, items []feed.Item) ([]error, error) {
	errs, err := updateEach(ctx, w, items, func(it feed.Item) string { return it.ID }, func(it, stored feed.Item) (feed.Item, error) {
		if stored.UpdateTime >= it.UpdateTime {
			return feed.Item{}, ndjson.ErrKept
		}
		it.AuthorIDs, it.Langs = []string{}, []string{} // do not preserve those of the stored item
		return it, nil
	})
	if err != nil {
		return nil, err
	}
	var fresh []feed.Item
	var places []int
	for i := range errs {
		if errors.Is(errs[i], feed.ErrNotFound) {
			errs[i] = nil
			fresh, places = append(fresh, items[i]), append(places, i)
		}
	}
	if len(fresh) == 0 {
		return errs, nil
	}
	put, err := w.Put(ctx, fresh)
	for k, i := range places {
		errs[i] = err
		if put != nil {
			errs[i] = put[k]
		}
	}
	return errs, err
}
