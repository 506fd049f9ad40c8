package client

import (
	"context"
	"net/http"
	"strconv"
)

// Report compares the variants of the ranking over some days.
type Report struct {
	From     string      `json:"from"` // first day, YYYYMMDD, UTC
	To       string      `json:"to"`   // last day
	Days     int         `json:"days"`
	Variants []ReportRow `json:"variants"` // control first, then by name

	Promotions []ReportPromotion `json:"promotions,omitempty"` // by id; nil: none was shown
}

// ReportPromotion is the figures of a promotion, of all variants together. They are
// among those of the variants.
type ReportPromotion struct {
	ID          string   `json:"id"`
	Impressions int64    `json:"impressions"`
	Clicks      int64    `json:"clicks"`
	CTR         float64  `json:"ctr"`
	CTRInterval Interval `json:"ctr_interval"` // of 95 %
	Likes       int64    `json:"likes"`
}

// ReportRow is one variant's figures.
type ReportRow struct {
	Name        string            `json:"name"`
	Live        bool              `json:"live"`  // agents are in it now
	Share       float64           `json:"share"` // of all agents, now
	Impressions int64             `json:"impressions"`
	Clicks      int64             `json:"clicks"`
	CTR         float64           `json:"ctr"`          // clicks per impression
	CTRInterval Interval          `json:"ctr_interval"` // of 95 %
	Likes       int64             `json:"likes"`
	Dislikes    int64             `json:"dislikes"`
	Hides       int64             `json:"hides"`
	MedianAge   *float64          `json:"median_age_seconds"` // nil: nothing was shown
	Authors     int64             `json:"authors"`            // different ones, within about 1 %
	Agents      int64             `json:"agents"`             // the same
	Explored    *ReportExplored   `json:"explored,omitempty"` // what of it exploration has shown; nil: nothing
	Sources     []ReportSource    `json:"sources,omitempty"`  // what of it home has shown, by source; nil: nothing
	Difference  *ReportDifference `json:"difference"`         // to control; nil: this is control
}

// ReportSource is the figures of a source of home. They are among those of the whole
// variant.
type ReportSource struct {
	Source      string   `json:"source"` // following, trending, discovery or promoted
	Impressions int64    `json:"impressions"`
	Clicks      int64    `json:"clicks"`
	CTR         float64  `json:"ctr"`
	CTRInterval Interval `json:"ctr_interval"` // of 95 %
}

// ReportExplored is the figures of the positions that exploration gave. They are
// among those of the whole variant.
type ReportExplored struct {
	Impressions int64    `json:"impressions"`
	Clicks      int64    `json:"clicks"`
	CTR         float64  `json:"ctr"`
	CTRInterval Interval `json:"ctr_interval"` // of 95 %
}

// Interval is a range that holds the true value, with a confidence of 95 %.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// ReportDifference compares a variant's click-through rate with control's.
type ReportDifference struct {
	CTR      float64  `json:"ctr"`      // the variant's less control's
	Interval Interval `json:"interval"` // of 95 %
	P        *float64 `json:"p"`        // two-sided; nil: not tested
	Verdict  string   `json:"verdict"`  // "significant", "not significant" or "too few"
}

// Report calls GET /v1/ranking/report for today and the days before it, 1 to 90
// in all; 0 is a week. It needs the admin token.
func (c *Client) Report(ctx context.Context, days int) (Report, error) {
	path := "/v1/ranking/report"
	if days != 0 {
		path += "?days=" + strconv.Itoa(days)
	}
	return call[Report](ctx, c, Request{Method: http.MethodGet, Path: path, Repeatable: true})
}
