package testenv

import (
	"regexp"
	"strconv"
	"testing"

	"github.com/redis/go-redis/v9"
)

// CommandStat says how often Redis has executed a command, also inside scripts, and how long that took.
type CommandStat struct{ Calls, Microseconds int }

var commandStat = regexp.MustCompile(`(?m)^cmdstat_(\S+):calls=(\d+),usec=(\d+)`)

// CommandStats returns those of all commands since the server began or reset them, by their names.
func CommandStats(t testing.TB, client redis.UniversalClient) map[string]CommandStat {
	t.Helper()
	text, err := client.Info(t.Context(), "commandstats").Result()
	if err != nil {
		t.Fatal(err)
	}
	stats := map[string]CommandStat{}
	for _, found := range commandStat.FindAllStringSubmatch(text, -1) {
		calls, _ := strconv.Atoi(found[2])
		took, _ := strconv.Atoi(found[3])
		stats[found[1]] = CommandStat{calls, took}
	}
	return stats
}
