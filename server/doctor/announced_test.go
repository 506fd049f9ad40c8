package doctor

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// redisWith returns the address of a server of Redis's protocol that answers each command by its first two
// words, in lower case.
func redisWith(t *testing.T, answer func(command string) string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
			go func(conn net.Conn) {
				defer func() { _ = conn.Close() }()
				for r := bufio.NewReader(conn); ; {
					command, err := readCommand(r)
					if err != nil {
						return
					}
					_, _ = io.WriteString(conn, answer(command))
				}
			}(conn)
		}
	}()
	return l.Addr().String()
}

// readCommand reads a command and returns its first two words.
func readCommand(r *bufio.Reader) (string, error) {
	number := func() (int, error) {
		line, err := r.ReadString('\n')
		if err != nil {
			return 0, err
		}
		return strconv.Atoi(strings.TrimRight(line[1:], "\r\n"))
	}
	count, err := number()
	var words []string
	for i := 0; i < count && err == nil; i++ {
		size, wrong := number()
		word := make([]byte, size+2)
		_, err = io.ReadFull(r, word)
		if wrong != nil {
			err = wrong
		}
		words = append(words, strings.ToLower(strings.TrimSpace(string(word))))
	}
	return strings.Join(words[:min(len(words), 2)], " "), err
}

// closedPort returns an address at which nothing listens.
func closedPort(t *testing.T) (host, port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	host, port, err = net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	return host, port
}

// TestDoctorNamesAnnouncedAddress: Sentinels and clusters name addresses themselves, such as those within a
// network of containers. If one cannot be reached, the setting is not wrong.
func TestDoctorNamesAnnouncedAddress(t *testing.T) {
	t.Parallel()
	host, port := closedPort(t)
	master := net.JoinHostPort(host, port)
	bulk := func(text string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(text), text) }
	sentinel := redisWith(t, func(command string) string {
		switch command {
		case "hello 3":
			return "%1\r\n" + bulk("mode") + bulk("sentinel")
		case "sentinel get-master-addr-by-name":
			return "*2\r\n" + bulk(host) + bulk(port)
		case "sentinel sentinels", "sentinel replicas":
			return "*0\r\n"
		}
		return "+OK\r\n"
	})
	node := redisWith(t, func(command string) string {
		switch command {
		case "hello 3", "hello":
			return "%1\r\n" + bulk("mode") + bulk("cluster")
		case "cluster slots":
			return "*1\r\n*3\r\n:0\r\n:16383\r\n*3\r\n" + bulk(host) + ":" + port + "\r\n" + bulk("id")
		}
		return "+OK\r\n"
	})
	for name, url := range map[string]string{
		"sentinel": "redis://" + sentinel + "?master_name=feed",
		"cluster":  "redis://" + node,
	} {
		cfg := embedded(t)
		cfg.Redis.URL = url
		found := about(t, Check(t.Context(), cfg, Options{}), "redis")
		assert.Equal(t, Broken, found.Level, name)
		assert.Contains(t, found.Fix, "name "+master+", which cannot be reached from here", "%s: %s", name, found.Detail)
	}

	// Nothing is announced by a server that does not run.
	cfg := embedded(t)
	cfg.Redis.URL = "redis://" + master + "?master_name=feed"
	found := about(t, Check(t.Context(), cfg, Options{}), "redis")
	assert.NotContains(t, found.Fix, "announce", found.Detail)
}
