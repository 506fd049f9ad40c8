package social_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// TestFixedTerms changes each term of a circle and of a group.
func TestFixedTerms(t *testing.T) {
	group := social.CircleTerms{Kind: social.KindGroup, Post: social.ByMembers, History: social.HistoryJoined, MembersVisibleTo: social.ByOwner}
	plain := social.CircleTerms{Kind: social.KindCircle}
	for name, tc := range map[string]struct {
		kept, change social.CircleTerms
		want         error
	}{
		"nothing":                   {group, social.CircleTerms{}, nil},
		"the same":                  {group, group, nil},
		"who posts":                 {group, social.CircleTerms{Post: social.ByOwner}, nil},
		"kind":                      {group, social.CircleTerms{Kind: social.KindCircle}, feed.ErrForbidden},
		"history":                   {group, social.CircleTerms{History: social.HistoryAll}, feed.ErrForbidden},
		"who sees the members":      {group, social.CircleTerms{MembersVisibleTo: social.ByMembers}, feed.ErrForbidden},
		"a circle becomes a group":  {plain, social.CircleTerms{Kind: social.KindGroup}, feed.ErrForbidden},
		"history of a circle":       {plain, social.CircleTerms{History: social.HistoryJoined}, feed.ErrInvalid},
		"who sees them in a circle": {plain, social.CircleTerms{MembersVisibleTo: social.ByMembers}, feed.ErrInvalid},
	} {
		kept, changed := social.Circle{ID: "c", Owner: "o", CircleTerms: tc.kept}, social.Circle{ID: "c", Owner: "o", CircleTerms: tc.change}
		err := changed.Complete(&kept)
		require.ErrorIs(t, err, tc.want, name)
		if err == nil {
			tc.kept.Post = changed.Post // the only one that changes
			require.Equal(t, tc.kept, changed.CircleTerms, name)
		}
	}
}

// TestEventEnd checks which ends a call may give to a new and to an existing event.
func TestEventEnd(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	at := func(d time.Duration) int64 { return now.Add(d).Unix() }
	over, running := &social.Circle{Until: at(-time.Hour)}, &social.Circle{Until: at(time.Hour)}
	for name, tc := range map[string]struct {
		kept  *social.Circle
		until int64
		ok    bool
	}{
		"new":                         {nil, at(time.Second), true},
		"new, now":                    {nil, at(0), false},
		"new, a year ago":             {nil, at(-365 * 24 * time.Hour), false},
		"new, no event":               {nil, 0, true},
		"it ends now":                 {running, at(0), true},
		"it ends now, slow clock":     {running, at(-feed.MaxClockSkew), true},
		"moved into the past":         {running, at(-feed.MaxClockSkew - time.Second), false},
		"unchanged":                   {running, running.Until, true},
		"over, unchanged":             {over, over.Until, true},
		"over, moved within the past": {over, over.Until + 1, false},
		"over, goes on":               {over, at(time.Minute), true},
	} {
		err := (&social.Circle{ID: "e", Until: tc.until}).CheckUntil(tc.kept, now)
		if tc.ok {
			require.NoError(t, err, name)
		} else {
			require.ErrorIs(t, err, feed.ErrInvalid, name)
		}
	}
	require.NoError(t, running.CheckOpen(now))
	require.ErrorIs(t, running.CheckOpen(now.Add(time.Hour)), feed.ErrRule)
	require.NoError(t, (&social.Circle{}).CheckOpen(now))
}
