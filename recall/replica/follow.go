package replica

import (
	"context"
	"errors"
	"fmt"
	"net/http"
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
		if copied := s.serving.Load(); copied != nil {
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

// look brings the copy to the state that the index has now.
func (f *follower) look(ctx context.Context) error {
	schema, err := f.cfg.Schema.Get()
	if err == nil && (schema.ByOthers() || !schema.Folds()) {
		err = errors.New("the index has fields that Freshet did not define; only Elasticsearch can recall from it")
	}
	if err != nil {
		f.drop()
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
	if f.copied == nil || f.copied.of != now.identity || now.before(f.copied.read) {
		f.begin(ctx, &now)
	}
	if err := f.readChanges(ctx, schema, &now); err != nil {
		return err
	}
	if err := f.removeDeleted(ctx, schema, &now); err != nil {
		return err
	}
	f.publish(ctx, began)
	return nil
}

// begin starts a copy from nothing. An earlier one is dropped first, so that memory never holds
// two.
func (f *follower) begin(ctx context.Context, now *state) {
	if f.copied != nil {
		f.cfg.Logger.WarnContext(ctx, "the index was replaced; recall from memory reads it anew", "index", f.cfg.Index)
	}
	f.drop()
	f.copied = &copied{index: f.cfg.NewIndex(), of: now.identity, begun: f.cfg.Clock(), counted: map[string]struct{}{}}
	f.copied.read = make([]int64, len(now.checkpoints))
	for i := range f.copied.read {
		f.copied.read[i] = -1
	}
	f.loading.Store(&Progress{Of: now.items})
}

func (f *follower) drop() {
	f.serving.Store(nil)
	f.loading.Store(nil)
	f.copied, f.compared = nil, comparison{}
	copiedItems.Set(0)
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
	copiedItems.Set(float64(c.index.Len()))
}

// state is the state of an index that [follower.inspect] read.
type state struct {
	identity
	items       int
	checkpoints []int64 // per shard: all copies of it have the changes up to this number
}

// before reports whether a shard confirms less than was read from it.
func (s *state) before(read []int64) bool {
	for i, n := range read {
		if i < len(s.checkpoints) && s.checkpoints[i] < n {
			return true
		}
	}
	return len(read) != len(s.checkpoints)
}

// shardStats is the part of a shard copy's statistics that is read.
type shardStats struct {
	Routing struct {
		Primary bool   `json:"primary"`
		State   string `json:"state"`
	} `json:"routing"`
	Docs struct {
		Count int `json:"count"`
	} `json:"docs"`
	Commit struct {
		UserData struct {
			History string `json:"history_uuid"`
		} `json:"user_data"`
	} `json:"commit"`
	SeqNo struct {
		Checkpoint int64 `json:"global_checkpoint"`
	} `json:"seq_no"`
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
	if len(found.Indices) != 1 {
		return s, fmt.Errorf("%s is the name of %d indices; recall from memory needs one", f.cfg.Index, len(found.Indices))
	}
	for _, index := range found.Indices {
		s.uuid = index.UUID
		for number := range len(index.Shards) {
			primary := primaryOf(index.Shards[fmt.Sprint(number)])
			if primary == nil {
				return s, fmt.Errorf("%w: shard %d has no primary", esindex.ErrUnavailable, number)
			}
			s.history += primary.Commit.UserData.History
			s.items += primary.Docs.Count
			s.checkpoints = append(s.checkpoints, primary.SeqNo.Checkpoint)
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
	if f.shards.uuid != now.uuid || len(now.checkpoints) != f.shards.n {
		return fmt.Errorf("%w: not all shards report their state", esindex.ErrUnavailable)
	}
	return nil
}

func primaryOf(copies []shardStats) *shardStats {
	for i := range copies {
		state := copies[i].Routing.State
		if copies[i].Routing.Primary && (state == "STARTED" || state == "RELOCATING") {
			return &copies[i]
		}
	}
	return nil
}

// readChanges reads the changes up to the checkpoints. The refresh comes after the checkpoints
// were read, so that the searches see all changes up to them.
func (f *follower) readChanges(ctx context.Context, schema *esindex.Schema, now *state) error {
	refreshed := false
	for shard, checkpoint := range now.checkpoints {
		if f.copied.read[shard] >= checkpoint {
			continue
		}
		if !refreshed {
			if err := f.refresh(ctx); err != nil {
				return err
			}
			refreshed = true
		}
		if err := f.readShard(ctx, schema, shard, checkpoint); err != nil {
			return err
		}
	}
	return nil
}

// refresh makes all changes visible to searches of every copy of a shard.
func (f *follower) refresh(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, f.cfg.Timeout)
	defer cancel()
	var done struct {
		Shards struct {
			Failed int `json:"failed"`
		} `json:"_shards"`
	}
	err := esindex.Ask(ctx, f.client, http.MethodPost, "/"+f.cfg.Index+"/_refresh", "", nil, &done)
	if err == nil && done.Shards.Failed > 0 {
		err = fmt.Errorf("%w: %d copies of shards could not be refreshed", esindex.ErrUnavailable, done.Shards.Failed)
	}
	return err
}

// readShard reads the changes of one shard up to its checkpoint, in their order. A document that
// changes meanwhile has a higher number and is read again by a later look.
func (f *follower) readShard(ctx context.Context, schema *esindex.Schema, shard int, checkpoint int64) error {
	c := f.copied
	for c.read[shard] < checkpoint {
		page, err := f.page(ctx, schema, shard, span{after: c.read[shard], to: checkpoint})
		if err != nil {
			return err
		}
		c.add(page)
		c.read[shard] = page.last
		if page.hits < pageSizeOf(schema) {
			c.read[shard] = checkpoint
		}
		if p := f.loading.Load(); p != nil {
			f.loading.Store(&Progress{Items: c.index.Len(), Of: max(p.Of, c.index.Len())})
		}
	}
	return nil
}

// add puts the documents of a page into the copy.
func (c *copied) add(p page) {
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
func (c *copied) remove(ids map[string]struct{}) {
	for id := range ids {
		c.index.Delete(id)
		delete(c.counted, id)
	}
}
