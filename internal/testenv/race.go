//go:build race

package testenv

// raceSlowdown is the factor by which the race detector slows down random schedules, most of all
// SQLite, which is compiled from C.
const raceSlowdown = 8
