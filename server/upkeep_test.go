package server

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
)

// purgedOnce removes some rows in each call.
type purgedOnce struct {
	social.Upkeep
	social.Purged
}

func (p purgedOnce) Purge(context.Context, int) (social.Purged, error) { return p.Purged, nil }

// TestPurgeContinues: whatever kind has more than one call removes, the round continues with the next call.
func TestPurgeContinues(t *testing.T) {
	t.Parallel()
	for _, of := range []struct {
		removed social.Purged
		more    bool
	}{
		{social.Purged{}, false},
		{social.Purged{"posts": purgeRows - 1}, false},
		{social.Purged{"posts": purgeRows}, true},
		{social.Purged{"reports": social.ReportsPurgedAtOnce}, true},
		{social.Purged{"reports": social.ReportsPurgedAtOnce - 1, "posts": 1}, false},
	} {
		_, more, err := purgeSocial(purgedOnce{Purged: of.removed})(t.Context())
		require.NoError(t, err)
		require.Equal(t, of.more, more, "%v", of.removed)
	}
}
