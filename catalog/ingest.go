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
	"github.com/freshet/freshet/internal/intake"
)

// IngestConfig bounds what an ingest holds in memory.
type IngestConfig struct {
	intake.Config
	// GroupByURL gives items without a group that of their link, see
	// [feed.URLGroup].
	GroupByURL bool
}

// Ingest reads items from a stream into a catalog.
type Ingest struct {
	w   Writer
	cfg IngestConfig
}

// NewIngest returns an ingest into w.
func NewIngest(w Writer, cfg IngestConfig) *Ingest { return &Ingest{w: w, cfg: cfg} }

// items are what a body consists of.
var items = intake.Kind{
	Entry: "item", Verb: "storing", Array: true, Whole: true, Most: feed.MaxItemBytes, Unavailable: ErrUnavailable,
	Reason: func(err error) string { return strings.TrimPrefix(err.Error(), "bad item: ") },
}

// Read stores the items of r, as [intake.Read] does. A body without any item is an error,
// but for the array []. Reading the same body again is safe.
func (in *Ingest) Read(ctx context.Context, r io.Reader) (api.Upload, error) {
	return intake.Read(ctx, r, items, in.cfg.Config, &itemBatch{in: in})
}

// ReadNewer is [Ingest.Read], but stores no item whose update_time is not later than that of
// the stored one with its id: these are reported as kept. Each item is compared and replaced
// in one step; only where there is none yet, one that another upload stores at the same
// moment may be replaced by an older one.
func (in *Ingest) ReadNewer(ctx context.Context, r io.Reader) (api.Upload, error) {
	return intake.Read(ctx, r, items, in.cfg.Config, &newerBatch{itemBatch{in: in}})
}

// itemBatch stores items.
type itemBatch struct {
	named
	in    *Ingest
	items []feed.Item
}

// Add implements [intake.Batch].
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

// Put implements [intake.Batch]. It starts a new slice each time, because the writer may
// have kept the old one.
func (b *itemBatch) Put(ctx context.Context) ([]error, error) {
	items := b.items
	b.items = nil
	return persist(ctx, len(items), func(of []int) ([]error, error) {
		some := those(items, of)
		errs, err := b.in.w.Put(ctx, some)
		forgive(some, errs)
		return errs, err
	})
}

// forgive takes the errors from items that a later one with the same id has replaced: tried
// again, they would replace that one.
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

// named names items that are not read by the id that they begin with.
type named struct{}

// TooBig implements [intake.Batch].
func (named) TooBig(data []byte) (id string, err error) {
	return peekID(data), feed.Errorf(feed.ErrInvalid, "bad item: it has more than the %d bytes an item may have", feed.MaxItemBytes)
}

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
			return s
		}
		var skipped json.RawMessage
		if dec.Decode(&skipped) != nil {
			return ""
		}
	}
	return ""
}

// newerBatch stores items that are newer than those that are stored.
type newerBatch struct{ itemBatch }

// Put implements [intake.Batch].
func (b *newerBatch) Put(ctx context.Context) ([]error, error) {
	all := b.items
	b.items = nil
	errs, newest := make([]error, len(all)), make(map[string]int, len(all))
	for i, it := range all {
		if before, twice := newest[it.ID]; twice && all[before].UpdateTime >= it.UpdateTime {
			errs[i] = intake.ErrKept
		} else {
			newest[it.ID] = i
		}
	}
	order := slices.Sorted(maps.Values(newest))
	some := those(all, order)
	of, err := persist(ctx, len(some), func(left []int) ([]error, error) { return putNewer(ctx, b.in.w, those(some, left)) })
	for k, i := range order {
		errs[i] = of[k]
	}
	for i := range all {
		if errs[i] == nil { // where the newest is kept out, so are those before it
			errs[i] = errs[newest[all[i].ID]]
		}
	}
	return errs, err
}

// putNewer stores those of the items, whose ids are distinct, that are newer than what is
// stored, as [Writer]'s Put does.
func putNewer(ctx context.Context, w Writer, items []feed.Item) ([]error, error) {
	errs, err := updateEach(ctx, w, items, func(it feed.Item) string { return it.ID }, func(it, stored feed.Item) (feed.Item, error) {
		if stored.UpdateTime >= it.UpdateTime {
			return feed.Item{}, intake.ErrKept
		}
		it.AuthorIDs, it.Langs = []string{}, []string{} // those of what is stored do not stay
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
