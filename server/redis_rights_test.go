package server

import (
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server/doctor"
	"github.com/freshet/freshet/social"
)

// redisUser returns services mode with the Redis user of docs/production.md, who has other rights
// besides, on a Redis for this test only. owner has all rights.
func redisUser(t *testing.T, others ...any) (cfg configs.Config, owner *redis.Client) {
	t.Helper()
	text, err := os.ReadFile("../docs/production.md")
	require.NoError(t, err)
	rights := regexp.MustCompile(`(?m)^ACL SETUSER freshet (.*)$`).FindSubmatch(text)
	require.NotNil(t, rights, "the rights in docs/production.md")
	own := testenv.StartRedis(t)
	owner = redis.NewClient(&redis.Options{Addr: own.Addr})
	t.Cleanup(func() { _ = owner.Close() })
	command := []any{"acl", "setuser", "freshet"}
	for right := range strings.FieldsSeq(string(rights[1])) {
		command = append(command, strings.Trim(right, "'"))
	}
	command = append(command, others...)
	require.NoError(t, owner.Do(t.Context(), append(command, ">secret")...).Err())
	cfg = withPostgres(t)
	cfg.Redis.URL, cfg.Redis.Password = "redis://freshet@"+own.Addr, "secret"
	return cfg, owner
}

// TestRedisUserWithDocumentedRights runs everything as the Redis user of docs/production.md: Redis refuses
// nothing, and the doctor finds nothing wrong with the user.
func TestRedisUserWithDocumentedRights(t *testing.T) {
	t.Parallel()
	cfg, owner := redisUser(t)
	cfg.Auth.AdminToken = testAdmin
	a := open(t, cfg, shortPauses)
	put(t, a, subjects(40)...)
	e := &erased{T: t, App: a, agent: "u_1"}
	watch, err := a.network.watcher.Watch(t.Context(), "u_2", nil)
	require.NoError(t, err)
	t.Cleanup(watch.Close)
	channel := rediskeys.For(owner, cfg.Redis.KeyPrefix).Wakes()
	testenv.WaitFor(t, func() bool { return owner.PubSubNumSub(t.Context(), channel).Val()[channel] == 1 }, "a subscription for streams")
	e.createData()
	require.NoError(t, owner.XAdd(t.Context(), &redis.XAddArgs{
		Stream: rediskeys.For(owner, cfg.Redis.KeyPrefix).GraphEvents(), Values: []any{"type", "follow.created", "data", `{"agent_id":"u_2","author_id":"u_other","at":1772791200}`},
	}).Err())
	for _, call := range []struct{ method, path, body string }{
		{"POST", "/v1/feed", `{"action":"refresh","limit":5,"request_id":"r1"}`},
		{"POST", "/v1/feed", `{"action":"refresh","limit":5,"request_id":"r1"}`},
		{"POST", "/v1/feed", `{"action":"load_more","limit":5}`},
		{"POST", "/v1/feed", `{"action":"refresh","silent":true,"limit":5}`},
		{"POST", "/v1/feed", `{"action":"refresh","feed":"home","limit":5}`},
		{"GET", "/v1/timeline", ""},
		{"GET", "/v1/authors/u_other/posts", ""},
		{"GET", "/v1/feed/guest", ""},
		{"POST", "/v1/impressions", `{"items":["` + subjects(40)[20].ID + `"]}`},
	} {
		status := asReader(t, a, call.method, call.path, call.body)
		assert.Less(t, status, 500, call)
		assert.NotEqual(t, 404, status, call)
	}
	waitRecorded(t, a)
	waitSettled(t, a)
	askAdmin[any](t, a, "DELETE", "/v1/agents/u_1", "")
	waitSettled(t, a)
	for name, state := range a.checks.Check(t.Context()) {
		assert.NoError(t, state.Err, name)
	}
	for _, f := range doctor.Check(t.Context(), cfg, doctor.Options{}) {
		if strings.HasPrefix(f.What, "redis") {
			assert.NotEqual(t, doctor.Broken, f.Level, f)
			assert.NotContains(t, f.Detail, "could not be checked", f)
			assert.NotContains(t, f.Detail, "refused", f)
		}
	}
	stats, err := owner.Info(t.Context(), "commandstats").Result()
	require.NoError(t, err)
	others := []string{"hello", "client", "auth", "acl", "info", "config", "ping", "publish", "subscribe", "pubsub"} // tried elsewhere, not needed, or of this test
	for _, match := range regexp.MustCompile(`cmdstat_([a-z.]+)`).FindAllStringSubmatch(stats, -1) {
		tried := slices.Contains(others, match[1]) || slices.Contains(rediskeys.Commands(false), match[1])
		assert.True(t, tried, "the doctor does not try %s", match[1])
	}
	denied, err := owner.Do(t.Context(), "acl", "log", "100").Slice()
	require.NoError(t, err)
	for _, entry := range denied {
		t.Error("refused: ", fmt.Sprint(entry))
	}
}

// TestRedisUserWithoutChannels runs streams as a user whose rights are those of an earlier version: they
// report new posts when they look. The doctor says what that user lacks, as does the log.
func TestRedisUserWithoutChannels(t *testing.T) {
	t.Parallel()
	cfg, _ := redisUser(t, "resetchannels", "-publish", "-subscribe")
	var log lines
	s := serve(t, cfg, WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	s.follow("r", "a")
	l := s.listen("r", "")
	for range 3 {
		l.hears(s.publish("a", social.Audience{Public: true}), 1)
	}
	testenv.WaitFor(t, func() bool { return strings.Count(log.String(), "every two seconds") == 2 }, "the log to name both rights, once")
	found := doctor.Check(t.Context(), cfg, doctor.Options{})
	at := slices.IndexFunc(found, func(f doctor.Finding) bool { return f.What == "redis streams" })
	require.GreaterOrEqual(t, at, 0)
	require.Equal(t, doctor.Warning, found[at].Level)
	require.Contains(t, found[at].Detail, "NOPERM")
	require.Equal(t, 2, strings.Count(log.String(), "every two seconds"))
}
