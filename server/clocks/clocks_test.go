package clocks

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var noon = time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)

func TestSkew(t *testing.T) {
	for _, c := range []struct{ sent, theirs, received, want int }{
		{0, 5, 10, 0}, {0, 0, 0, 0}, {10, 5, 12, 5}, {0, 15, 10, 5}, {0, 10, 10, 0},
	} {
		at := func(s int) time.Time { return noon.Add(time.Duration(s) * time.Second) }
		assert.Equal(t, time.Duration(c.want)*time.Second, Skew(at(c.sent), at(c.theirs), at(c.received)), "%+v", c)
	}
}

// server is a Redis with a clock, or one that fails.
type server struct {
	now time.Time
	err error
}

func (s server) Time(ctx context.Context) *redis.TimeCmd {
	cmd := redis.NewTimeCmd(ctx)
	cmd.SetVal(s.now)
	cmd.SetErr(s.err)
	return cmd
}

func ours() time.Time { return noon }

// TestSkewWarningRedisDown checks that the previous warning remains while Redis does not
// answer.
func TestSkewWarningRedisDown(t *testing.T) {
	r := OfRedis(server{now: noon.Add(MostSkew)}, ours)
	assert.Empty(t, r.Warning(), "nothing is known yet")
	require.NoError(t, r.Ask(t.Context()))
	assert.Empty(t, r.Warning())

	r.client = server{now: noon.Add(-90 * time.Second)}
	require.NoError(t, r.Ask(t.Context()))
	const warning = "its clock differs from this server's by 1m30s; run NTP on both machines"
	assert.Equal(t, warning, r.Warning())
	r.client = server{now: noon, err: errors.New("no answer")}
	require.ErrorContains(t, r.Ask(t.Context()), "no answer")
	assert.Equal(t, warning, r.Warning())
}

// TestEarlier checks that the earlier of the two clocks is used, so that neither can be too far
// ahead. Without the time of Redis it fails.
func TestEarlier(t *testing.T) {
	for _, theirs := range []time.Duration{-time.Hour, 0, time.Hour} {
		now, err := Earlier(ours, server{now: noon.Add(theirs)})(t.Context())
		require.NoError(t, err)
		assert.Equal(t, noon.Add(min(0, theirs)), now)
	}
	now, err := Earlier(ours, server{now: noon, err: errors.New("no answer")})(t.Context())
	require.ErrorContains(t, err, "no answer")
	assert.Zero(t, now)
}
