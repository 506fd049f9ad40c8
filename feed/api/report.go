package api

// Report compares the variants of the ranking over some days.
type Report struct {
	From     string      `json:"from"` // first day, YYYYMMDD, UTC
	To       string      `json:"to"`   // last day
	Days     int         `json:"days"`
	Variants []ReportRow `json:"variants"` // control first, then by name
	// Promotions lists the promotions that were shown or acted on, by id; nil if there were none.
	Promotions []ReportPromotion `json:"promotions,omitempty"`
	// Size is how much an experiment on half of the readers would need; nil while experiments run, or
	// if control was shown too little to tell.
	Size *ReportSize `json:"size,omitempty"`
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
	// Positions breaks the figures of an experiment down by position, from 1 over the pages of a
	// session; nil if none is known.
	Positions []ReportPosition `json:"positions,omitempty"`
	// Difference is the comparison with control; null for control itself.
	Difference *ReportDifference `json:"difference"`
	// Version is that of the ranking from which on the row counts, 0 if that is unknown. A change of the
	// live ranking or of an experiment begins a new run of all variants.
	Version int `json:"version"`
	// Earlier lists the runs of the same name before, newest first; nil if there are none.
	Earlier []ReportRun `json:"earlier,omitempty"`
}

// ReportPosition is the figures of a range of positions.
type ReportPosition struct {
	From int `json:"from"`
	To   int `json:"to"` // 0 means no end
	Shown
}

// ReportRun is the figures of an earlier run.
type ReportRun struct {
	Version int `json:"version"`
	Shown
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

// ReportDifference compares a variant's click-through rate with control's, over all days of its run,
// whichever days the report is of. Readers, not impressions, are independent: figures are clustered by
// them. The interval and the p-value hold however often one looks.
type ReportDifference struct {
	CTR      float64  `json:"ctr"`      // the variant's rate minus control's, adjusted for what their readers did before
	Interval Interval `json:"interval"` // the 95 % interval that holds at each look
	P        *float64 `json:"p"`        // valid at each look; null if there is too little data
	// Verdict is "significant", "not significant", "too few", or "unbalanced" if [ReportBalance.OK] is
	// false: then no other figure can be believed.
	Verdict string      `json:"verdict"`
	Days    []ReportDay `json:"days,omitempty"` // of the run, in order
	Readers ReportPair  `json:"readers"`        // distinct ones
	// SampleRatio checks the numbers of readers against the shares; nil if there are none.
	SampleRatio *ReportBalance `json:"sample_ratio,omitempty"`
	// Size is how much the test needs; nil if too little is known.
	Size *ReportSize `json:"size,omitempty"`
}

// ReportPair is a number of a variant and of control.
type ReportPair struct {
	Variant int64 `json:"variant"`
	Control int64 `json:"control"`
}

// ReportDay is the figures of a day of a run.
type ReportDay struct {
	Day         string     `json:"day"` // YYYYMMDD, UTC
	Impressions ReportPair `json:"impressions"`
	Clicks      ReportPair `json:"clicks"`
	// CTR and Interval are those of [ReportDifference] at the end of the day.
	CTR      float64  `json:"ctr"`
	Interval Interval `json:"interval"`
}

// ReportBalance compares the variant's part of the readers of both with its share.
type ReportBalance struct {
	Expected float64 `json:"expected"`
	Observed float64 `json:"observed"`
	P        float64 `json:"p"`  // valid at each look
	OK       bool    `json:"ok"` // P is 0.001 or more
}

// ReportSize is how much a test needs to find a difference with a probability of 80 %.
type ReportSize struct {
	Relative    float64  `json:"relative"`    // the difference, as a part of control's rate
	Impressions int64    `json:"impressions"` // of an arm; 0 without Days
	Days        *float64 `json:"days"`        // from the beginning; null if 90 days do not suffice with these readers
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

// Rederived is the result of a step of POST /v1/jobs/rederive.
type Rederived struct {
	Posts      int     `json:"posts"`       // public posts whose items are made again
	Items      int     `json:"items"`       // items that belong to no public post, and are removed
	NextCursor *string `json:"next_cursor"` // nil after the last step
}

// JobRows is the number of jobs of a kind in a state.
type JobRows struct {
	Kind  string `json:"kind"`
	State string `json:"state"`
	Count int64  `json:"count"`
}
