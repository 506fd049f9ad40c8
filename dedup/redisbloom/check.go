package redisbloom

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/rediskeys"
)

// clockSkew is the maximum difference between the clocks of servers that midnight handling
// tolerates. The doctor and the readiness probe warn long before.
const clockSkew = 5 * time.Minute

// question is one check in a pipeline.
type question struct {
	agent   string
	groups  []string
	members []string
	filters bool       // only the filters are checked, not the pending set
	days    []feed.Day // of the window, today first, and possibly tomorrow at the end
	now     time.Time
	shards  []int // the assumed shard count of each day
}

// Check implements [dedup.Checker] with one pipeline: the pending script, a BF.MEXISTS per day and,
// for days with an unknown shard count, a GET of it. A second round trip is needed only if a count
// differs from the configured one, if more than [mostRead] groups are pending, or if the server has
// lost the script.
//
// The script goes first. Groups that leave the pending set after it was read had been confirmed a
// grace period earlier, so the page script can detect by [dedup.Checked.At] that the filters were
// read too long ago.
func (s *Store) Check(ctx context.Context, agent string, groups []string, now time.Time) (dedup.Checked, error) {
	if len(groups) == 0 {
		return dedup.Checked{}, nil
	}
	q := s.question(agent, groups, now)
	out, err := s.ask(ctx, q, false)
	if err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT") {
		out, err = s.ask(ctx, q, true)
	}
	if err != nil {
		return dedup.Checked{}, s.checkError(ctx, "check", agent, now, err)
	}
	return out, nil
}

// Recorded reports for each group whether a filter of the window contains it, whether it is pending
// or not. It reads the filters as [Store.Check] does.
func (s *Store) Recorded(ctx context.Context, agent string, groups []string, now time.Time) ([]bool, error) {
	if len(groups) == 0 {
		return nil, nil
	}
	q := s.question(agent, groups, now)
	q.filters = true
	out, err := s.ask(ctx, q, false)
	if err != nil {
		return nil, s.checkError(ctx, "recorded", agent, now, err)
	}
	recorded := make([]bool, len(groups))
	for i, v := range out.Verdicts {
		recorded[i] = v != dedup.Unseen
	}
	return recorded, nil
}

// checkError wraps the error of a check in the sentinel that callers test for. A key of another
// application in place of a filter or the pending set also counts as unavailable; it is logged at
// most once a minute.
func (s *Store) checkError(ctx context.Context, step, agent string, now time.Time, err error) error {
	if !rediskeys.Foreign(err) {
		return contractError(step, err)
	}
	last := s.foreign.Load()
	isDue := now.Unix()-last >= int64(time.Minute/time.Second)
	logs := isDue && s.foreign.CompareAndSwap(last, now.Unix()) // one of several checks
	if logs {
		s.log.WarnContext(ctx, "a Redis key has an unexpected type, probably from another application; dedup checks that read it fail until it is removed",
			"key", s.keys.Pending(agent), "or", "a filter of the window", "error", err)
	}
	return fmt.Errorf("%w: %s: %w", dedup.ErrUnavailable, step, err)
}

func (s *Store) question(agent string, groups []string, now time.Time) *question {
	return &question{agent: agent, groups: groups, members: members(agent, groups), days: s.daysAsked(now), now: now}
}

// daysAsked returns the days of the window and, shortly before midnight, tomorrow: a server whose
// clock is ahead already writes to its filter. A server whose clock is behind writes to yesterday,
// which every window includes.
func (s *Store) daysAsked(now time.Time) []feed.Day {
	days := feed.Window(now, s.cfg.WindowDays)
	tomorrow := feed.DayOf(now.Add(clockSkew))
	if tomorrow > days[0] {
		days = append(days, tomorrow)
	}
	return days
}

