package api

import "time"

// Overview has the figures of all servers in the last hour and in the last seven days.
type Overview struct {
	At      time.Time        `json:"at"`      // when it was read
	Minutes []OverviewPoint  `json:"minutes"` // the last hour, oldest first
	Hours   []OverviewPoint  `json:"hours"`   // the last seven days, oldest first
	Servers []OverviewServer `json:"servers"` // those that have counted something within the last three minutes, by name
	// Incidents has the times of the last seven days in which answers lacked a part or calls failed, the
	// newest first, 100 at most.
	Incidents []OverviewIncident `json:"incidents"`
	Days      []OverviewDay      `json:"days"`  // the last seven days (UTC), oldest first; empty if they cannot be read
	Items     *OverviewItems     `json:"items"` // nil if they cannot be counted
}

// OverviewIncident is a time in which something was wrong.
type OverviewIncident struct {
	Begin   time.Time `json:"begin"`
	Minutes int       `json:"minutes"` // that follow one another
	Failed  bool      `json:"failed"`  // refreshes or load_mores failed
	Lacked  []string  `json:"lacked"`  // the parts that answers lacked, as in degraded
	Down    []string  `json:"down"`    // the dependencies that did not answer, or of which calls failed
}

// OverviewDay is a day (UTC).
type OverviewDay struct {
	Day     string `json:"day"`     // YYYY-MM-DD
	Readers int64  `json:"readers"` // distinct ones who were shown something, within about 1 %
}

// OverviewItems counts the items, posts included, by their update_time.
type OverviewItems struct {
	Ages  []OverviewAge   `json:"ages"`  // the youngest first
	Hours []OverviewAdded `json:"hours"` // the hours of the last seven days, oldest first
}

// OverviewAge counts the items of a range of ages.
type OverviewAge struct {
	Below *int64 `json:"below"` // seconds, counted from the end of this hour; null means any
	Items int64  `json:"items"` // that are not in the range before it
}

// OverviewAdded counts the items that are dated in an hour.
type OverviewAdded struct {
	Begin time.Time `json:"begin"`
	Items int64     `json:"items"`
}

// OverviewPoint has the figures of all servers in a minute or an hour. Rates and shares are those of the calls
// for for-you and home.
type OverviewPoint struct {
	Begin   time.Time `json:"begin"`
	Seconds float64   `json:"seconds"` // the time that was counted: less than the length if servers were started in it, or if it has not ended
	Servers int       `json:"servers"` // that have counted; 0 if no server was running

	Refreshes float64 `json:"refreshes"`  // a second
	LoadMores float64 `json:"load_mores"` // a second

	P50      *float64 `json:"p50"`      // half of the calls took at most this many seconds; null if there were none
	P99      *float64 `json:"p99"`      // likewise, of 100 calls 99
	Errors   *float64 `json:"errors"`   // share of refreshes and load_mores that failed; null if there were none
	Degraded *float64 `json:"degraded"` // share of those that lacked a part
	Short    *float64 `json:"short"`    // share of those with fewer items than requested

	Shown     int64    `json:"shown"`      // items delivered
	Clicks    int64    `json:"clicks"`     // accepted ones
	ClickRate *float64 `json:"click_rate"` // clicks for each item delivered; null if there were none

	FilterFill float64 `json:"filter_fill"` // impressions in the day's filter by its capacity, of the fullest shard
	QueueDelay float64 `json:"queue_delay"` // seconds that the longest overdue job has been due, on average
	Streams    float64 `json:"streams"`     // open streams, on average
}

// OverviewServer is a server that runs.
type OverviewServer struct {
	Name    string    `json:"name"` // its host, and a random text that differs at each start
	Version string    `json:"version"`
	Started time.Time `json:"started"`
	Counted time.Time `json:"counted"` // until when its figures are counted
	Down    []string  `json:"down"`    // its dependencies that do not answer
}
