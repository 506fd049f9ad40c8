package app

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
)

// trips writes down every command or pipeline that is sent.
type trips struct {
	mu   sync.Mutex
	sent []string
}

func (h *trips) note(what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sent = append(h.sent, what)
}

func (h *trips) take() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	sent := h.sent
	h.sent = nil
	return sent
}

func (h *trips) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (h *trips) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		// Whether Redis is up, or was down, and what trends is asked beside the requests.
		if cmd.Name() != "time" && cmd.Name() != "info" && !strings.Contains(cmd.String(), "feed:notes") && !strings.Contains(cmd.String(), "feed:trending") {
			h.note(cmd.Name())
		}
		return next(ctx, cmd)
	}
}

func (h *trips) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		h.note(fmt.Sprintf("pipeline of %d", len(cmds)))
		return next(ctx, cmds)
	}
}

// TestRoundTrips holds the budget: one round trip for a load_more, three for a
// refresh, and one more to hydrate the page.
func TestRoundTrips(t *testing.T) {
	cfg := services(t)
	held := WithRecorder(dedup.RecorderConfig{Linger: time.Hour}) // the recorder's own trips are not counted
	a := open(t, cfg, WithClock(at(noon).Now), held)
	put(t, a, madeItems(200)...)
	require.NoError(t, a.Engine.PutProfile(t.Context(), "u_1", feed.Profile{Interests: map[string]float64{"tag-1": 2}}))
	require.NoError(t, a.Catalog.Learn(t.Context(), "u_1", func(l *feed.Learning) bool { // comes with the profile
		tag := feed.WeightedFeature{Feature: feed.Feature{Kind: feed.FeatureTag, Value: "tag-2"}, Weight: 1}
		return l.Add([]feed.LearningAct{{Kind: feed.Liked, Group: "a", At: noon.Unix(), Features: []feed.WeightedFeature{tag}}}, 0)
	}))
	// A write leaves a mark that keeps readers from caching for some seconds.
	marks, err := a.clients.redis.Keys(t.Context(), cfg.Redis.KeyPrefix+"feed:item:*").Result()
	require.NoError(t, err)
	require.NoError(t, a.clients.redis.Del(t.Context(), marks...).Err())
	// Warm: contents are cached, scripts are loaded, shard counts are known.
	for range 3 {
		ask(t, a, refresh("warm", 100))
	}
	h := &trips{}
	a.clients.redis.AddHook(h)

	ask(t, a, refresh("u_1", 20))
	assert.LessOrEqual(t, len(h.sent), 4, "refresh: profile, dedup, page, hydrate: %v", h.take())
	ask(t, a, loadMore("u_1", 20))
	assert.LessOrEqual(t, len(h.sent), 2, "load_more: page, hydrate: %v", h.take())
	explained := loadMore("u_1", 20)
	explained.Why = true
	require.Len(t, ask(t, a, explained).Why, 20)
	assert.LessOrEqual(t, len(h.sent), 2, "reasons cost Redis nothing: %v", h.take())
	ask(t, a, engine.Request{Agent: "u_1", Action: engine.ActionRefresh, Limit: 20, RequestID: "r"})
	assert.LessOrEqual(t, len(h.sent), 5, "with a request id the retry check is sent beside the profile: %v", h.take())
	ask(t, a, engine.Request{Agent: "u_1", Action: engine.ActionRefresh, Limit: 20, Silent: true})
	assert.LessOrEqual(t, len(h.sent), 4, "silent: last refresh, profile, dedup, hydrate: %v", h.take())
}
