package memory

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzParseCursor(f *testing.F) {
	f.Add(cursor{score: 1.5, time: 1_700_000_000, id: "a"}.String())
	f.Add("")
	f.Add("bQ")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseCursor(text)
		if err != nil {
			return
		}
		again, err := parseCursor(c.String())
		require.NoError(t, err)
		require.Equal(t, c, again)
	})
}
