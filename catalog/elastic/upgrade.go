package elastic

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/freshet/freshet/feed/words"
	"github.com/freshet/freshet/internal/esindex"
)

const (
	// fewChanges is how many documents may change during a pass for the next one to
	// be the last, while nobody writes.
	fewChanges = 1000
	// mostPasses bounds the passes where writers are as fast as the copy.
	mostPasses = 10
	// unblockWithin bounds the request that lets writers in again.
	unblockWithin = 30 * time.Second
)

// Upgraded says what [Upgrade] did.
type Upgraded struct {
	Index string // the new one, which the name stands for from now on
	Items int
}

// Upgrade brings items into a new index, made by [esindex.Definition] as it is now,
// while servers answer and write. from is the index that the name stands for: it
// is the index itself, which is removed in the end, or an alias, and then the
// old index stays.
//
// The items are copied in passes, each over what changed since the one before, by
// the sequence numbers of the shards. For the last pass the old index takes no
// writes, which fail with [catalog.ErrUnavailable] and are sent again by their
// callers. So nothing that was confirmed is lost. In one step the name changes over
// and the old index goes. Whoever ends it before that, or starts it again, loses
// nothing either: the new index is begun anew. Of two at once the one that began
// last goes on; the other ends with an error and changes nothing more.
func Upgrade(ctx context.Context, client esindex.Client, name, from string, d esindex.Definition, schema esindex.Schema) (Upgraded, error) {
	u := &upgrade{
		client: client, name: name, from: from, into: name + "-v2", schema: schema, done: map[int]int64{},
		mark: name + "-v2-" + strings.ToLower(rand.Text()),
	}
	if u.from == u.into {
		return Upgraded{}, fmt.Errorf("%s is named as an upgraded index and has no token fields; reindex it under another name", from)
	}
	if err := u.run(ctx, d); err != nil {
		return Upgraded{}, fmt.Errorf("upgrading the index %s: %w", from, err)
	}
	return Upgraded{Index: u.into, Items: u.items}, nil
}

type upgrade struct {
	client           esindex.Client
	name, from, into string
	mark             string // alias of the new index that only this upgrade gives it
	schema           esindex.Schema
	done             map[int]int64 // per shard: everything up to this sequence number is copied
	items            int
}

func (u *upgrade) run(ctx context.Context, d esindex.Definition) error {
	if err := u.create(ctx, d); err != nil {
		return err
	}
	for pass := 0; ; pass++ {
		changed, err := u.pass(ctx)
		if err != nil {
			return err
		}
		if changed < fewChanges || pass == mostPasses {
			break
		}
	}
	if err := u.prune(ctx); err != nil {
		return err
	}
	if err := u.do(ctx, http.MethodPut, "/"+u.from+"/_block/write", nil, nil); err != nil {
		return errors.Join(err, u.unblock(ctx))
	}
	if err := u.finish(ctx); err != nil {
		return errors.Join(err, u.unblock(ctx))
	}
	return nil
}

// create makes the new index as the old one is set. What an attempt that was ended
// has left is removed: the new index, and the block that only it can have put there.
func (u *upgrade) create(ctx context.Context, d esindex.Definition) error {
	var found map[string]struct {
		Settings struct {
			Shards   int    `json:"index.number_of_shards,string"`
			Replicas int    `json:"index.number_of_replicas,string"`
			Refresh  string `json:"index.refresh_interval"`
			Blocked  string `json:"index.blocks.write"`
		} `json:"settings"`
	}
	if err := esindex.Do(ctx, u.client, http.MethodGet, "/"+u.from+"/_settings", "flat_settings=true", nil, into(&found)); err != nil {
		return err
	}
	old := found[u.from].Settings
	d.Shards, d.Replicas, d.RefreshInterval = old.Shards, &old.Replicas, old.Refresh
	body, err := d.Items()
	if err != nil {
		return err
	}
	err = u.do(ctx, http.MethodDelete, "/"+u.into, nil, nil)
	if old.Blocked == "true" {
		if err != nil {
			return fmt.Errorf("it takes no writes (index.blocks.write); take that setting back first: %w", err)
		}
		if err := u.unblock(ctx); err != nil {
			return err
		}
	}
	if err != nil && !esindex.IsType(err, "index_not_found_exception") {
		return err
	}
	if err := u.do(ctx, http.MethodPut, "/"+u.into, body, nil); err != nil {
		return err
	}
	return u.do(ctx, http.MethodPut, "/"+u.into+"/_alias/"+u.mark, nil, nil)
}

// finish is what is done while nobody writes.
func (u *upgrade) finish(ctx context.Context) error {
	if _, err := u.pass(ctx); err != nil {
		return err
	}
	if err := u.prune(ctx); err != nil {
		return err
	}
	report, err := esindex.Inspect(ctx, u.client, u.into, u.schema.Fields, "")
	if err != nil {
		return err
	}
	if !report.Schema.Tokens {
		return u.overtaken()
	}
	leave := map[string]any{"remove_index": map[string]string{"index": u.from}}
	if u.from != u.name {
		leave = map[string]any{"remove": map[string]string{"index": u.from, "alias": u.name}}
	}
	// Without the mark the new index is another upgrade's, which has let writers in
	// again and may not have copied everything: then nothing changes.
	request, err := json.Marshal(map[string]any{"actions": []any{
		map[string]any{"remove": map[string]any{"index": u.into, "alias": u.mark, "must_exist": true}},
		map[string]any{"add": map[string]any{"index": u.into, "alias": u.name, "is_write_index": true}},
		leave,
	}})
	if err != nil {
		return err
	}
	err = u.do(ctx, http.MethodPost, "/_aliases", request, nil)
	if esindex.IsType(err, "aliases_not_found_exception") {
		return errors.Join(u.overtaken(), err)
	}
	return err
}

