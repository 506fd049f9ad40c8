package ownmachine

import (
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestRefusedByOwnMachine checks the advice on addresses that lead to the container itself.
func TestRefusedByAdvice(t *testing.T) {
	t.Parallel()
	refused := func(ip string) error {
		addr := &net.TCPAddr{IP: net.ParseIP(ip), Port: 5432}
		return fmt.Errorf("connect: %w", &net.OpError{Op: "dial", Net: "tcp", Addr: addr, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)})
	}
	for _, ip := range []string{"127.0.0.1", "::1", "0.0.0.0", "::", "127.0.0.53"} {
		assert.Contains(t, Advice(refused(ip), "redis.url"), "where "+net.ParseIP(ip).String()+" is the container itself", ip)
		assert.Contains(t, Advice(refused(ip), "redis.url"), "in redis.url")
	}
	for _, err := range []error{nil, io.EOF, refused("10.0.0.7"), &net.OpError{Op: "dial", Net: "unix", Addr: &net.UnixAddr{Name: "/run/pg"}, Err: syscall.ECONNREFUSED}} {
		assert.Empty(t, Advice(err, "redis.url"))
		assert.Equal(t, []any{"error", err}, Attrs(err, "redis.url"))
	}
}
