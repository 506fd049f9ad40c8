package feed_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
)

func TestParseTime(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"2026-03-06T12:00:00Z": noon, "2026-03-06T13:00:00+01:00": noon, "1772798400": noon, "1772798400.0": noon, "1.7727984e9": noon,
		"1772798400.125": noon.Add(125 * time.Millisecond), "2026-03-06T12:00:00.5Z": noon.Add(time.Second / 2),
		"1": time.Unix(1, 0), "253402300799": time.Unix(feed.MaxItemTime, 0),
	} {
		got, err := feed.ParseTime(text)
		require.NoError(t, err, text)
		require.True(t, want.Equal(got), "%s: %s", text, got)
	}
	for _, text := range []string{
		"", "yesterday", "0", "-1", "1772798400000", "1e300", "-1e300", "NaN", "Inf", "2026-03-06", "2026-03-06T12:00:00", "0001-01-01T00:00:00Z", "true", "null",
	} {
		_, err := feed.ParseTime(text)
		require.ErrorContains(t, err, "2026-03-06T12:00:00Z", text)
	}
}

func TestMoment(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)
	for _, text := range []string{`"2026-03-06T12:00:00Z"`, `1772798400`, `1.7727984e9`} {
		var m feed.Moment
		require.NoError(t, m.UnmarshalJSON([]byte(text)), text)
		require.True(t, noon.Equal(m.Time), text)
	}
	for _, text := range []string{`"1772798400"`, `"1e9"`} {
		require.ErrorContains(t, new(feed.Moment).UnmarshalJSON([]byte(text)), "must be a number if it is in Unix seconds")
	}
	for _, text := range []string{`"soon"`, `true`, `{}`, `0`, `"0001-01-01T00:00:00Z"`} {
		require.ErrorContains(t, new(feed.Moment).UnmarshalJSON([]byte(text)), "must be a time", text)
	}
}
