//go:build !race

package testenv

const raceSlowdown = 1
