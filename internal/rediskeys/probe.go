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

// TryWrites writes each key, for a second.
func TryWrites(ctx context.Context, client redis.Cmdable, keys []string) error {
	pipe := client.Pipeline()
	for _, key := range keys {
		pipe.Set(ctx, key, 1, time.Second)
	}
	_, err := pipe.Exec(ctx)
	return Advise(err)
}

// remedies say how an operator can end a refusal, by the prefix of its reply.
var remedies = []struct{ prefix, advice string }{
	{"NOPERM", "the user lacks a right; docs/production.md lists those that Freshet needs"},
	{"ERR ACL failure in script", "the user lacks a right; docs/production.md lists those that Freshet needs"},
	{"ERR The user executing the script", "the user lacks a right; docs/production.md lists those that Freshet needs"},
	{"NOAUTH", "Redis refuses this user; correct redis.url and redis.password"},
	{"WRONGPASS", "Redis refuses this user; correct redis.url and redis.password"},
	{"ERR AUTH", "Redis refuses this user; correct redis.url and redis.password"},
	{"ERR invalid password", "Redis refuses this user; correct redis.url and redis.password"},
	{"ERR Client sent AUTH", "Redis has no password; leave it out of redis.url and redis.password"},
	{"ERR DB index is out of range", "Redis has fewer databases (databases, 16 by default) than the number at the end of redis.url; choose a lower one"},
	{"ERR SELECT is not allowed", "a cluster has only database 0; remove the number at the end of redis.url"},
	{"ERR This instance has cluster support disabled", "it is no cluster; name one address in redis.url, or with Sentinels their master_name"},
	{"DENIED", "Redis runs in protected mode; set a password, or let it listen only to its clients"},
	{"ERR unknown command", "this Redis lacks a command; use Redis 8, or 6.2 and newer with RedisBloom"},
	{unsupported, "a proxy in front of Redis does not pass a command; let servers connect to Redis itself"},
	{"READONLY", "it is a replica; name the master"},
	{"NOREPLICAS", "it has fewer replicas than min-replicas-to-write; start them"},
	{"MISCONF", "it could not save its data; free its disk and see its log"},
	{"OOM", "it has no memory left; raise maxmemory"},
	{"LOADING", "it is loading its data after a start; wait until it has"},
	{"MASTERDOWN", "it is a replica that has lost its master; name the master, or wait for a failover"},
	{"CLUSTERDOWN", "its cluster has no master for some keys; start that one, or let a replica take over"},
	{"BUSY ", "a script has run for too long; SCRIPT KILL ends it"},
	{"ERR max number of clients", "it has as many clients as it allows; raise maxclients, or end some"},
}

// Advise prefixes a refusal with what an operator can do about it.
func Advise(err error) error {
	advice := Advice(err)
	if advice == "" {
		return err
	}
	return fmt.Errorf("%s: %w", advice, err)
}

// Advice says what an operator can do about a reply by which Redis refuses, or cannot answer now; "" if
// that is not known. It repeats nothing of the reply.
func Advice(err error) string {
	var reply redis.Error
	if !errors.As(err, &reply) {
		return ""
	}
	text := textOf(reply)
	at := slices.IndexFunc(remedies, func(r struct{ prefix, advice string }) bool { return strings.HasPrefix(text, r.prefix) })
	if at < 0 {
		return ""
	}
	return remedies[at].advice
}
