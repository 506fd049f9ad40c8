package api

import "time"

// Overview has the figures of all servers in the last hour and in the last seven days.
type Overview struct {
	At      time.Time        `json:"at"`      // when it was read
	Minutes []OverviewPoint  `json:"minutes"` // the last hour, oldest first
	Hours   []OverviewPoint  `json:"hours"`   // the last seven days, oldest first
	Servers []OverviewServer `json:"servers"` // those that have counted something within the last three minutes, by name
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
