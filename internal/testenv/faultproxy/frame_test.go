package faultproxy

import (
	"bufio"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFramesPassedUnchanged(t *testing.T) {
	for name, frame := range map[string]string{
		"status":             "+OK\r\n",
		"error":              "-ERR no\r\n",
		"integer":            ":-7\r\n",
		"string":             "$5\r\na\r\nbc\r\n",
		"empty string":       "$0\r\n\r\n",
		"nil string":         "$-1\r\n",
		"nil array":          "*-1\r\n",
		"empty array":        "*0\r\n",
		"array":              "*3\r\n:1\r\n$2\r\nab\r\n*1\r\n+x\r\n",
		"nil":                "_\r\n",
		"boolean":            "#t\r\n",
		"double":             ",1.5\r\n",
		"big number":         "(349\r\n",
		"long error":         "!5\r\nERR x\r\n",
		"verbatim":           "=7\r\ntxt:abc\r\n",
		"map":                "%2\r\n+a\r\n:1\r\n+b\r\n*1\r\n:2\r\n",
		"set":                "~2\r\n:1\r\n:2\r\n",
		"push":               ">2\r\n+invalidate\r\n_\r\n",
		"attributes, answer": "|1\r\n+ttl\r\n:3\r\n$1\r\nx\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			r := bufio.NewReader(strings.NewReader(frame + "+next\r\n"))
			got, err := readFrame(r)
			require.NoError(t, err)
			assert.Equal(t, frame, string(got))
			got, err = readFrame(r)
			require.NoError(t, err)
			assert.Equal(t, "+next\r\n", string(got))
		})
	}
}

func TestInvalidFrames(t *testing.T) {
	for _, text := range []string{"PING\r\n", "\r\n", "+no end\n", "*x\r\n", "$?\r\n"} {
		_, err := readFrame(bufio.NewReader(strings.NewReader(text)))
		require.ErrorIs(t, err, errFrame, "%q", text)
	}
	for _, text := range []string{"", "+OK", "$5\r\nab", "*2\r\n:1\r\n"} {
		_, err := readFrame(bufio.NewReader(strings.NewReader(text)))
		require.ErrorIs(t, err, io.EOF, "%q", text)
	}
}

func TestCommands(t *testing.T) {
	c, err := parseCommand([]byte("*3\r\n$3\r\nSET\r\n$3\r\nk:1\r\n$4\r\na\r\nb\r\n"))
	require.NoError(t, err)
	assert.Equal(t, Command{"SET", "k:1", "a\r\nb"}, c)
	assert.Equal(t, "set", c.Name())
	assert.True(t, c.Mentions(":1"))
	assert.False(t, c.Mentions("SET"), "the name is no word of it")
	for _, text := range []string{"+OK\r\n", "*0\r\n", "*1\r\n:1\r\n", "*-1\r\n"} {
		_, err := parseCommand([]byte(text))
		require.ErrorIs(t, err, errFrame, "%q", text)
	}
}
