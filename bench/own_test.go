package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
)

// stopper cancels a run when its progress output contains a text.
type stopper struct {
	at   string
	stop context.CancelFunc
	said strings.Builder
}

func (s *stopper) Write(p []byte) (int, error) {
	s.said.Write(p)
	if strings.Contains(s.said.String(), s.at) {
		s.stop()
	}
	return len(p), nil
}

// TestInterruptedRunCleanup interrupts runs in several parts: their keys, indices and files
// are removed, another key is not.
func TestInterruptedRunCleanup(t *testing.T) {
	for _, p := range parts {
		if p.mode != Services || !slices.Contains([]string{"load_more", "refresh", "dedup"}, p.name) {
			continue
		}
		for _, early := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, early %v", p.name, early), func(t *testing.T) {
				t.Setenv("TMPDIR", t.TempDir())
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				o := withServices(t)
				if early {
					o.Progress = &stopper{at: p.name + ", services", stop: cancel}
				}
				b, err := begin(ctx, o)
				require.NoError(t, err)
				prefix, name := b.prefix(), b.name
				require.True(t, strings.HasPrefix(prefix, o.Config.Redis.KeyPrefix), "what users may touch begins with their prefix")
				if !early { // after as many pipelines as a part begins with
					b.services.redis.AddHook(&countdown{left: 3, then: cancel})
				}
				client, own := testenv.Redis(t)
				neighbour := own + "not-ours"
				require.NoError(t, client.Set(t.Context(), neighbour, 1, 0).Err())

				_, err = b.finish(ctx, b.measurePart(ctx, p))
				require.ErrorIs(t, err, context.Canceled)
				assert.Empty(t, keysBelow(t, client, prefix))
				assert.Equal(t, int64(1), client.Exists(t.Context(), neighbour).Val())
				assert.Empty(t, indicesLike(t, o.Config.Elasticsearch.Addresses[0], name+"*"))
				assertEmpty(t, os.TempDir())
			})
		}
	}
}

// countdown calls then after a number of pipelines.
type countdown struct {
	left int
	then func()
}

func (c *countdown) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (c *countdown) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

func (c *countdown) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := next(ctx, cmds)
		if c.left--; c.left == 0 {
			c.then()
		}
		return err
	}
}

func keysBelow(t *testing.T, client redis.UniversalClient, prefix string) (keys []string) {
	t.Helper()
	all := client.Scan(t.Context(), 0, prefix+"*", 10_000).Iterator()
	for all.Next(t.Context()) {
		keys = append(keys, all.Val())
	}
	require.NoError(t, all.Err())
	return keys
}

// indicesLike lists the indices that match a pattern.
func indicesLike(t *testing.T, address, pattern string) string {
	t.Helper()
	res, err := http.Get(address + "/_cat/indices/" + pattern + "?h=index&expand_wildcards=all")
	require.NoError(t, err)
	list, err := io.ReadAll(res.Body)
	require.NoError(t, errors.Join(err, res.Body.Close()))
	require.Equal(t, http.StatusOK, res.StatusCode)
	return string(list)
}

// TestCleanupKeepsForeignData: a prefix that the bench did not create is refused, and one with
// pattern characters matches only literally.
func TestCleanupKeepsForeignData(t *testing.T) {
	client, own := testenv.Redis(t)
	keep := own + "keep"
	require.NoError(t, client.Set(t.Context(), keep, 1, 0).Err())
	require.Error(t, removeKeys(t.Context(), client, ""))
	require.Error(t, removeKeys(t.Context(), client, own))
	b := &bench{name: "freshet-items"}
	require.ErrorContains(t, b.removeIndices(t.Context()), "it is not deleted")
	assert.Equal(t, int64(1), client.Exists(t.Context(), keep).Val())

	odd, even := own+mark+"[ab]*", own+mark+"a"
	require.NoError(t, client.MSet(t.Context(), odd+"1", 1, even+"1", 1).Err())
	require.NoError(t, removeKeys(t.Context(), client, odd))
	assert.Equal(t, []string{even + "1"}, keysBelow(t, client, own+mark))
}

func TestRunNames(t *testing.T) {
	a, b := ownName(), ownName()
	assert.NotEqual(t, a, b)
	assert.True(t, strings.HasPrefix(a, mark))
	assert.Equal(t, strings.ToLower(a), a, "an index has no capitals")
}
