package replica

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/periodic"
)

// followEvery is the pause between two looks at the index.
const followEvery = time.Second

// follower brings the copy of a [Source] up to date. Its methods are called by one goroutine at a
// time.
type follower struct {
	*Source
	turn     sync.Mutex // held by [Source.Update]
	copied   *copied    // nil until one is begun
	shards   shards
	compared comparison
}

// copied is a copy of one index.
type copied struct {
	index   Index
	of      identity
	begun   time.Time
	read    []int64             // per shard: the changes up to this number are in the copy
	counted map[string]struct{} // the ids that have counts
	whole   bool                // complete once; then it is followed
}

// identity changes with an index of the same name, and if a shard loses changes that it had
// confirmed: then its numbers are issued again.
type identity struct{ uuid, history string }

// shards is the number of shards of an index.
type shards struct {
	uuid string
	n    int
}

// Run updates the copy every second until ctx ends.
func (s *Source) Run(ctx context.Context) {
	newest := s.cfg.Clock() // the moment whose state of the index the copy has, or the start
	failing := periodic.Failing{
		Fails: "the copy of the index for recall from memory cannot be updated; Elasticsearch recalls once it is behind",
		Again: "the copy of the index for recall from memory is updated again",
	}
	for range periodic.Now(ctx, followEvery) {
		err := s.Update(ctx)
		failing.Tell(ctx, s.cfg.Logger, err, "index", s.cfg.Index)
		copied := s.serving.Load()
		if copied != nil {
			newest = copied.at
		}
		lagSeconds.Set(s.cfg.Clock().Sub(newest).Seconds())
	}
}

// Update brings the copy to the state that the index has when it is called. The first update reads
// the whole index. Errors wrap [esindex.ErrUnavailable], are refusals by Elasticsearch, or say why
// this index cannot be copied; then the next update continues. It is safe for concurrent use.
func (s *Source) Update(ctx context.Context) error {
	s.follower.turn.Lock()
	defer s.follower.turn.Unlock()
	return s.follower.look(ctx)
}

// Try makes each kind of request that Update makes, and copies nothing. Errors are those of Update.
func (s *Source) Try(ctx context.Context) error {
	f := &follower{Source: s}
	schema, err := f.schema()
	if err != nil {
		return err
	}
	now, err := f.inspect(ctx)
	if err != nil {
		return err
	}
	if err := f.checkShards(ctx, &now); err != nil {
		return err
	}
	if err := f.refresh(ctx, &now); err != nil {
		return err
	}
	for number, shard := range now.shards {
		if _, err := f.page(ctx, schema, place{number, shard.node}, span{after: -1, to: shard.checkpoint}, 1); err != nil {
			return err
		}
	}
	return nil
}

// schema returns the schema of an index that can be copied.
func (f *follower) schema() (*esindex.Schema, error) {
	schema, err := f.cfg.Schema.Get()
	if err == nil && (schema.ByOthers() || !schema.Folds() || schema.Partial) {
		err = errors.New("the index has fields that Freshet did not define, or does not store documents whole; only Elasticsearch can recall from it")
	}
	return schema, err
}

// look brings the copy to the state that the index has now.
func (f *follower) look(ctx context.Context) error {
	schema, err := f.schema()
	if err != nil {
		return err
	}
	began := f.cfg.Clock()
	now, err := f.inspect(ctx)
	if err == nil {
		err = f.checkShards(ctx, &now)
	}
	if err != nil {
		return err
	}
	if f.copied == nil || f.copied.of != now.identity {
		f.begin(ctx, &now)
	}
	if now.before(f.copied.read) {
		return fmt.Errorf("%w: a shard reports an earlier state than it did before", esindex.ErrUnavailable)
	}
	// The statistics are later than what was read last, so more items mean deleted ones.
	more := f.copied.whole && f.copied.index.Len() > now.items
	if err := f.readChanges(ctx, schema, &now); err != nil {
		return err
	}
	f.publish(ctx, began)
	return f.removeDeleted(ctx, schema, &now, more)
}

