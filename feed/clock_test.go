package feed_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
)

func TestDayOf(t *testing.T) {
	t.Parallel()
	kiritimati := time.FixedZone("UTC+14", 14*3600)
	for _, tc := range []struct {
		name string
		at   time.Time
		want string
	}{
		{"midnight", time.Date(2026, 3, 6, 0, 0, 0, 0, time.UTC), "20260306"},
		{"just before midnight", time.Date(2026, 3, 5, 23, 59, 59, 999_999_999, time.UTC), "20260305"},
		{"tomorrow elsewhere", time.Date(2026, 3, 7, 1, 0, 0, 0, kiritimati), "20260306"},
		{"leap day", time.Date(2028, 2, 29, 12, 0, 0, 0, time.UTC), "20280229"},
		{"the first day", time.Unix(0, 0), "19700101"},
		{"a second before it", time.Unix(-1, 0), "19691231"},
		{"a day before it", time.Unix(-86400, 0), "19691231"},
		{"a day and a second before it", time.Unix(-86401, 0), "19691230"},
		{"nanoseconds before it", time.Unix(0, -1), "19691231"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := feed.DayOf(tc.at)
			require.Equal(t, tc.want, d.String())
			require.False(t, d.Start().After(tc.at))
			require.True(t, (d + 1).Start().After(tc.at))
			require.Equal(t, time.UTC, d.Start().Location())
			back, err := feed.ParseDay(tc.want)
			require.NoError(t, err)
			require.Equal(t, d, back)
		})
	}
}

func TestParseDayRefuses(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "2026-03-06", "20260230", "202603", "20260306x"} {
		_, err := feed.ParseDay(s)
		require.ErrorContains(t, err, "YYYYMMDD", "%q", s)
	}
}

func TestWindow(t *testing.T) {
	t.Parallel()
	days := func(at time.Time, n int) []string {
		var out []string
		for _, d := range feed.Window(at, n) {
			out = append(out, d.String())
		}
		return out
	}
	midnight := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	require.Equal(t, []string{"20260302", "20260301", "20260228", "20260227", "20260226", "20260225", "20260224"}, days(midnight, 7))
	require.Equal(t, []string{"20260301", "20260228"}, days(midnight.Add(-time.Nanosecond), 2))
	require.Equal(t, []string{"19700101", "19691231"}, days(time.Unix(0, 0), 2))
	require.Equal(t, []string{"20260302"}, days(midnight, 1))
}
