package gunzip_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/gunzip"
)

func packed(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := io.WriteString(z, text)
	require.NoError(t, errors.Join(err, z.Close()))
	return b.String()
}

func TestReader(t *testing.T) {
	t.Parallel()
	a, b := packed(t, "a\n"), packed(t, strings.Repeat("b", 100_000))
	for name, tt := range map[string]struct {
		in, out string
		bad     bool
	}{
		"one member":           {in: a, out: "a\n"},
		"nothing in it":        {in: packed(t, "")},
		"two members":          {in: a + b, out: "a\n" + strings.Repeat("b", 100_000)},
		"an empty one between": {in: a + packed(t, "") + a, out: "a\na\n"},
		"a newline behind it":  {in: a + "\n", out: "a\n"},
		"a line end of DOS":    {in: a + "\r\n", out: "a\n"},
		"padded to a block":    {in: a + strings.Repeat("\x00", 10_240), out: "a\n"},
		"padding between":      {in: a + strings.Repeat("\x00", 512) + a + "\n", out: "a\na\n"},
		"blanks":               {in: a + " \t\n\n", out: "a\n"},
		"text behind it":       {in: a + "\n{}", out: "a\n", bad: true},
		"half a member":        {in: a + a[:5], out: "a\n", bad: true},
		"cut off":              {in: b[:len(b)-9], out: strings.Repeat("b", 100_000), bad: true},
		"a wrong checksum":     {in: a[:len(a)-8] + "xxxx" + a[len(a)-4:], out: "a\n", bad: true},
		"one byte of a member": {in: a + "\x1f", out: "a\n", bad: true},
	} {
		for _, r := range []io.Reader{strings.NewReader(tt.in), iotest.OneByteReader(strings.NewReader(tt.in)), iotest.DataErrReader(strings.NewReader(tt.in))} {
			z, err := gunzip.NewReader(r)
			require.NoError(t, err, name)
			out, err := io.ReadAll(z)
			require.Equal(t, tt.out, string(out), name)
			require.Equal(t, tt.bad, err != nil, "%s: %v", name, err)
		}
	}
	for name, in := range map[string]string{"text": "{}", "nothing": "", "half a head": a[:4]} {
		_, err := gunzip.NewReader(strings.NewReader(in))
		require.Error(t, err, name)
	}
	_, err := gunzip.NewReader(iotest.ErrReader(io.ErrClosedPipe))
	require.ErrorIs(t, err, io.ErrClosedPipe)
}
