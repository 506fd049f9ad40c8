// Package clocks compares the clocks of this machine and of the services.
package clocks

import "time"

// MostSkew is the clock difference that is not reported. Around midnight,
// servers whose clocks differ write into different days' filters.
const MostSkew = time.Second

// Skew is the least a clock can differ from another one that was read between
// two moments of its own: the difference to the nearer of them.
func Skew(sent, theirs, received time.Time) time.Duration {
	return max(0, sent.Sub(theirs), theirs.Sub(received))
}
