package coread_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/metrics"
	"github.com/freshet/freshet/signals"
	"github.com/freshet/freshet/signals/coread"
)

// failing is a store that adds nothing.
type failing struct {
	coread.Store
	err error
}

func (f failing) Add(context.Context, []coread.Act) error { return f.err }

// TestBufferCountsDropped counts the acts that a store refuses, and those that wait for a store that is
// down until the end.
func TestBufferCountsDropped(t *testing.T) {
	acts := func() []coread.Act { return []coread.Act{{Item: "a"}, {Item: "b"}} }
	for name, err := range map[string]error{"refused": errors.New("lost"), "down": coread.ErrUnavailable} {
		t.Run(name, func(t *testing.T) {
			before := testutil.ToFloat64(metrics.DroppedCoReaders)
			b := coread.NewBuffer(t.Context(), failing{err: err}, signals.Config{Timeout: time.Second})
			require.True(t, b.Acted("u_1", acts(), time.Unix(1_772_798_400, 0)))
			ended, cancel := context.WithCancel(t.Context())
			if errors.Is(err, coread.ErrUnavailable) {
				cancel()
			}
			b.Close(ended)
			cancel()
			assert.Equal(t, before+2, testutil.ToFloat64(metrics.DroppedCoReaders))
		})
	}
}