func (u *upgrade) overtaken() error {
	return fmt.Errorf("the index %s was changed meanwhile, perhaps by another doctor; run it again", u.into)
}

// unblock lets writers in again, also where the caller has given up.
func (u *upgrade) unblock(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unblockWithin)
	defer cancel()
	return u.do(ctx, http.MethodPut, "/"+u.from+"/_settings", []byte(`{"index.blocks.write":null}`), nil)
}

// pass copies what changed since the pass before, of every shard.
func (u *upgrade) pass(ctx context.Context) (changed int, err error) {
	// Before the refresh: what is not known to be everywhere by now is for the next
	// pass too.
	upTo, err := u.checkpoints(ctx)
	if err != nil {
		return 0, err
	}
	if err := u.do(ctx, http.MethodPost, "/"+u.from+"/_refresh", nil, nil); err != nil {
		return 0, err
	}
	for shard, checkpoint := range upTo {
		after, ok := u.done[shard]
		if !ok {
			after = -1
		}
		n, err := u.shard(ctx, shard, after)
		if err != nil {
			return 0, err
		}
		changed += n
		u.done[shard] = checkpoint
	}
	return changed, nil
}

// checkpoints answers, per shard, up to where every copy of it has every change.
func (u *upgrade) checkpoints(ctx context.Context) (map[int]int64, error) {
	var stats struct {
		Indices map[string]struct {
			Shards map[string][]struct {
				Routing struct {
					Primary bool `json:"primary"`
				} `json:"routing"`
				Seq struct {
					Global int64 `json:"global_checkpoint"`
				} `json:"seq_no"`
			} `json:"shards"`
		} `json:"indices"`
	}
	if err := esindex.Do(ctx, u.client, http.MethodGet, "/"+u.from+"/_stats", "level=shards", nil, into(&stats)); err != nil {
		return nil, err
	}
	upTo := map[int]int64{}
	for name, copies := range stats.Indices[u.from].Shards {
		shard, err := strconv.Atoi(name)
		if err != nil {
			return nil, err
		}
		for _, c := range copies {
			if c.Routing.Primary {
				upTo[shard] = c.Seq.Global
			}
		}
	}
	return upTo, nil
}

// shard copies the documents of one shard that changed after a sequence number.
func (u *upgrade) shard(ctx context.Context, shard int, after int64) (copied int, err error) {
	query := map[string]any{"range": map[string]any{"_seq_no": map[string]int64{"gt": after}}}
	err = u.scan(ctx, u.from, "_shards:"+strconv.Itoa(shard), query, true, func(docs []esindex.Document) error {
		copied += len(docs)
		return u.put(ctx, docs)
	})
	return copied, err
}

// put writes documents of the old index into the new one, with their tokens and traits.
func (u *upgrade) put(ctx context.Context, docs []esindex.Document) error {
	var b bulk
	for i, doc := range docs {
		source, err := withTokens(&u.schema, doc)
		if err != nil {
			return err
		}
		b.add("index", doc.ID, source, i)
		if len(b.body) > maxBatchBytes || i == len(docs)-1 {
			if err := u.send(ctx, &b); err != nil {
				return err
			}
		}
	}
	return nil
}

func (u *upgrade) send(ctx context.Context, b *bulk) error {
	// By the mark: what was read a while ago must not get into another upgrade's
	// index, over what that one has read since.
	results, err := u.catalog().bulk(ctx, u.mark, "require_alias=true&", b)
	if err != nil {
		return err
	}
	for i, r := range results {
		if r.Error != nil && r.Status == http.StatusNotFound {
			return u.overtaken()
		}
		if err := r.err(errors.New("the document was refused")); err != nil {
			return fmt.Errorf("document %d of a batch: %w", b.of[i], err)
		}
	}
	b.body, b.of = b.body[:0], b.of[:0]
	return nil
}

func (u *upgrade) catalog() *Catalog {
	return New(u.client, Config{Index: u.into, Schema: esindex.Known(u.schema)})
}

// withTokens is a stored document with its traits and the tokens of its texts.
func withTokens(s *esindex.Schema, doc esindex.Document) ([]byte, error) {
	it, err := readItem(s, doc.ID, doc.Source)
	if err != nil {
		return nil, err
	}
	if !s.Mapped() {
		if own, live, ok := cutMarker(doc.Source); ok {
			return seal(s, own[:len(own)-1], &it, live), nil
		}
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(doc.Source, &fields); err != nil {
		return nil, fmt.Errorf("document %s: %w", doc.ID, err)
	}
	for name, text := range map[string]string{s.Source.TitleTokens: it.Title, s.Source.SummaryTokens: it.Summary} {
		fields[name] = append(words.Append([]byte(`"`), text), '"')
	}
	for _, t := range traits(s, &it) {
		fields[t.name], _ = json.Marshal(t.value) // a string can always be encoded
	}
	return json.Marshal(fields)
}

func (u *upgrade) do(ctx context.Context, method, path string, body []byte, read func([]byte) error) error {
	return esindex.Do(ctx, u.client, method, path, "", body, read)
}

// into returns a reader of an answer's body into a value.
func into(value any) func([]byte) error {
	return func(body []byte) error { return json.Unmarshal(body, value) }
}
