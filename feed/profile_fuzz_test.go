package feed_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
)

// FuzzParseProfile checks that an accepted profile is within the bounds and is unchanged when
// written and read again.
func FuzzParseProfile(f *testing.F) {
	f.Add([]byte(`{"interests":{"go":3,"c++":0.5},"keywords":["bloom filter"],"langs":["en"],"muted_authors":["x"],"muted_tags":["y"]}`))
	f.Add([]byte(`{"keywords":[{"term":"C++","weight":2.5},{"term":"x"},"y"]}`))
	f.Add([]byte(`{}`))
	f.Add([]byte(`{"interests":{"go":1e999}}`))
	f.Add([]byte(`{"interests":null} {}`))
	f.Add([]byte(`{"langs":["\u0000","` + "\xff" + `"]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := feed.ParseProfile(data)
		if err != nil {
			require.ErrorIs(t, err, feed.ErrInvalid)
			return
		}
		require.NoError(t, p.Validate())
		text, err := json.Marshal(p)
		require.NoError(t, err)
		again, err := feed.ParseProfile(text)
		require.NoError(t, err)
		written, err := json.Marshal(again)
		require.NoError(t, err)
		require.JSONEq(t, string(text), string(written))
	})
}
