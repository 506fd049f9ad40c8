//go:build unix

package main

import (
	"os"
	"syscall"
)

// ignored are the signals that have no effect on servers.
var ignored = []os.Signal{syscall.SIGUSR1, syscall.SIGUSR2}
