package api

// NoExport is the state of an agent without an export.
const NoExport = "none"

// Export says how far the export of an agent is. Times are Unix seconds.
type Export struct {
	State   string `json:"state"`              // none, running, ready, fetched or failed
	AskedAt int64  `json:"asked_at,omitempty"` // not with none
	Bytes   int64  `json:"bytes,omitempty"`    // length of the file; with ready and fetched
	Until   int64  `json:"until,omitempty"`    // with ready: until when it can be fetched
	NextAt  int64  `json:"next_at,omitempty"`  // with fetched and failed: when another one can be asked for
	Reason  string `json:"reason,omitempty"`   // with failed
}