// begin starts a copy from nothing. An earlier one is dropped first, so that two are not in use.
func (f *follower) begin(ctx context.Context, now *state) {
	if f.copied != nil {
		f.cfg.Logger.WarnContext(ctx, "the index was replaced; recall from memory reads it anew", "index", f.cfg.Index)
	}
	f.drop()
	f.copied = &copied{index: f.cfg.NewIndex(), of: now.identity, begun: f.cfg.Clock(), counted: map[string]struct{}{}}
	f.copied.read = make([]int64, len(now.shards))
	for i := range f.copied.read {
		f.copied.read[i] = -1
	}
	f.loading.Store(&Progress{Of: now.items})
}

func (f *follower) drop() {
	f.serving.Store(nil)
	f.loading.Store(nil)
	f.copied, f.compared = nil, comparison{}
}

// publish lets the copy answer, with the state of the index at a moment.
func (f *follower) publish(ctx context.Context, at time.Time) {
	c := f.copied
	if !c.whole {
		c.whole, f.compared.at = true, at
		f.cfg.Logger.InfoContext(ctx, "recall from memory has read the index", "index", f.cfg.Index, "items", c.index.Len(), "seconds", f.cfg.Clock().Sub(c.begun).Seconds())
	}
	f.serving.Store(&serving{index: c.index, at: at})
	f.loading.Store(nil)
}

// state is the state of an index that [follower.inspect] read.
type state struct {
	identity
	items  int
	shards []shardState // by number
}

// shardState is the state of a shard's primary.
type shardState struct {
	checkpoint int64 // all copies of the shard have the changes up to this number
	// node has the primary. Searches go there: a copy on a node that has lost its master may be
	// old, and still answers.
	node string
}

// before reports whether a shard confirms less than was read from it: a replica that has just
// become the primary may not know yet what was confirmed.
func (s *state) before(read []int64) bool {
	for i, shard := range s.shards {
		if shard.checkpoint < read[i] {
			return true
		}
	}
	return false
}

// shardStats is the part of a shard copy's statistics that is read. A shard that is being closed has
// neither commit nor sequence numbers.
type shardStats struct {
	Routing struct {
		Primary bool   `json:"primary"`
		State   string `json:"state"`
		Node    string `json:"node"`
	} `json:"routing"`
	Docs struct {
		Count int `json:"count"`
	} `json:"docs"`
	Commit struct {
		UserData struct {
			History string `json:"history_uuid"`
		} `json:"user_data"`
	} `json:"commit"`
	SeqNo *struct {
		Checkpoint int64 `json:"global_checkpoint"`
	} `json:"seq_no"`
}

// serves reports whether this is a primary that can be read.
func (s *shardStats) serves() bool {
	started := s.Routing.State == "STARTED" || s.Routing.State == "RELOCATING"
	known := s.SeqNo != nil && s.SeqNo.Checkpoint >= -1 && s.Commit.UserData.History != ""
	return s.Routing.Primary && started && known
}

// inspect reads the state of the index.
func (f *follower) inspect(ctx context.Context) (s state, err error) {
	ctx, cancel := context.WithTimeout(ctx, f.cfg.Timeout)
	defer cancel()
	var found struct {
		Indices map[string]struct {
			UUID   string                  `json:"uuid"`
			Shards map[string][]shardStats `json:"shards"`
		} `json:"indices"`
	}
	const params = "level=shards&filter_path=indices.*.uuid,indices.*.shards.*.routing,indices.*.shards.*.docs,indices.*.shards.*.seq_no,indices.*.shards.*.commit.user_data"
	if err := esindex.Ask(ctx, f.client, http.MethodGet, "/"+f.cfg.Index+"/_stats/docs", params, nil, &found); err != nil {
		return s, err
	}
	if len(found.Indices) == 0 {
		return s, fmt.Errorf("%w: the index does not report its state", esindex.ErrUnavailable)
	}
	if len(found.Indices) > 1 {
		return s, fmt.Errorf("%s is the name of %d indices; recall from memory needs one", f.cfg.Index, len(found.Indices))
	}
	for _, index := range found.Indices {
		s.uuid = index.UUID
		for number := range len(index.Shards) {
			copies := index.Shards[fmt.Sprint(number)]
			i := slices.IndexFunc(copies, func(c shardStats) bool { return c.serves() })
			if i < 0 {
				return s, fmt.Errorf("%w: shard %d has no primary", esindex.ErrUnavailable, number)
			}
			primary := &copies[i]
			s.history += primary.Commit.UserData.History
			s.items += primary.Docs.Count
			s.shards = append(s.shards, shardState{primary.SeqNo.Checkpoint, primary.Routing.Node})
		}
	}
	return s, nil
}

