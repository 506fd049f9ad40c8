package handler

import (
	"context"
	"fmt"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/signals/events"
)

// Counts reads the counts of the ranking's variants. [events.Store] implements
// it.
type Counts interface {
	// Read sums up the days from and to and those between, for every variant that
	// was counted on one of them, in the order of the names. Errors wrap
	// [events.ErrUnavailable].
	Read(ctx context.Context, from, to feed.Day) ([]events.Totals, error)
}

// reportDays is the default of days: a week, so that each day of the week weighs
// the same.
const reportDays = 7

// getReport answers GET /v1/ranking/report.
func (s *server) getReport(c *call) error {
	ask := struct {
		Days int `json:"days"`
	}{reportDays}
	if err := c.decodeQuery(&ask); err != nil {
		return err
	}
	if ask.Days < 1 || ask.Days > events.MaxReportDays {
		return fmt.Errorf("%w: days must be 1 to %d, not %d", feed.ErrInvalid, events.MaxReportDays, ask.Days)
	}
	to := feed.DayOf(s.cfg.Clock())
	from := to - feed.Day(ask.Days) + 1
	return c.answer(s.gated, func(ctx context.Context) (any, error) {
		counted, err := s.deps.Counts.Read(ctx, from, to)
		if err != nil {
			return nil, err
		}
		current, err := s.deps.Rankings.Current(ctx)
		return events.NewReport(&current.Live, counted, from, to), err
	})
}
