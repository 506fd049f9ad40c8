package doctor

import (
	"bufio"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// redisAnswering returns the address of a server that answers each command of Redis's protocol alike.
func redisAnswering(t *testing.T, reply string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go answerAlike(conn, reply)
		}
	}()
	return l.Addr().String()
}

func answerAlike(conn net.Conn, reply string) {
	defer func() { _ = conn.Close() }()
	r := bufio.NewReader(conn)
	// line returns the number in the next line, which begins with a sign.
	line := func() int {
		text, _ := r.ReadString('\n')
		n, err := strconv.Atoi(strings.Trim(text, "*$\r\n"))
		if err != nil {
			return -1
		}
		return n
	}
	for {
		words := line()
		if words < 0 {
			return
		}
		for range words {
			if _, err := io.CopyN(io.Discard, r, int64(line())+2); err != nil {
				return
			}
		}
		if _, err := io.WriteString(conn, "-"+reply+"\r\n"); err != nil {
			return
		}
	}
}

// TestDoctorNamesWhyRedisCannotAnswer: a Redis that runs, and says why it does not answer, need not be
// started, and its password is not wrong.
func TestDoctorNamesWhyRedisCannotAnswer(t *testing.T) {
	t.Parallel()
	for reply, says := range map[string]string{
		"LOADING Redis is loading the dataset in memory":               "it is loading its data after a start",
		"MASTERDOWN Link with MASTER is down":                          "it is a replica that has lost its master",
		"CLUSTERDOWN The cluster is down":                              "its cluster has no master for some keys",
		"BUSY Redis is busy running a script.":                         "SCRIPT KILL",
		"ERR max number of clients reached":                            "raise maxclients",
		"WRONGPASS invalid username-password pair or user is disabled": "correct redis.url and redis.password",
	} {
		found := about(t, Check(t.Context(), onRedis(t, redisAnswering(t, reply)), Options{}), "redis")
		assert.Equal(t, Broken, found.Level, reply)
		assert.Contains(t, found.Detail, says, reply)
		assert.Contains(t, found.Detail, reply)
		assert.Equal(t, "see the message", found.Fix, reply)
	}
}

// TestVersionOfOtherServers checks that a server is not named by the version of Redis that it imitates.
func TestVersionOfOtherServers(t *testing.T) {
	t.Parallel()
	for want, info := range map[string]map[string]string{
		"8.0.2":               {"redis_version": "8.0.2"},
		"8.1.1 of Valkey":     {"redis_version": "7.2.4", "server_name": "valkey", "valkey_version": "8.1.1"},
		"1.27.0 of Dragonfly": {"redis_version": "7.4.0", "dragonfly_version": "df-v1.27.0"},
		"unknown":             nil,
	} {
		require.Equal(t, want, versionOf(info))
	}
}
