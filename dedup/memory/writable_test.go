package memory

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/journal"
)

// TestWritable checks that after a claim that could not be written, Writable returns an error
// until a write would succeed again. Reads do not change that.
func TestWritable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, true)
		s := b.open()
		b.claim(s, "before")
		require.NoError(t, s.Writable(t.Context()))
		require.NoError(t, s.journal.Close())
		err := s.Claim(t.Context(), "u_1", []string{"a"}, b.now)
		require.ErrorIs(t, err, dedup.ErrUnavailable)
		require.ErrorIs(t, s.Writable(t.Context()), dedup.ErrUnavailable)
		_, err = s.Pending(t.Context(), "u_1", []string{"a"}, b.now)
		require.NoError(t, err, "this only asks")
		require.ErrorIs(t, s.Writable(t.Context()), os.ErrClosed, "a read does not clear the failure")
		s.journal, err = journal.Open(s.journalPath(s.today), quiet())
		require.NoError(t, err)
		require.NoError(t, s.Writable(t.Context()))
		b.claim(s, "a")

		// The same holds for a day that cannot begin.
		b.now = b.now.AddDate(0, 0, 1)
		blocked := filepath.Join(b.dir, "20260307.journal")
		require.NoError(t, os.Mkdir(blocked, 0o700))
		err = s.Claim(t.Context(), "u_1", []string{"b"}, b.now)
		require.ErrorIs(t, err, dedup.ErrUnavailable)
		require.ErrorIs(t, s.Writable(t.Context()), dedup.ErrUnavailable)
		require.NoError(t, os.Remove(blocked))
		require.NoError(t, s.Writable(t.Context()))
		b.claim(s, "b")
	})
}

// TestStopFoldFailureLosesNothing: the journal still has everything, so a failed fold is logged
// and is no error.
func TestStopFoldFailureLosesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, served := range []bool{true, false} {
			b := newBench(t, served)
			var log bytes.Buffer
			s, err := Open(b.dir, b.cfg, atStart, WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
			require.NoError(t, err)
			b.claim(s, "claimed")
			b.record(s, "recorded")
			blocked := filepath.Join(b.dir, "20260306.filter.tmp")
			require.NoError(t, os.Mkdir(blocked, 0o700))
			b.close(s)
			assert.Equal(t, served, strings.Contains(log.String(), "Nothing is lost"), "else nothing is folded")
			require.NoError(t, os.Remove(blocked))
			s = b.open()
			assert.NotContains(t, b.verdicts(s, "claimed", "recorded"), unseen)
		}
	})
}

func TestStopTimeoutLosesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, true)
		s := b.open()
		b.claim(s, "claimed")
		synctest.Wait()
		watched := s.watched
		s.watched = make(chan struct{}) // simulates a slow fold
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin := time.Now()
		require.NoError(t, s.Close(ctx))
		assert.Equal(t, time.Second, time.Since(begin))
		_, err := Open(b.dir, b.cfg, atStart)
		require.ErrorContains(t, err, "in use by another process", "the directory belongs to the fold")
		close(s.watched)
		<-watched
		synctest.Wait()
		assert.Equal(t, []dedup.Verdict{today}, b.verdicts(b.open(), "claimed"))
	})
}