// members returns agent:group for each group, all in one buffer.
func members(agent string, groups []string) []string {
	size := len(groups) * (len(agent) + 1)
	for _, g := range groups {
		size += len(g)
	}
	var b strings.Builder
	b.Grow(size)
	for _, g := range groups {
		b.WriteString(agent)
		b.WriteByte(':')
		b.WriteString(g)
	}
	all, list := b.String(), make([]string, len(groups))
	for i, g := range groups {
		n := len(agent) + 1 + len(g)
		list[i], all = all[:n], all[n:]
	}
	return list
}

func (s *Store) ask(ctx context.Context, q *question, whole bool) (dedup.Checked, error) {
	args := s.args.Get().(*[]any)
	need := len(q.days)*(len(q.groups)+2) + pendingArgs
	if cap(*args) < need {
		*args = make([]any, 0, need)
	}
	free := (*args)[:0]

	pipe := s.client.Pipeline()
	var pending *redis.Cmd
	if !q.filters {
		pending = s.pendingCommand(ctx, &free, q, whole)
		_ = pipe.Process(ctx, pending)
	}
	metas := s.guessShards(ctx, pipe, q)
	hits := make([]*redis.BoolSliceCmd, len(q.days))
	for i, day := range q.days {
		hits[i] = exists(ctx, &free, s.filter(q.agent, day, q.shards[i]), q.members)
		_ = pipe.Process(ctx, hits[i])
	}
	if _, err := pipe.Exec(ctx); err != nil && !isReply(err) {
		return dedup.Checked{}, err // the commands may still be in use: their arguments are not reused
	}
	out, err := dedup.Checked{Verdicts: make([]dedup.Verdict, len(q.groups))}, error(nil)
	if pending != nil {
		err = s.pendingVerdicts(ctx, q, pending, &out)
	}
	if err == nil {
		err = s.correctShards(ctx, q, metas, hits)
	}
	if err == nil {
		err = filterVerdicts(out.Verdicts, hits, q)
	}
	clear(free)
	s.args.Put(args)
	return out, err
}

func exists(ctx context.Context, free *[]any, key string, members []string) *redis.BoolSliceCmd {
	start := len(*free)
	*free = append(*free, "bf.mexists", key)
	cmd := redis.NewBoolSliceCmd(ctx, appendPointers(free, start, members)...)
	cmd.SetFirstKeyPos(1)
	return cmd
}

// appendPointers completes the arguments that begin at start and returns them, with a capacity
// limit so that the next command's arguments cannot be appended to them.
func appendPointers(free *[]any, start int, list []string) []any {
	for i := range list {
		*free = append(*free, &list[i])
	}
	return (*free)[start:len(*free):len(*free)]
}

// guessShards sets the shard counts to assume, and queues a GET for those that are not known.
func (s *Store) guessShards(ctx context.Context, pipe redis.Pipeliner, q *question) []*redis.StringCmd {
	q.shards = make([]int, len(q.days))
	var metas []*redis.StringCmd
	for i, day := range q.days {
		shards, known := s.shards.get(day, q.now)
		if !known {
			if metas == nil {
				metas = make([]*redis.StringCmd, len(q.days))
			}
			metas[i] = pipe.Get(ctx, s.keys.Shards(day))
		}
		q.shards[i] = cmp.Or(shards, s.cfg.Shards)
	}
	return metas
}

// correctShards repeats the check, in one pipeline, for the days whose shard count turned out to
// differ.
func (s *Store) correctShards(ctx context.Context, q *question, metas []*redis.StringCmd, hits []*redis.BoolSliceCmd) error {
	var again redis.Pipeliner
	for i, meta := range metas {
		if meta == nil {
			continue
		}
		shards, err := s.learn(meta, q.days[i], q.now)
		if err != nil {
			return err
		}
		if shards == 0 || shards == q.shards[i] {
			continue
		}
		if again == nil {
			again = s.client.Pipeline()
		}
		var args []any
		hits[i] = exists(ctx, &args, s.filter(q.agent, q.days[i], shards), q.members)
		_ = again.Process(ctx, hits[i])
	}
	if again == nil {
		return nil
	}
	if _, err := again.Exec(ctx); err != nil && !isReply(err) {
		return err
	}
	return nil
}
