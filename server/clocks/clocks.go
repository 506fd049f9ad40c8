// Package clocks compares the clocks of this machine and the services.
package clocks

import "time"

// MostSkew is the largest clock difference that is not reported. Around midnight, servers whose
// clocks differ write into different days' filters.
const MostSkew = time.Second

// Skew returns the least possible difference between this machine's clock and another one that
// returned theirs between sent and received.
func Skew(sent, theirs, received time.Time) time.Duration {
	return max(0, sent.Sub(theirs), theirs.Sub(received))
}
