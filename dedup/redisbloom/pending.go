package redisbloom

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/rediskeys"
)

// chunk is the most members one command is given.
const chunk = 1000

// claimScript takes groups in order until enough are taken.
//
//	KEYS[1]  the agent's pending set
//	KEYS[2]  the record of this claim
//	ARGV[1]  now, ms: the score of what is taken
//	ARGV[2]  newest score that no longer counts, ms
//	ARGV[3]  how many to take; 0: only report
//	ARGV[4]  TTL of the pending set, s
//	ARGV[5]  TTL of the record, s
//	ARGV[6…] the groups
//	reply    a string of one digit per group, the value of its [dedup.Claimed]
//
// The client sends a script again whose answer it did not get: what it took
// then is its own.
var claimScript = redis.NewScript(`
local before = redis.call('GET', KEYS[2])
if before then return before end
local expired, limit = tonumber(ARGV[2]), tonumber(ARGV[3])
local verdicts, adds, mine = {}, {}, {}
for from = 6, #ARGV, 1000 do
  local last = math.min(from + 999, #ARGV)
  local scores = redis.call('ZMSCORE', KEYS[1], unpack(ARGV, from, last))
  for i = 1, #scores do
    local group, verdict = ARGV[from + i - 1], '0'
    local open = limit == 0 or #adds < 2 * limit
    if open and (mine[group] or (scores[i] and tonumber(scores[i]) > expired)) then
      verdict = '2'
    elseif open and limit > 0 then
      verdict, mine[group] = '1', true
      adds[#adds + 1] = ARGV[1]
      adds[#adds + 1] = group
    end
    verdicts[#verdicts + 1] = verdict
  end
end
for from = 1, #adds, 1000 do
  redis.call('ZADD', KEYS[1], unpack(adds, from, math.min(from + 999, #adds)))
end
local reply = table.concat(verdicts)
if #adds > 0 then
  redis.call('EXPIRE', KEYS[1], ARGV[4])
  redis.call('SET', KEYS[2], reply, 'EX', ARGV[5])
end
return reply
`)

// claimRecordTTL is longer than the client tries to make a claim.
const claimRecordTTL = 30 * time.Second

// Claim implements [dedup.Claimer] in one script.
func (s *Store) Claim(ctx context.Context, agent string, groups []string, limit int, now time.Time) ([]dedup.Claimed, error) {
	if len(groups) == 0 {
		return nil, nil
	}
	args := append([]any{
		now.UnixMilli(), s.expired(now), max(limit, 0),
		int64(rediskeys.PendingTTL(s.cfg.PendingTTL) / time.Second), int64(claimRecordTTL / time.Second),
	}, addresses(groups)...)
	cmd := claimScript.Run(ctx, s.copies.Scripts(s.client), []string{s.keys.Pending(agent), s.keys.Page(agent, feed.ForYou, claimRecord())}, args...)
	short := cmd.Err()
	if errors.Is(short, rediskeys.ErrReplicas) {
		cmd.SetErr(nil)
	}
	verdicts, err := cmd.Text()
	if err != nil {
		return nil, contractError("claim", err)
	}
	if len(verdicts) != len(groups) {
		return nil, fmt.Errorf("claim: the script answered %d verdicts for %d groups", len(verdicts), len(groups))
	}
	claimed := make([]dedup.Claimed, len(groups))
	for i := range claimed {
		claimed[i] = dedup.Claimed(verdicts[i] - '0')
	}
	if short != nil {
		return nil, errors.Join(contractError("claim", short), s.unclaim(ctx, agent, groups, claimed))
	}
	return claimed, nil
}

// claimRecord is a name for the record of one claim, which no client can send.
func claimRecord() string { return "~claim" + strconv.FormatUint(rand.Uint64(), 36) }

// unclaim releases what was claimed and too few replicas have: after a failover
// another call could take it too.
func (s *Store) unclaim(ctx context.Context, agent string, groups []string, claimed []dedup.Claimed) error {
	var taken []string
	for i, c := range claimed {
		if c == dedup.Taken {
			taken = append(taken, groups[i])
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	return s.Release(ctx, agent, taken)
}

// releaseScript takes groups out that no one holds.
//
//	KEYS[1]  the agent's pending set
//	ARGV[1…] the groups
//	reply    1
var releaseScript = redis.NewScript(rediskeys.LetGoLua + `
for i = 1, #ARGV do letgo(KEYS[1], ARGV, i, i) end
return 1
`)

// Release implements [dedup.Claimer] in one script.
func (s *Store) Release(ctx context.Context, agent string, groups []string) error {
	if len(groups) == 0 {
		return nil
	}
	return contractError("release", releaseScript.Run(ctx, s.client, []string{s.keys.Pending(agent)}, addresses(groups)...).Err())
}

// holdScript holds groups.
//
//	KEYS[1]  the agent's pending set
//	ARGV[1]  when they were shown, ms
//	ARGV[2]  TTL of the pending set, s
//	ARGV[3…] the groups
//	reply    1
var holdScript = redis.NewScript(rediskeys.HoldLua + `
hold(KEYS[1], ARGV, 3, #ARGV, tonumber(ARGV[1]))
redis.call('EXPIRE', KEYS[1], ARGV[2])
return 1
`)

// Hold implements [dedup.Claimer] in one script.
func (s *Store) Hold(ctx context.Context, agent string, groups []string, at time.Time) error {
	if len(groups) == 0 {
		return nil
	}
	args := append([]any{at.UnixMilli(), int64(rediskeys.PendingTTL(s.cfg.PendingTTL) / time.Second)}, addresses(groups)...)
	return contractError("hold", holdScript.Run(ctx, s.copies.Scripts(s.client), []string{s.keys.Pending(agent)}, args...).Err())
}

// addresses makes arguments of groups. The client writes a *string as the string; a
// string would be allocated anew.
func addresses(groups []string) []any {
	args := make([]any, len(groups))
	for i := range groups {
		args[i] = &groups[i]
	}
	return args
}

// Forget implements [dedup.Claimer].
func (s *Store) Forget(ctx context.Context, agent string) error {
	return contractError("forget", s.client.Unlink(ctx, s.keys.Pending(agent)).Err())
}

// Settle implements [dedup.Writer]: one pipeline with a ZREM per agent.
func (s *Store) Settle(ctx context.Context, batch []dedup.Impression) error {
	byAgent := make(map[string][]string)
	for _, imp := range batch {
		byAgent[imp.Agent] = append(byAgent[imp.Agent], imp.Group)
	}
	return s.drop(ctx, "settle", byAgent)
}

// drop takes groups out of the agents' pending sets.
func (s *Store) drop(ctx context.Context, step string, byAgent map[string][]string) error {
	pipe := s.client.Pipeline()
	for agent, groups := range byAgent {
		key := s.keys.Pending(agent)
		for from := 0; from < len(groups); from += chunk {
			pipe.ZRem(ctx, key, addresses(groups[from:min(from+chunk, len(groups))])...)
		}
	}
	if pipe.Len() == 0 {
		return nil
	}
	_, err := pipe.Exec(ctx)
	return contractError(step, err)
}
