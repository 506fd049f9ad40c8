// Package rlimit reports the limit of open files of this process.
package rlimit

// Enough is the number of open files below which an operator is warned.
const Enough = 4096

// What a low limit leads to, and what to do about it.
const (
	Risk   = "each connection and each stream takes one, and when none is left, nobody can connect"
	Advice = "allow 65536: LimitNOFILE= in a unit of systemd, --ulimit nofile=65536 of docker, ulimits in a compose file or a task of ECS"
)

// Half returns half the limit of open files of this process, but at most most, and most if the
// limit is unknown.
func Half(most int) int { return half(Limit(), most) }

func half(limit uint64, most int) int {
	if limit == 0 {
		return most
	}
	return int(min(limit/2, uint64(most)))
}
