package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/freshet/freshet/social/sqlstore"
)

const (
	// touchedTTL is how long rows of touched are retained at least. A server that has read no page for
	// longer evicts everything.
	touchedTTL = 2 * time.Minute
	// trimEvery is the time between two removals.
	trimEvery = 20 * time.Second
)

// trims removes old rows of touched.
type trims struct {
	mu      sync.Mutex
	horizon []horizon // the oldest first
}

// horizon is a time, by the monotonic clock of this process, at which all transactions before xid had
// ended.
type horizon struct {
	at  time.Time
	xid string
}

const (
	horizonText = `SELECT pg_snapshot_xmin(pg_current_snapshot())::text`

	// trimText removes the rows of transactions before $1, and says so in the same transaction.
	trimText = `WITH removed AS (DELETE FROM touched WHERE xid < $1::text::xid8)
		UPDATE touched_state SET trimmed = $1::text::xid8 WHERE trimmed < $1::text::xid8`
)

// Sweep implements [jobs.Queue]. It also removes old rows of touched.
func (s *Store) Sweep(ctx context.Context, n int) (int, error) {
	removed, err := s.Store.Sweep(ctx, n)
	if err == nil {
		err = dialect.Failed(ctx, "remove old rows of touched", s.validator.trim(ctx, time.Now()))
	}
	return removed, err
}

// trim removes rows older than [touchedTTL], if it is time to.
func (v *validator) trim(ctx context.Context, now time.Time) error {
	t := &v.trims
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.horizon); n > 0 && now.Sub(t.horizon[n-1].at) < trimEvery {
		return nil
	}
	var xid string
	err := v.db.Read(ctx, func(on sqlstore.Session) error {
		_, err := on.Row([]any{&xid}, horizonText)
		return err
	})
	if err != nil {
		return err
	}
	t.horizon = append(t.horizon, horizon{now, xid})
	old := ""
	for len(t.horizon) > 0 && now.Sub(t.horizon[0].at) >= touchedTTL {
		old, t.horizon = t.horizon[0].xid, t.horizon[1:]
	}
	if old == "" {
		return nil
	}
	return v.db.Alone(ctx, func(on sqlstore.Session) error {
		_, err := on.Exec(trimText, old)
		return err
	})
}
