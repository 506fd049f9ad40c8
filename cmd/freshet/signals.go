package main

import (
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// hangups receives the SIGHUP of server processes, from their first moment to their last. One that comes while
// another waits is the same request.
var hangups = make(chan os.Signal, 1)

// serverCommands are the commands that run until they are stopped.
var serverCommands = []string{"serve", "worker"}

// catchSignals prevents signals that are sent to servers for another purpose from ending them: SIGHUP, which
// reloads the configuration, and those that programs of other makers take for a rotation of the log. Service
// managers do not restart a process after each of them. Where a terminal is closed, SIGHUP is sent, too.
func catchSignals(args []string) {
	if len(args) > 1 && slices.Contains(serverCommands, args[1]) {
		signal.Notify(hangups, syscall.SIGHUP)
		for _, s := range ignored {
			signal.Ignore(s)
		}
	}
}
