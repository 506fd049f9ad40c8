package redisbloom

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/internal/rediskeys"
)

const (
	// mostStale bounds the number of stale groups that one check returns.
	mostStale = 1000
	// mostRead is the largest pending set that is read whole.
	mostRead = 1000
)

// pendingSource is the script that reads a pending set. It changes nothing.
//
//	KEYS[1]  the agent's pending set
//	ARGV[1]  newest score that no longer counts, ms by the server's clock, see [rediskeys.CommonTime]
//	ARGV[2]  scores below it are stale, ms, likewise
//	ARGV[3]  largest set that is read
//	ARGV[4]  now by the server's clock, ms
//	reply    {server time in ms} if the set is empty
//	         {server time in ms, number of stale groups, the groups, the oldest first} with spaces
//	         between the groups
//	         {server time in ms, number of groups} if there are more
//
// The candidates are compared here and not in Redis. Sending them costs Redis more than the usual
// set, and looking them up one by one costs most if the set is a listpack, in which each lookup
// reads half the set.
var pendingSource = rediskeys.CommonTime + `
local apart, clock = common(ARGV[4])
local count = redis.call('ZCARD', KEYS[1])
if count == 0 then return {clock} end
if count > tonumber(ARGV[3]) then return {clock, count} end
local expired = '(' .. moved(ARGV[1], apart)
local groups = redis.call('ZRANGEBYSCORE', KEYS[1], expired, '+inf')
return {clock, redis.call('ZCOUNT', KEYS[1], expired, '(' .. moved(ARGV[2], apart)), table.concat(groups, ' ')}
`

var pendingHash = redis.NewScript(pendingSource).Hash()

// pendingArgs is the number of arguments of its command.
const pendingArgs = 8

// pendingCommand builds the script call.
func (s *Store) pendingCommand(ctx context.Context, free *[]any, q *question, whole bool) *redis.Cmd {
	start := len(*free)
	name, script := "evalsha", pendingHash
	if whole {
		name, script = "eval", pendingSource
	}
	*free = append(*free, name, script, "1", s.keys.Pending(q.agent), s.expired(q.now), staleBefore(q.now), mostRead, q.now.UnixMilli())
	cmd := redis.NewCmd(ctx, (*free)[start:len(*free):len(*free)]...)
	cmd.SetFirstKeyPos(3)
	return cmd
}

// staleBefore returns the time before which a pending group is stale, ms.
func staleBefore(now time.Time) int64 { return now.Add(-dedup.StaleAfter).UnixMilli() }

// pendingVerdicts marks the groups that the reply of the pending script lists.
func (s *Store) pendingVerdicts(ctx context.Context, q *question, cmd *redis.Cmd, out *dedup.Checked) error {
	reply, err := cmd.Slice()
	if err != nil {
		return err
	}
	if len(reply) == 0 {
		return fmt.Errorf("%w: an empty reply from the pending script", errAnswer)
	}
	at, _ := reply[0].(int64)
	if at == 0 {
		return fmt.Errorf("%w: time %v from the pending script", errAnswer, reply[0])
	}
	out.At = at
	switch len(reply) {
	case 1:
		return nil
	case 2:
		return s.lookUp(ctx, q, out)
	}
	stale, _ := reply[1].(int64)
	text, _ := reply[2].(string)
	pending := strings.Split(text, " ")
	if stale < 0 || stale > int64(len(pending)) {
		return fmt.Errorf("%w: %v stale groups of %d from the pending script", errAnswer, reply[1], len(pending))
	}
	out.Stale = s.toRecord(pending[:stale:stale])
	is := make(map[string]struct{}, len(pending))
	for _, group := range pending {
		is[group] = struct{}{}
	}
	for i, group := range q.groups {
		_, found := is[group]
		if found {
			out.Verdicts[i] = dedup.Pending
		}
	}
	return nil
}

// lookUp looks up each group in a pending set that is too large to be read, and lists its stale
// groups, in one more round trip. The time of the check remains that of the first one, before the
// filters were read: a group that has left the set since then had been confirmed a grace period
// before.
func (s *Store) lookUp(ctx context.Context, q *question, out *dedup.Checked) error {
	now := q.now.Add(rediskeys.Common(q.now, out.At))
	key, expired := s.keys.Pending(q.agent), s.expired(now)
	pipe := s.client.Pipeline()
	scores := pipe.ZMScore(ctx, key, q.groups...)
	stale := pipe.ZRangeByScore(ctx, key, &redis.ZRangeBy{
		Min: fmt.Sprintf("(%d", expired), Max: fmt.Sprintf("(%d", staleBefore(now)), Count: mostStale,
	})
	if _, err := pipe.Exec(ctx); err != nil {
		return err
	}
	for i, score := range scores.Val() {
		if score > float64(expired) {
			out.Verdicts[i] = dedup.Pending
		}
	}
	out.Stale = s.toRecord(stale.Val())
	return nil
}

// toRecord returns those of the stale groups that are to be recorded.
func (s *Store) toRecord(stale []string) []string {
	if s.cfg.Served {
		return stale
	}
	return dedup.Marks(slices.Clone(stale))
}
