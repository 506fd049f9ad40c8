package api

import "time"

// System is how a server runs.
type System struct {
	Version     string    `json:"version"`
	Items       string    `json:"items"`       // where items are stored: sqlite, elasticsearch
	Impressions string    `json:"impressions"` // memory, redis
	Posts       string    `json:"posts"`       // off, sqlite, postgres
	Settings    []Setting `json:"settings"`    // in the order of the shipped file

	Dependencies []CalledDependency `json:"dependencies"` // those that the server calls over the network, by name
	Recording    Recording          `json:"recording"`
	Files        []DataFile         `json:"files"` // of data_dir, by name: journals, spool and databases
}

// Setting is a setting in force.
type Setting struct {
	Key    string `json:"key"`
	Value  string `json:"value"`  // secrets are masked
	Origin string `json:"origin"` // default, file (the YAML file), environment, flag, or program (the one that opened the server)
	Source string `json:"source"` // the file, the variable or the flag; "" for others
	Help   string `json:"help"`
}

// CalledDependency is a service that the server calls.
type CalledDependency struct {
	Name string `json:"name"`
	// Breaker is closed (calls are let through), half-open (a few are), or open (all fail at once, because
	// earlier ones have failed).
	Breaker string         `json:"breaker"`
	Calls   []CallDuration `json:"calls"`   // by kind
	Failed  int64          `json:"failed"`  // calls that did not reach it since the server was started
	Refused int64          `json:"refused"` // calls that were not made, because earlier ones had failed
}

// CallDuration tells how long calls took since the server was started, in seconds.
type CallDuration struct {
	Call  string   `json:"call"`
	Count int64    `json:"count"`
	P50   *float64 `json:"p50"` // half of them took at most this long; null without calls
	P99   *float64 `json:"p99"`
}

// Recording tells what becomes of impressions, since the server was started.
type Recording struct {
	Recorded   int64   `json:"recorded"`       // confirmed in a filter
	Deferred   int64   `json:"deferred"`       // not confirmed in time: they stay pending
	Dropped    int64   `json:"dropped"`        // by the spool, because it was full or they were too old
	SpoolBytes int64   `json:"spool_bytes"`    // waiting on disk for the dedup store
	Oldest     float64 `json:"oldest_seconds"` // how long the oldest one that is not recorded has waited
}

// DataFile is a file or a folder of data_dir.
type DataFile struct {
	Name    string    `json:"name"`
	Bytes   int64     `json:"bytes"`
	Changed time.Time `json:"changed"`
}

// ItemReaders tells how many distinct readers have acted on an item. Who was shown it is known only by
// reader, and not by item.
type ItemReaders struct {
	Acted *int64 `json:"acted"` // who have clicked or liked it; null if clicks and likes are not counted
	Days  int    `json:"days"`  // of the last days
}

// Diagnosis has the findings of a server about its dependencies.
type Diagnosis struct {
	Findings []Finding `json:"findings"`
}

// Finding is the result of one check.
type Finding struct {
	Level  string `json:"level"` // ok, warning (it works, but not as it should), or broken
	What   string `json:"what"`
	Detail string `json:"detail"`
	Fix    string `json:"fix"` // what to do about it; "" if there is nothing to do
}
