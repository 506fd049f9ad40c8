package testenv

// Schedules returns how many of n random schedules a test runs: all, or with the race detector as
// many as take the same time.
func Schedules(n int) int { return max(1, n/raceSlowdown) }

// Slow reports whether the race detector slows this test down.
func Slow() bool { return raceSlowdown > 1 }
