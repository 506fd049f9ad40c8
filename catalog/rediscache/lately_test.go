package rediscache

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestLately(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)
	l := lately{period: 10 * time.Second}
	at := func(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }
	ask := func(seconds float64) []string { return l.unknown([]string{"a", "b", "c"}, at(seconds)) }
	assert.Equal(t, []string{"a", "b", "c"}, ask(0))
	l.add("a", at(0))
	l.add("b", at(4.9))
	assert.Equal(t, []string{"c"}, ask(4.9))
	l.add("c", at(5))
	assert.Empty(t, ask(5))
	assert.Empty(t, ask(9.9))
	assert.Equal(t, []string{"a", "b"}, ask(10), "never longer than the period, and half of it at least")
	assert.Equal(t, []string{"a", "b", "c"}, ask(15))
	l.add("a", at(15))
	assert.Equal(t, []string{"a", "b", "c"}, ask(30), "nobody has asked for long")
	l.add("a", at(30))
	assert.Equal(t, []string{"a", "b", "c"}, ask(29), "the clock was set back")

	for i := range 2 * mostKnown {
		l.add(strconv.Itoa(i), at(29))
	}
	assert.Len(t, l.ids, mostKnown)
}
