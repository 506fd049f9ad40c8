package api

// Report compares the variants of the ranking over some days.
type Report struct {
	From     string      `json:"from"` // first day, YYYYMMDD, UTC
	To       string      `json:"to"`   // last day
	Days     int         `json:"days"`
	Variants []ReportRow `json:"variants"` // control first, then by name
	// Promotions has those that were shown, or acted on, by id; nil where none was.
	Promotions []ReportPromotion `json:"promotions,omitempty"`
}

// Shown is how often something was shown and clicked.
type Shown struct {
	Impressions int64    `json:"impressions"`
	Clicks      int64    `json:"clicks"`
	CTR         float64  `json:"ctr"`          // clicks per impression; 0 of nothing
	CTRInterval Interval `json:"ctr_interval"` // of 95 %, by Wilson
}

// Interval is a range that holds the true value, with a confidence of 95 %.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// ReportRow is one variant's figures.
type ReportRow struct {
	Name  string  `json:"name"`
	Live  bool    `json:"live"`  // agents are in it now
	Share float64 `json:"share"` // of all agents, now
	Shown
	Likes    int64 `json:"likes"`
	Dislikes int64 `json:"dislikes"`
	Hides    int64 `json:"hides"`
	// MedianAge is that of the items shown, in seconds, within 9.1 %; null where
	// nothing was shown.
	MedianAge *float64 `json:"median_age_seconds"`
	Authors   int64    `json:"authors"` // different ones, within about 1 %
	Agents    int64    `json:"agents"`  // the same
	// Explored is the part of it that exploration has shown; nil where there is none.
	Explored *Shown `json:"explored,omitempty"`
	// Sources has what of it home has shown, by the source that gave it; nil where that is
	// nothing.
	Sources []ReportSource `json:"sources,omitempty"`
	// Difference is the comparison with control; null for control itself.
	Difference *ReportDifference `json:"difference"`
}

// ReportSource is the figures of a source of home. They are among those of the whole variant.
type ReportSource struct {
	Source string `json:"source"` // following, trending, discovery or promoted
	Shown
}

// ReportPromotion is a promotion's figures, of all variants together. They are among those
// of the variants.
type ReportPromotion struct {
	ID string `json:"id"`
	Shown
	Likes int64 `json:"likes"`
}

// ReportDifference compares a variant's click-through rate with control's. The test takes
// impressions for independent of each other, which those of one reader are not quite: a
// p-value just below 0.05 means less than it says, the more so the fewer agents there are.
type ReportDifference struct {
	CTR      float64  `json:"ctr"`      // the variant's rate less control's
	Interval Interval `json:"interval"` // of 95 %, by Newcombe
	P        *float64 `json:"p"`        // two-sided; null: there is too little to test
	Verdict  string   `json:"verdict"`  // "significant", "not significant" or "too few"
}

// JobPage is a page of the queue behind posts, follows and timelines.
type JobPage[J any] struct {
	Jobs      []J      `json:"jobs"`       // by id
	NextAfter *int64   `json:"next_after"` // nil: no more
	Queue     JobQueue `json:"queue"`      // whatever was asked for
}

// JobQueue is the queue as a whole.
type JobQueue struct {
	Rows   []JobRows `json:"rows"`
	Oldest float64   `json:"oldest_seconds"` // how long the job that has waited longest should have been done
}

// JobRows is how many jobs there are of a kind in a state.
type JobRows struct {
	Kind  string `json:"kind"`
	State string `json:"state"`
	Count int64  `json:"count"`
}
