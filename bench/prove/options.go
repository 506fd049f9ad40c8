package prove

import (
	"errors"
	"time"
)

// Options are the load and the faults of a run. The same options and seed make the same calls, at
// the same times; how they overlap is up to the machine.
type Options struct {
	Seed    uint64
	For     time.Duration // how long calls are made, for each adapter
	Rate    float64       // calls a second, of all devices together
	Agents  int           // who read, publish and follow; each has two devices
	Follows int           // whom each follows at the begin
	Posts   int           // published before the begin
	Limit   int           // entries of a page

	Kill  time.Duration // pause between two servers that are killed; 0 for none
	Redis time.Duration // pause between two faults of Redis, restarts and failovers in turn; 0 for none
	Every time.Duration // pause between two of all other faults, in turn; 0 for none
	Ahead time.Duration // how far one server's clock is ahead
	Lost  float64       // share of answers that are lost on the way
	Hangs float64       // share of calls whose client hangs up meanwhile
	// Settle is how long readers ask on after the load for what they are owed. It must exceed Ahead:
	// a post dated by a clock that is ahead may be shown only then.
	Settle time.Duration
}

// Defaults returns the options of the two-minute run.
func Defaults() Options {
	return Options{
		Seed: 1, For: 2 * time.Minute, Rate: 100, Agents: 40, Follows: 10, Posts: 400, Limit: 20,
		Kill: 30 * time.Second, Redis: 40 * time.Second, Ahead: time.Minute, Lost: 0.02, Hangs: 0.02, Settle: 90 * time.Second,
	}
}

// Validate checks the options.
func (o Options) Validate() error {
	switch {
	case o.For <= 0 || o.Rate <= 0:
		return errors.New("--for and --rate must be greater than 0")
	case o.Agents < 4 || o.Follows < 1 || o.Follows >= o.Agents:
		return errors.New("--agents must be at least 4, and --follows from 1 to one less than that")
	case o.Ahead > 0 && o.Settle <= o.Ahead:
		return errors.New("--settle must be longer than --ahead: a post dated by a clock that is ahead may be shown only then")
	case o.Limit < 1 || o.Limit > 100 || o.Posts < 0:
		return errors.New("--limit must be from 1 to 100, and --posts not negative")
	}
	return nil
}
