package catalog_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
)

// TestParseRecordDamaged: an unreadable learned part must not affect the declared profile or the
// other part.
func TestParseRecordDamaged(t *testing.T) {
	t.Parallel()
	const weights = `{"at":5,"features":[{"kind":"tag","value":"go","evidence":1}]}`
	for name, c := range map[string]struct {
		record             string
		learned, remembers bool
	}{
		"whole":                {`{"interests":{"go":2},"learned":` + weights + `,"learning":` + weights + `}`, true, true},
		"of an older server":   {`{"interests":{"go":2}}`, false, false},
		"acts":                 {`{"interests":{"go":2},"learned":` + weights + `,"learning":{"acts":"AAAA"}}`, true, false},
		"type of the features": {`{"interests":{"go":2},"learned":{"features":"go"},"learning":` + weights + `}`, false, true},
		"both":                 {`{"interests":{"go":2},"learned":[],"learning":7}`, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := catalog.ParseRecord([]byte(c.record))
			require.NoError(t, err)
			assert.Equal(t, map[string]float64{"go": 2}, r.Interests)
			assert.Equal(t, c.learned, !r.Learned.IsZero())
			assert.Equal(t, r.Learned, r.Weights)
			assert.Equal(t, c.remembers, r.Learning != nil)
			assert.True(t, r.Learn(true, func(l *feed.Learning) bool {
				return l.Add([]feed.LearningAct{{Kind: feed.Clicked, Group: "a", At: time.Unix(10, 0)}}, 0, time.Unix(10, 0))
			}), "it is learned on")
		})
	}
	for _, record := range []string{``, `[]`, `{"interests":7}`} {
		_, err := catalog.ParseRecord([]byte(record))
		require.Error(t, err, record)
	}
}

// TestParseRecordNewerVersion: fields that this version does not know are ignored at every
// level.
func TestParseRecordNewerVersion(t *testing.T) {
	t.Parallel()
	r, err := catalog.ParseRecord([]byte(`{"interests":{"go":2},"keywords":["raft",{"term":"etcd","weight":2,"lang":"en"}],` +
		`"muted_sites":["x"],"learned":{"at":5,"of":1,"features":[{"kind":"tag","value":"go","evidence":1,"since":3}]}}`))
	require.NoError(t, err)
	assert.Equal(t, map[string]float64{"go": 2}, r.Interests)
	assert.Equal(t, []feed.Keyword{{Term: "raft", Weight: 1}, {Term: "etcd", Weight: 2}}, r.Keywords)
	assert.Len(t, r.Learned.Features, 1)
	_, err = feed.ParseProfile([]byte(`{"keywords":[{"term":"etcd","lang":"en"}]}`))
	require.ErrorIs(t, err, feed.ErrInvalid, "one that comes in has no such fields")
}
