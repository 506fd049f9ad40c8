package feed_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
)

func TestIDs(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		id                   string
		agent, item, request bool
	}{
		{"u_10086", true, true, true},
		{"Ann.B@example-1.com", true, true, true},
		{"0", true, true, true},
		{"a:b", false, true, false},
		{"a/b", false, true, false},
		{"", false, false, false},
		{"a b", false, false, false},
		{"a|b", false, false, false},
		{"{a}", false, false, false},
		{"é", false, false, false},
		{"a\n", false, false, false},
		{"a\x00", false, false, false},
		{strings.Repeat("x", 64), true, true, true},
		{strings.Repeat("x", 65), true, true, false},
		{strings.Repeat("x", 128), true, true, false},
		{strings.Repeat("x", 129), false, true, false},
		{strings.Repeat("x", 256), false, true, false},
		{strings.Repeat("x", 257), false, false, false},
	} {
		for _, check := range []struct {
			name string
			fn   func(string) error
			ok   bool
		}{{"agent", feed.CheckAgentID, tc.agent}, {"item", feed.CheckItemID, tc.item}, {"request", feed.CheckRequestID, tc.request}} {
			err := check.fn(tc.id)
			if check.ok {
				require.NoError(t, err, "%s %q", check.name, tc.id)
			} else {
				require.ErrorIs(t, err, feed.ErrBadID, "%s %q", check.name, tc.id)
			}
		}
	}
}

func TestRef(t *testing.T) {
	t.Parallel()
	for _, r := range []feed.Ref{{ID: "a", Group: "a"}, {ID: "a:1/2", Group: "g"}} {
		require.Equal(t, r, feed.ParseRef(r.String()))
	}
	require.Equal(t, "a", feed.Ref{ID: "a", Group: "a"}.String())
	require.Equal(t, "g|a", feed.Ref{ID: "a", Group: "g"}.String())
	refs := []feed.Ref{{ID: "a", Group: "g"}, {ID: "b", Group: "b"}}
	require.Equal(t, []string{"g", "b"}, feed.Groups(refs))
	require.Equal(t, []string{"a", "b"}, feed.IDs(refs))
}
