package elastic

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/recall"
)

// FuzzCursor checks that an accepted cursor is exactly one search_after value, so it cannot add
// anything else to the query.
func FuzzCursor(f *testing.F) {
	f.Add(`|[1.5,1700000000,"a"]`)
	f.Add(`|[1.5,1700000000,"a","g"]`)
	f.Add(`|[1.5,1700000000,null,3]["a","b|c"]`)
	f.Add(`|[1,2,"x"],"size":9`)
	f.Add(`|{}`)
	f.Add(`|[1.5,170000E400,"a","g"]`)
	f.Add(`|[1.5,1700000000,"g",3e400]["a"]`)
	schemas := []esindex.Schema{esindex.OwnSchema(esindex.Fields{}), esindex.OwnSchema(esindex.Fields{ID: esindex.MetaID})}
	f.Fuzz(func(t *testing.T, text string) {
		for _, schema := range schemas {
			at, err := parseCursor(text, &schema)
			if err != nil {
				require.ErrorIs(t, err, recall.ErrBadCursor)
				continue
			}
			if text == "" {
				continue
			}
			require.Equal(t, text, at.String())
			var values []any
			require.NoError(t, json.Unmarshal(at.searchAfter(), &values))
			require.Len(t, values, 4)
		}
	})
}
