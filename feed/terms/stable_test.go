package terms

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"golang.org/x/text/unicode/norm"
)

// TestStableCharacters checks that folding does not change the characters that the fast path skips.
func TestStableCharacters(t *testing.T) {
	t.Parallel()
	for i, of := range stable {
		assert.True(t, of[0] <= of[1] && (i == 0 || stable[i-1][1] < of[0]), "in order")
		for r := of[0]; r <= of[1]; r++ {
			assert.Equal(t, string(r), foldUnicode(string(r)), "%+q", r)
			assert.True(t, norm.NFKC.PropertiesString(string(r)).BoundaryBefore(), "%+q", r)
		}
	}
}