// checkShards returns an error if the state of a shard is missing: a copy without it would look
// complete.
func (f *follower) checkShards(ctx context.Context, now *state) error {
	if f.shards.uuid != now.uuid {
		ctx, cancel := context.WithTimeout(ctx, f.cfg.Timeout)
		defer cancel()
		var found map[string]struct {
			Settings struct {
				Shards int    `json:"index.number_of_shards,string"`
				UUID   string `json:"index.uuid"`
			} `json:"settings"`
		}
		if err := esindex.Ask(ctx, f.client, http.MethodGet, "/"+f.cfg.Index+"/_settings", "flat_settings=true", nil, &found); err != nil {
			return err
		}
		for _, index := range found {
			if index.Settings.UUID == now.uuid {
				f.shards = shards{uuid: now.uuid, n: index.Settings.Shards}
			}
		}
	}
	if f.shards.uuid != now.uuid || len(now.shards) != f.shards.n {
		return fmt.Errorf("%w: not all shards report their state", esindex.ErrUnavailable)
	}
	return nil
}

// readChanges reads the changes up to the checkpoints. The refresh comes after the checkpoints
// were read, so that the searches see all changes up to them.
func (f *follower) readChanges(ctx context.Context, schema *esindex.Schema, now *state) error {
	refreshed := false
	for number, shard := range now.shards {
		if f.copied.read[number] >= shard.checkpoint {
			continue
		}
		if !refreshed {
			if err := f.refresh(ctx, now); err != nil {
				return err
			}
			refreshed = true
		}
		if err := f.readShard(ctx, schema, number, shard); err != nil {
			return err
		}
	}
	return nil
}

// refresh makes all changes visible to searches of every copy of a shard.
func (f *follower) refresh(ctx context.Context, now *state) error {
	ctx, cancel := context.WithTimeout(ctx, f.cfg.Timeout)
	defer cancel()
	var done struct {
		Shards struct {
			Successful int `json:"successful"`
			Failed     int `json:"failed"`
		} `json:"_shards"`
	}
	err := esindex.Ask(ctx, f.client, http.MethodPost, "/"+f.cfg.Index+"/_refresh", "", nil, &done)
	if err == nil && (done.Shards.Failed > 0 || done.Shards.Successful < len(now.shards)) {
		err = fmt.Errorf("%w: not all copies of shards could be refreshed", esindex.ErrUnavailable)
	}
	return err
}

// readShard reads the changes of one shard up to its checkpoint, in their order. A document that
// changes meanwhile has a higher number and is read again by a later look. If a page fails, smaller
// ones follow: large documents may exceed a limit of Elasticsearch, or of time.
func (f *follower) readShard(ctx context.Context, schema *esindex.Schema, number int, shard shardState) error {
	c, size := f.copied, min(mostPage, schema.MaxHits())
	for c.read[number] < shard.checkpoint {
		page, err := f.page(ctx, schema, place{number, shard.node}, span{after: c.read[number], to: shard.checkpoint}, size)
		if err != nil && size > leastPage && ctx.Err() == nil {
			size = max(leastPage, size/5)
			continue
		}
		if err != nil {
			return err
		}
		c.add(page)
		c.read[number] = page.last
		if page.hits < size {
			c.read[number] = shard.checkpoint
		}
		p := f.loading.Load()
		if p != nil {
			f.loading.Store(&Progress{Items: c.index.Len(), Of: max(p.Of, c.index.Len())})
		}
	}
	return nil
}

// add puts the documents of a page into the copy.
func (c *copied) add(p page) {
	c.remove(p.others)
	c.index.Upsert(p.items)
	for i := range p.items {
		id := p.items[i].ID
		_, has := p.counts[id]
		_, had := c.counted[id]
		switch {
		case has:
			c.counted[id] = struct{}{}
		case had:
			p.counts[id] = feed.Counts{}
			delete(c.counted, id)
		}
	}
	c.index.SetCounts(p.counts)
}

// remove deletes items from the copy.
func (c *copied) remove(ids []string) {
	c.index.DeleteAll(ids)
	for _, id := range ids {
		delete(c.counted, id)
	}
}
