package feed_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
)

func TestParseLimits(t *testing.T) {
	for text, want := range map[string]feed.Limits{
		"none":                                {None: true},
		"rejects=10%":                         {Rejects: 0.1},
		"rejects=0.1":                         {Rejects: 0.1},
		"latency=12.5%, short=0.05,rejects=1": {Rejects: 1, Short: 0.05, Latency: 0.125},
	} {
		got, err := feed.ParseLimits(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
		if want.On() {
			again, err := feed.ParseLimits(got.String())
			require.NoError(t, err, got.String())
			assert.Equal(t, got, again)
		}
	}
	for _, text := range []string{"", "rejects", "rejects=", "rejects=0", "rejects=0%", "rejects=-1", "rejects=NaN", "rejects=1001%", "rejects=Inf", "coverage=1%", "none,short=1%"} {
		_, err := feed.ParseLimits(text)
		require.ErrorIs(t, err, feed.ErrInvalid, text)
	}
	require.ErrorIs(t, feed.Limits{None: true, Short: 1}.Validate(), feed.ErrInvalid)
	require.ErrorIs(t, feed.Limits{Short: -1}.Validate(), feed.ErrInvalid)
}
