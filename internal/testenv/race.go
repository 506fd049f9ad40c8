//go:build race

package testenv

// raceSlowdown is how many times slower the race detector makes random
// schedules; SQLite, which is compiled from C, most.
const raceSlowdown = 8
