// Package ownmachine says what to do about services that are looked for at an address of this machine itself.
package ownmachine

import (
	"errors"
	"net"
	"syscall"
)

// Advice returns what to do about a connection that was refused at an address of this machine itself,
// such as localhost or 0.0.0.0; otherwise "". In a container these lead to no other container. The setting is the one
// that has the address.
func Advice(err error, setting string) string {
	var dial *net.OpError
	if !errors.As(err, &dial) || dial.Addr == nil || !errors.Is(err, syscall.ECONNREFUSED) {
		return ""
	}
	addr, ok := dial.Addr.(*net.TCPAddr)
	if !ok || !addr.IP.IsLoopback() && !addr.IP.IsUnspecified() {
		return ""
	}
	return "start it on this machine; or, if this runs in a container, where " + addr.IP.String() +
		" is the container itself, name the container, service or machine that has it in " + setting
}

// Attrs returns an error and, if it is known, what to do about it, for a line of a log.
func Attrs(err error, setting string) []any {
	attrs := []any{"error", err}
	advice := Advice(err, setting)
	if advice != "" {
		attrs = append(attrs, "fix", advice)
	}
	return attrs
}
