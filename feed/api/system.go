package api

// System is how a server runs.
type System struct {
	Version     string    `json:"version"`
	Items       string    `json:"items"`       // where items are stored: sqlite, elasticsearch
	Impressions string    `json:"impressions"` // memory, redis
	Posts       string    `json:"posts"`       // off, sqlite, postgres
	Settings    []Setting `json:"settings"`    // in the order of the shipped file
}

// Setting is a setting in force.
type Setting struct {
	Key    string `json:"key"`
	Value  string `json:"value"`  // secrets are masked
	Origin string `json:"origin"` // default, set (in the YAML file, the environment or a flag), or file (that a variable …_FILE names)
	Help   string `json:"help"`
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
