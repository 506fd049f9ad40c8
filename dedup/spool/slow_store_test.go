package spool_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/spool"
)

// TestGraceAfterSlowPass: after a slow pass the next one may start immediately.
func TestGraceAfterSlowPass(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOthers(t)
		o.takes = 2*every - every/10
		sp := o.open(t, t.TempDir(), spool.Config{Grace: 10 * every})
		require.NoError(t, sp.Keep("u_1", []string{"b"}, noon))
		pass(3)
		assert.Contains(t, o.done(), "record")
		pass(9)
		time.Sleep(every / 2) // the pass ended less than the grace period ago
		assert.True(t, o.marked())
		pass(1)
		assert.False(t, o.marked())
	})
}

// TestStoreTimeout checks that a timeout is not logged anew in each pass, and that
// waiting impressions do not pile up in the recorder.
func TestStoreTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOthers(t)
		o.takes = time.Hour
		r, err := dedup.NewRecorder(t.Context(), o, func() time.Time { return noon }, dedup.RecorderConfig{})
		require.NoError(t, err)
		var log bytes.Buffer
		sp, err := spool.Open(t.Context(), t.TempDir(), r.Confirm, func() time.Time { return noon },
			spool.Config{Every: every, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		require.NoError(t, err)
		for i := range 900 {
			require.NoError(t, sp.Keep("u_1", []string{fmt.Sprint(i)}, noon))
		}
		pass(20)
		require.NoError(t, sp.Close(context.WithoutCancel(t.Context())))
		done, cancel := context.WithCancel(t.Context())
		cancel()
		assert.NotZero(t, r.Totals().Delivered)
		assert.Less(t, r.Totals().Delivered, uint64(900))
		r.Close(done)
		assert.Empty(t, log.String())
	})
}

// TestOfferedNotLoggedAsRecorded checks the log.
func TestOfferedNotLoggedAsRecorded(t *testing.T) {
	t.Parallel()
	for _, offered := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			o := newOthers(t)
			var log bytes.Buffer
			sp := o.open(t, t.TempDir(), spool.Config{OfferedOnly: offered, Logger: slog.New(slog.NewTextHandler(&log, nil))})
			require.NoError(t, sp.Keep("u_1", []string{"b"}, noon))
			pass(2)
			require.NoError(t, sp.Close(context.WithoutCancel(t.Context())))
			if offered {
				assert.Empty(t, log.String())
			} else {
				assert.Contains(t, log.String(), "impressions from disk were recorded")
			}
		})
	}
}
