package rediskeys

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestRefusalsSayWhatToDo has each reply by which a server or its configuration refuses all calls, or all
// writes: it counts as an outage, and the operator learns what to change.
func TestRefusalsSayWhatToDo(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"NOPERM User u has no permissions to run the 'get' command":                                "lacks a right",
		"NOAUTH Authentication required.":                                                          "redis.password",
		"WRONGPASS invalid username-password pair or user is disabled.":                            "redis.password",
		"ERR AUTH <password> called without any password configured for the default user":          "redis.password",
		"ERR Client sent AUTH, but no password is set":                                             "leave it out",
		"ERR invalid password":                                                                     "redis.password",
		"DENIED Redis is running in protected mode because protected mode is enabled":              "protected mode",
		"ERR unknown command 'BF.MADD'":                                                            "lacks a command",
		"ERR DB index is out of range":                                                             "choose a lower one",
		"ERR SELECT is not allowed in cluster mode":                                                "only database 0",
		"ERR This instance has cluster support disabled":                                           "name one address",
		"READONLY You can't write against a read only replica.":                                    "name the master",
		"NOREPLICAS Not enough good replicas to write.":                                            "min-replicas-to-write",
		"MISCONF Redis is configured to save RDB snapshots, but it's currently unable to":          "free its disk",
		"OOM command not allowed when used memory > 'maxmemory'.":                                  "raise maxmemory",
		"LOADING Redis is loading the dataset in memory":                                           "wait until it has",
		"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.":         "name the master",
		"CLUSTERDOWN Hash slot not served":                                                         "let a replica take over",
		"BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.":   "SCRIPT KILL",
		"ERR max number of clients reached":                                                        "raise maxclients",
		"ERR Error running script (call to f_1): @user_script:1: @user_script: 1: -READONLY You c": "name the master",
	} {
		err := reply(text)
		assert.Contains(t, Advice(err), says, text)
		assert.True(t, Unreachable(err), text)
	}
}
