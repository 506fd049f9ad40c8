package feed

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAppendString(t *testing.T) {
	all := []string{"", "plain text", "Ünïcode 漢字", "\xff", "\u2028", "\x7f"}
	for c := range 256 {
		all = append(all, "a"+string([]byte{byte(c)})+"b")
	}
	for _, s := range all {
		want, err := json.Marshal(s)
		require.NoError(t, err)
		require.Equal(t, "x"+string(want), string(AppendString([]byte("x"), s)))
	}
	b := make([]byte, 0, 100)
	require.Zero(t, testing.AllocsPerRun(100, func() { AppendString(b, "post:plain-id_7") }))
}
