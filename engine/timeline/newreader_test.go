package timeline_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/engine/enginetest"
	"github.com/freshet/freshet/engine/timeline"
	"github.com/freshet/freshet/feed"
)

// A timeline has the new-reader mark when it is empty from the newest post on.
func TestTimelineNewReader(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		isNew  bool // no refresh is recorded
		before func(n *enginetest.Network)
		below  bool
		want   bool
	}{
		"empty":           {isNew: true, want: true},
		"after a refresh": {},
		"with posts": {isNew: true, before: func(n *enginetest.Network) {
			n.Follow("u_1", "ann")
			n.Post("ann", toAll)
		}},
		"a further page":    {isNew: true, below: true},
		"learned something": {isNew: true, before: func(n *enginetest.Network) { n.Reader.Learned.Features = []feed.LearnedFeature{{Evidence: 1}} }},
		"no profile":        {isNew: true, want: true, before: func(n *enginetest.Network) { n.ProfileErr = feed.ErrNotFound }},
		"profiles are down": {isNew: true, before: func(n *enginetest.Network) { n.ProfileErr = catalog.ErrUnavailable }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := enginetest.NewNetwork(t)
			n.New = c.isNew
			if c.before != nil {
				c.before(n)
			}
			ask := timeline.Request{Agent: "u_1", Limit: 5}
			if c.below {
				ask.Below.At, ask.Below.ID = n.Now().Unix(), "post:1"
			}
			page, err := n.Timelines.Timeline(t.Context(), ask)
			require.NoError(t, err)
			assert.Equal(t, c.want, page.NewReader)
		})
	}
}
