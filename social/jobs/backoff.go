package jobs

import "time"

const (
	firstDelay = time.Second
	lastDelay  = 10 * time.Minute
	waitDelay  = 5 * time.Second
)

// Delay is how long a job rests after its n-th failed attempt, 1 the first: a
// second, doubled each time up to ten minutes, of which between half and all, as
// jitter in [0, 1) says. All [MaxAttempts] together take about half an hour.
func Delay(n int, jitter float64) time.Duration {
	d := firstDelay
	for ; n > 1 && d < lastDelay; n-- {
		d *= 2
	}
	return jittered(min(d, lastDelay), jitter)
}

// WaitDelay is how long a job rests when a dependency is down.
func WaitDelay(jitter float64) time.Duration { return jittered(waitDelay, jitter) }

func jittered(d time.Duration, jitter float64) time.Duration {
	return d/2 + time.Duration(jitter*float64(d/2))
}
