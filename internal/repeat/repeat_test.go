package repeat

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestEvery has work that takes a moment, and once longer than three pauses.
func TestEvery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		began := time.Now()
		var at []time.Duration
		Every(ctx, time.Second, func(context.Context) {
			at = append(at, time.Since(began))
			switch len(at) {
			case 2:
				time.Sleep(3500 * time.Millisecond)
			case 5:
				cancel()
			}
		})
		var want []time.Duration
		for _, ms := range []int{1000, 2000, 5500, 6000, 7000} {
			want = append(want, time.Duration(ms)*time.Millisecond)
		}
		assert.Equal(t, want, at)
	})
}

// TestEveryEndsWhileItWaits with its context.
func TestEveryEndsWhileItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		Every(ctx, time.Hour, func(context.Context) { t.Error("it is not time yet") })
		assert.Equal(t, time.Minute, time.Since(began))
	})
}
