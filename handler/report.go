package handler

import (
	"context"
	"fmt"
	"strconv"

	"github.com/freshet/freshet/events"
	"github.com/freshet/freshet/feed"
)

// Counts reads what was counted of the variants. [events.Store] is one.
type Counts interface {
	Read(ctx context.Context, from, to feed.Day) ([]events.Totals, error)
}

// reportDays is how many days a report covers that does not say: a week, so
// that each day of the week weighs the same.
const reportDays = 7

// getReport answers GET /v1/ranking/report.
func (s *server) getReport(c *call) error {
	if err := s.auth.admin(c.gin.Request); err != nil {
		return err
	}
	days := reportDays
	if text, given := c.gin.GetQuery("days"); given {
		var err error
		if days, err = strconv.Atoi(text); err != nil || days < 1 || days > events.MaxReportDays {
			return fmt.Errorf("%w: days must be 1 to %d, not %.40q", errBadRequest, events.MaxReportDays, text)
		}
	}
	ctx, cancel := s.deadline(c)
	defer cancel()
	to := feed.DayOf(s.cfg.Clock())
	from := to - feed.Day(days) + 1
	counted, err := s.deps.Counts.Read(ctx, from, to)
	if err != nil {
		return err
	}
	live := s.deps.Rankings.Current(ctx).Live
	return c.succeed(events.NewReport(&live, counted, from, to))
}
