package mirror

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/deduptest"
	"github.com/freshet/freshet/dedup/redisbloom"
	"github.com/freshet/freshet/internal/testenv"
)

// noon is the middle of a day, so that hours added to it stay on it.
var noon = time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)

// mirrored is a store with a mirror.
type mirrored struct {
	*redisbloom.Store
	mirror *Mirror
	prefix string
}

// mirroredAt makes a store with a mirror that begins to copy when a day has
// settled, and what it logs.
func mirroredAt(t testing.TB, client redis.UniversalClient, prefix string, cfg dedup.Config, room int64) (mirrored, *bytes.Buffer) {
	t.Helper()
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	m := New(client, cfg, Config{KeyPrefix: prefix, Bytes: room, Logger: log})
	m.spread, m.asked = 0, 512
	s, err := redisbloom.New(client, cfg, redisbloom.Config{KeyPrefix: prefix, Past: m, Logger: log})
	require.NoError(t, err)
	return mirrored{Store: s, mirror: m, prefix: prefix}, &out
}

// plainAt makes a store without a mirror.
func plainAt(t testing.TB, client redis.UniversalClient, prefix string, cfg dedup.Config) *redisbloom.Store {
	t.Helper()
	s, err := redisbloom.New(client, cfg, redisbloom.Config{KeyPrefix: prefix})
	require.NoError(t, err)
	return s
}

func openMirrored(t testing.TB, change func(*dedup.Config)) (mirrored, redis.UniversalClient, *bytes.Buffer) {
	t.Helper()
	client, prefix := testenv.Redis(t)
	cfg := deduptest.DefaultConfig()
	cfg.DailyCapacity = 20_000
	if change != nil {
		change(&cfg)
	}
	s, log := mirroredAt(t, client, prefix, cfg, plenty)
	return s, client, log
}

func groupNames(from, to int) []string {
	list := make([]string, 0, to-from)
	for i := from; i < to; i++ {
		list = append(list, fmt.Sprintf("doc_%d", i))
	}
	return list
}

func given(agent string, groups ...string) []dedup.Impression {
	batch := make([]dedup.Impression, len(groups))
	for i, g := range groups {
		batch[i] = dedup.Impression{Agent: agent, Group: g}
	}
	return batch
}

func record(t testing.TB, s dedup.Writer, now time.Time, batch []dedup.Impression) {
	t.Helper()
	unconfirmed, err := s.Record(t.Context(), batch, now)
	require.NoError(t, err)
	require.Empty(t, unconfirmed)
}

func verdicts(t testing.TB, s dedup.Checker, now time.Time, agent string, groups ...string) []dedup.Verdict {
	t.Helper()
	c, err := s.Check(t.Context(), agent, groups, now)
	require.NoError(t, err)
	return c.Verdicts
}

// hooked copies through the client itself, so that its hooks see it.
func hooked(_ context.Context, client redis.Cmdable, _ string) (redis.Cmdable, error) {
	return client, nil
}

// bring does a round, due or not.
func (m *Mirror) bring(ctx context.Context, now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.round(ctx, now)
}

// always brings the mirror up to date before each check, as if midnight and
// the round after it were long ago. The suite also writes to days of which
// other goroutines have moved on.
type always struct{ mirrored }

func (s always) Check(ctx context.Context, agent string, groups []string, now time.Time) (dedup.Checked, error) {
	if err := s.mirror.bring(ctx, now); err != nil && !errors.Is(err, errChanged) {
		return dedup.Checked{}, err
	}
	return s.Store.Check(ctx, agent, groups, now)
}

// week records something on seven days, the last of which is today.
func week(t testing.TB, s dedup.Writer, today time.Time) (agents []string) {
	t.Helper()
	for a := range 30 {
		agents = append(agents, fmt.Sprintf("u_%d", a))
	}
	for ago := 6; ago >= 0; ago-- {
		var batch []dedup.Impression
		for a, agent := range agents {
			batch = append(batch, given(agent, groupNames(ago*10+a%3, ago*10+10)...)...)
		}
		record(t, s, today.AddDate(0, 0, -ago), batch)
	}
	return agents
}

// names collects the commands that went to the server.
type names struct {
	mu  sync.Mutex
	all []string
}

func (n *names) DialHook(next redis.DialHook) redis.DialHook { return next }
func (n *names) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		n.add(cmd)
		return next(ctx, cmd)
	}
}

func (n *names) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		n.add(cmds...)
		return next(ctx, cmds)
	}
}

func (n *names) add(cmds ...redis.Cmder) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, cmd := range cmds {
		if name := cmd.Name(); name != "hello" && name != "client" {
			n.all = append(n.all, name)
		}
	}
}

func (n *names) take() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := n.all
	n.all = nil
	return all
}
