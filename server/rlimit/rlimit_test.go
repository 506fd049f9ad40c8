package rlimit

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestHalf(t *testing.T) {
	for _, c := range []struct {
		limit      uint64
		most, want int
	}{
		{1024, 10_000, 512}, {1025, 10_000, 512}, {1 << 20, 10_000, 10_000}, {0, 10_000, 10_000}, {1<<64 - 1, 10_000, 10_000}, {1, 10_000, 0},
	} {
		assert.Equal(t, c.want, half(c.limit, c.most), "%+v", c)
	}
	assert.LessOrEqual(t, Half(100), 100)
}
