// Package freeport finds ports for servers that listen only after they have been told where: test servers and
// those of benchmarks.
package freeport

import (
	"context"
	"math/rand/v2"
	"net"
	"strconv"
)

// The ports that are tried lie below those that systems give to outgoing connections. One of these could be taken
// between the choice and the start of the server, which then could not listen.
const (
	first    = 10_000
	end      = 32_768
	attempts = 100
)

// Addr returns an address of this machine, such as 127.0.0.1:20123, on which nobody listens.
func Addr(ctx context.Context) (string, error) {
	var err error
	for range attempts {
		var l net.Listener
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(first+rand.IntN(end-first)))
		if l, err = new(net.ListenConfig).Listen(ctx, "tcp", addr); err == nil {
			return addr, l.Close()
		}
	}
	return "", err
}
