package api

// Report compares the variants of the ranking over some days.
type Report struct {
	From     string      `json:"from"` // first day, YYYYMMDD, UTC
	To       string      `json:"to"`   // last day
	Days     int         `json:"days"`
	Variants []ReportRow `json:"variants"` // control first, then by name
	// Promotions lists the promotions that were shown or acted on, by id; nil if there were none.
	Promotions []ReportPromotion `json:"promotions,omitempty"`
}

// Shown counts impressions and clicks.
type Shown struct {
	Impressions int64    `json:"impressions"`
	Clicks      int64    `json:"clicks"`
	CTR         float64  `json:"ctr"`          // clicks per impression; 0 without impressions
	CTRInterval Interval `json:"ctr_interval"` // 95 % Wilson interval
}

// Interval is a range that contains the true value with 95 % confidence.
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
	// MedianAge is the median age of the items shown, in seconds, accurate to 9.1 %; null if
	// nothing was shown.
	MedianAge *float64 `json:"median_age_seconds"`
	Authors   int64    `json:"authors"` // distinct authors, accurate to about 1 %
	Agents    int64    `json:"agents"`  // distinct agents, accurate to about 1 %
	// Explored is the part of the figures that exploration contributed; nil if there is none.
	Explored *Shown `json:"explored,omitempty"`
	// Sources breaks the figures of home down by source; nil if home showed nothing.
	Sources []ReportSource `json:"sources,omitempty"`
	// Difference is the comparison with control; null for control itself.
	Difference *ReportDifference `json:"difference"`
}

// ReportSource is the figures of one source of home. The variant's figures include them.
type ReportSource struct {
	Source string `json:"source"` // following, trending, discovery or promoted
	Shown
}

// ReportPromotion is a promotion's figures over all variants. The variants' figures include them.
type ReportPromotion struct {
	ID string `json:"id"`
	Shown
	Likes int64 `json:"likes"`
}

// ReportDifference compares a variant's click-through rate with control's. The test assumes
// independent impressions, but those of one reader are correlated: a p-value just below 0.05 is
// weaker evidence than it seems, more so with few agents.
type ReportDifference struct {
	CTR      float64  `json:"ctr"`      // the variant's rate minus control's
	Interval Interval `json:"interval"` // 95 % Newcombe interval
	P        *float64 `json:"p"`        // two-sided; null if there is too little data
	Verdict  string   `json:"verdict"`  // "significant", "not significant" or "too few"
}

// JobPage is a page of the job queue of posts, follows and timelines.
type JobPage[J any] struct {
	Jobs      []J      `json:"jobs"`       // by id
	NextAfter *int64   `json:"next_after"` // nil on the last page
	Queue     JobQueue `json:"queue"`      // the whole queue, regardless of the filter
}

// JobQueue summarizes the whole queue.
type JobQueue struct {
	Rows   []JobRows `json:"rows"`
	Oldest float64   `json:"oldest_seconds"` // how long the longest-waiting job is overdue
}

// JobRows is the number of jobs of a kind in a state.
type JobRows struct {
	Kind  string `json:"kind"`
	State string `json:"state"`
	Count int64  `json:"count"`
}
