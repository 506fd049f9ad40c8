package rediskeys

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// listCommands are the commands by which servers use the Redis of lists and cards, with a key K.
var listCommands = []string{
	"get K", "mget K", "exists K", "pttl K", "getrange K 0 0", "expire K 60", "pexpire K 60000", "del K:", "unlink K:", "time",
	"zadd K 1 m", "zcard K", "zcount K 0 1", "zmscore K m", "zscore K m", "zrange K 0 0", "zrevrange K 0 0", "zrangebyscore K 0 0",
	"zrem K m", "zremrangebyrank K 0 0", "zremrangebyscore K 0 0", "eval return(1) 1 K", "evalsha 0 1 K", "scan 0 match K",
}

// mainCommands are the further ones by which they use the main Redis.
var mainCommands = []string{
	"strlen K", "hget K f", "hmget K f", "hgetall K", "hset K f 1", "hincrby K f 1", "lrange K 0 0", "lpush K 1", "rpush K 1", "lpop K",
	"lrem K 1 m", "lset K 0 m", "ltrim K 0 -1", "bitfield K get u32 #0", "sadd K m", "sismember K m", "pfadd K m", "pfcount K", "zincrby K 1 m", "bf.mexists K m", "bf.insert K nocreate items m",
	"bf.info K", "xadd K * f m", "xack K g 0-0", "xautoclaim K g c 0 0", "xgroup create K g 0", "xinfo groups K", "xreadgroup group g c streams K >", "xtrim K maxlen 9",
}

// Commands returns the names of the commands by which servers use a Redis, or only those for lists.
func Commands(lists bool) []string {
	names := []string{"set"}
	for _, command := range tries(lists) {
		name, _, _ := strings.Cut(command, " ")
		names = append(names, name)
	}
	return names
}

func tries(lists bool) []string {
	if lists {
		return listCommands
	}
	return slices.Concat(listCommands, mainCommands)
}

// TryCommands tries each command by which servers use a Redis, or only those for lists, on a key that it
// stores and removes. All but a few find that the key is a text and change nothing. The error names the
// commands that were refused; other replies are no errors.
func TryCommands(ctx context.Context, client redis.UniversalClient, key string, lists bool) error {
	cmds := []redis.Cmder{client.Set(ctx, key, 1, time.Minute)}
	defer client.Unlink(ctx, key)
	pipe := client.Pipeline()
	for _, try := range tries(lists) {
		cmds = append(cmds, pipe.Do(ctx, words(try, key)...))
	}
	_, _ = pipe.Exec(ctx) // each command has its own error
	var names []string
	var first error
	for _, cmd := range cmds {
		err := cmd.Err()
		var reply redis.Error
		switch {
		case err == nil || errors.As(err, &reply) && !Refused(err):
			continue
		case !Refused(err):
			return err
		case first == nil:
			first = err
		}
		names = append(names, strings.ToUpper(cmd.Name()))
	}
	if first == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", strings.Join(names, ", "), Advise(first))
}

// words returns the words of a command with a key.
func words(command, key string) []any {
	var all []any
	for word := range strings.FieldsSeq(command) {
		if strings.HasPrefix(word, "K") {
			word = key + word[1:]
		}
		all = append(all, word)
	}
	return all
}

// TryScript calls a script that does not exist, with a key. The error says that scripts are refused.
func TryScript(ctx context.Context, client redis.Scripter, key string) error {
	err := client.EvalSha(ctx, "0", []string{key}).Err()
	if Unreachable(err) {
		return Advise(err)
	}
	return nil
}
