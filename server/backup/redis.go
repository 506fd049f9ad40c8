package backup

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/dedup/redisbloom"
	"github.com/freshet/freshet/internal/rowsum"
	"github.com/freshet/freshet/server/connect"
)

// The files of impressions of Redis: the pending sets, one a line; the list of filters; and for each filter
// its chunks, each after its position (8 bytes) and its length (4 bytes), both little endian.
const (
	pendingName = "redis/pending.ndjson"
	filtersName = "redis/filters.json"
)

func chunksOf(f redisbloom.Filter) string { return fmt.Sprintf("redis/%s-%d.filter", f.Day, f.Shard) }

// redis copies the impressions: the pending sets, then the filters. A group leaves a pending set once it is
// recorded in a filter, so it is in at least one of the two.
func (r *run) redis(ctx context.Context, p *Part) (err error) {
	client, err := openRedis(ctx, r.cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	if err := r.files.remove(ctx, r.folder+"redis/"); err != nil { // of an interrupted run
		return err
	}
	err = r.writeFile(ctx, p, pendingName, func(w io.Writer) error {
		buffered := bufio.NewWriterSize(w, chunk)
		lines := json.NewEncoder(buffered)
		err := eachPending(ctx, client, func(set redisbloom.Pending) error { return lines.Encode(set) })
		return errors.Join(err, buffered.Flush())
	})
	if err != nil {
		return err
	}
	filters, err := client.Filters(ctx, r.cfg.Dedup.WindowDays)
	if err != nil {
		return err
	}
	p.Tables = map[string]Table{}
	for i, f := range filters {
		r.opts.progress(p.Name, int64(i), int64(len(filters)))
		if err := r.filter(ctx, client, f, p); err != nil {
			return err
		}
	}
	p.Count = int64(len(filters))
	return r.writeFile(ctx, p, filtersName, func(w io.Writer) error { return json.NewEncoder(w).Encode(filters) })
}

// filter copies one filter.
func (r *run) filter(ctx context.Context, client *redisOf, f redisbloom.Filter, p *Part) error {
	var out *output
	var sum rowsum.Sum
	name := chunksOf(f)
	begin := func() (err error) {
		if out != nil {
			_, _ = out.finish(errAgain) // it grew, and is copied again
		}
		sum = rowsum.Sum{}
		out, err = r.files.begin(ctx, r.folder, name)
		return err
	}
	err := client.CopyFilter(ctx, f, begin, func(c redisbloom.Chunk) error {
		if err := r.pace.wait(ctx, len(c.Data)); err != nil {
			return err
		}
		sum.Add(chunkRow(c))
		head := binary.LittleEndian.AppendUint64(nil, uint64(c.Iter))
		head = binary.LittleEndian.AppendUint32(head, uint32(len(c.Data))) //nolint:gosec // ten megabytes at most
		if _, err := out.Write(head); err != nil {
			return err
		}
		_, err := io.WriteString(out, c.Data)
		return err
	})
	if out == nil {
		return err
	}
	file, err := out.finish(err)
	if err != nil {
		return err
	}
	p.Files = append(p.Files, file)
	p.Tables[name] = Table{Rows: sum.Rows, Sum: sum.String()}
	return nil
}

var errAgain = errors.New("the file is written again")

func chunkRow(c redisbloom.Chunk) []byte { return rowsum.Append(nil, c.Iter, c.Data) }

// eachPending calls do with each agent's pending set, once.
func eachPending(ctx context.Context, client *redisOf, do func(redisbloom.Pending) error) error {
	var mu sync.Mutex // on a cluster, masters are asked concurrently
	var errs []error
	seen := map[string]bool{} // a scan may name a key twice
	err := connect.EachMaster(ctx, client.UniversalClient, func(ctx context.Context, master *redis.Client) {
		err := client.EachPending(ctx, master, func(p redisbloom.Pending) error {
			mu.Lock()
			defer mu.Unlock()
			if seen[p.Agent] {
				return nil
			}
			seen[p.Agent] = true
			return do(p)
		})
		mu.Lock()
		defer mu.Unlock()
		errs = append(errs, err)
	})
	return errors.Join(append(errs, err)...)
}

// errSome ends a scan.
var errSome = errors.New("Redis has impressions: use an empty Redis, another redis.key_prefix, or delete the keys bf:* and feed:pending:*")

// emptyRedis returns an error if there are impressions.
func (r *restoring) emptyRedis(ctx context.Context) (err error) {
	client, err := openRedis(ctx, r.cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	filters, err := client.Filters(ctx, r.cfg.Dedup.WindowDays)
	if err != nil {
		return err
	}
	if len(filters) > 0 {
		return errSome
	}
	return eachPending(ctx, client, func(redisbloom.Pending) error { return errSome })
}

// redis restores the impressions. Days that have left the window meanwhile are left out.
func (r *restoring) redis(ctx context.Context, p *Part) (err error) {
	client, err := openRedis(ctx, r.cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	err = r.eachPending(ctx, p, func(set redisbloom.Pending) error { return client.LoadPending(ctx, set) })
	if err != nil {
		return err
	}
	filters, err := r.filters(ctx, p)
	for i, f := range filters {
		r.opts.progress(p.Name, int64(i), int64(len(filters)))
		if err := step(ctx, "restore "+chunksOf(f)); err != nil {
			return err
		}
		err := r.readFile(ctx, p, chunksOf(f), func(in io.Reader) error {
			return client.LoadFilter(ctx, f, func() (redisbloom.Chunk, bool, error) { return readChunk(in) })
		})
		if err != nil {
			return err
		}
	}
	return err
}

// mostChunk is more than a chunk has.
const mostChunk = 1 << 30

// readChunk reads the next chunk of a filter's file; false at its end.
func readChunk(in io.Reader) (c redisbloom.Chunk, more bool, err error) {
	var head [12]byte
	_, err = io.ReadFull(in, head[:])
	if errors.Is(err, io.EOF) {
		return c, false, nil
	}
	if err != nil {
		return c, false, err
	}
	n := binary.LittleEndian.Uint32(head[8:])
	if n > mostChunk {
		return c, false, fmt.Errorf("the backup is damaged: a chunk of a filter has %d bytes; restore another backup", n)
	}
	data := make([]byte, n)
	_, err = io.ReadFull(in, data)
	return redisbloom.Chunk{Iter: int64(binary.LittleEndian.Uint64(head[:])), Data: string(data)}, true, err //nolint:gosec // it was one
}

// eachPending reads the pending sets of the backup.
func (r *restoring) eachPending(ctx context.Context, p *Part, do func(redisbloom.Pending) error) error {
	return r.readFile(ctx, p, pendingName, func(in io.Reader) error {
		lines := json.NewDecoder(in)
		for {
			var set redisbloom.Pending
			err := lines.Decode(&set)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err == nil {
				err = do(set)
			}
			if err != nil {
				return err
			}
		}
	})
}

// filters reads the list of the filters of the backup.
func (r *restoring) filters(ctx context.Context, p *Part) (list []redisbloom.Filter, err error) {
	err = r.readFile(ctx, p, filtersName, func(in io.Reader) error {
		data, err := io.ReadAll(in)
		if err != nil {
			return err
		}
		return json.Unmarshal(data, &list)
	})
	return list, err
}

// redis compares the impressions that the backup has, except those that have expired since.
func (c *comparison) redis(ctx context.Context, p *Part) (err error) {
	client, err := openRedis(ctx, c.cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	r := &restoring{cfg: c.cfg, files: c.files, folder: c.folder}
	there := map[string]redisbloom.Pending{}
	if err := eachPending(ctx, client, func(p redisbloom.Pending) error { there[p.Agent] = p; return nil }); err != nil {
		return err
	}
	err = r.eachPending(ctx, p, func(want redisbloom.Pending) error {
		c.pending(want, there[want.Agent])
		delete(there, want.Agent)
		return nil
	})
	if err != nil {
		return err
	}
	for _, agent := range slices.Sorted(maps.Keys(there)) {
		c.differ("impressions: the backup has no items that %s was just shown, and here are %d", agent, len(there[agent].Groups))
	}
	filters, err := r.filters(ctx, p)
	if err != nil {
		return err
	}
	if err := c.furtherFilters(ctx, client, filters); err != nil {
		return err
	}
	for i, f := range filters {
		c.opts.progress(p.Name, int64(i), int64(len(filters)))
		if err := c.filter(ctx, client, f, p); err != nil {
			return err
		}
	}
	return err
}

// pending compares the items that an agent was just shown.
func (c *comparison) pending(want, got redisbloom.Pending) {
	lacks, more := 0, len(got.Groups)-len(want.Groups)
	for group, score := range want.Groups {
		is, ok := got.Groups[group]
		if !ok {
			more++
		}
		if !ok || is != score {
			lacks++
		}
	}
	if !want.Ends.After(time.Now()) {
		return
	}
	if lacks > 0 {
		c.differ("impressions: of %s, %d of %d items that were just shown are missing", want.Agent, lacks, len(want.Groups))
	}
	if more > 0 {
		c.differ("impressions: of %s, the backup lacks %d items that were just shown", want.Agent, more)
	}
}

// furtherFilters compares which filters there are.
func (c *comparison) furtherFilters(ctx context.Context, client *redisOf, filters []redisbloom.Filter) error {
	here, err := client.Filters(ctx, c.cfg.Dedup.WindowDays)
	for _, f := range here {
		if !slices.ContainsFunc(filters, func(of redisbloom.Filter) bool { return of.Day == f.Day && of.Shard == f.Shard }) {
			c.differ("impressions: the backup has no filter of %s, shard %d", f.Day, f.Shard)
		}
	}
	return err
}

// filter compares one filter.
func (c *comparison) filter(ctx context.Context, client *redisOf, f redisbloom.Filter, p *Part) error {
	if !f.Ends.After(time.Now()) {
		return nil
	}
	var sum rowsum.Sum
	err := client.CopyFilter(ctx, f, func() error { sum = rowsum.Sum{}; return nil }, func(part redisbloom.Chunk) error {
		sum.Add(chunkRow(part))
		return nil
	})
	var refused redis.Error
	switch {
	case errors.As(err, &refused) && sum.Rows == 0:
		c.differ("impressions: the filter of %s, shard %d, is missing: %v", f.Day, f.Shard, err)
	case err != nil:
		return err
	case sum.String() != p.Tables[chunksOf(f)].Sum:
		c.differ("impressions: the filter of %s, shard %d, is not that of the backup", f.Day, f.Shard)
	}
	return nil
}
