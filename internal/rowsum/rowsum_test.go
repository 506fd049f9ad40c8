package rowsum

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSum(t *testing.T) {
	t.Parallel()
	sum := func(rows ...string) *Sum {
		s := &Sum{}
		for _, row := range rows {
			s.Add([]byte(row))
		}
		return s
	}
	assert.Equal(t, *sum("a", "b", "c"), *sum("c", "a", "b"), "the order does not matter")
	assert.NotEqual(t, sum("a", "b").String(), sum("a", "c").String())
	assert.NotEqual(t, sum("a").String(), sum("a", "b", "b").String(), "rows that are there twice do not cancel out")
	assert.NotEqual(t, sum().String(), sum("").String())
	assert.EqualValues(t, 2, sum("a", "a").Rows)
}

func TestAppendDistinguishesRows(t *testing.T) {
	t.Parallel()
	rows := [][]any{
		{nil}, {int64(0)}, {0.0}, {""}, {[]byte{}}, {false}, {true}, {"ab", "c"}, {"a", "bc"}, {[]byte("ab"), "c"}, {int64(1)}, {1.0}, {"1"}, {nil, nil},
	}
	found := map[string]any{}
	for _, row := range rows {
		key := string(Append(nil, row...))
		assert.NotContains(t, found, key, "%v and %v", row, found[key])
		found[key] = row
	}
}
