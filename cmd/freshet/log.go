package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/logqueue"
)

// flushWait is how long a process that ends waits until its last lines are written.
const flushWait = time.Second

// serverLog returns the logger of a process that serves. Its log may be a pipe whose
// reader stalls or ends: neither must stop the process, so lines are queued, and what
// the command itself prints goes the same way.
func serverLog(cmd *cobra.Command, cfg configs.Log) *slog.Logger {
	// Without this, a write to a closed standard error ends the process.
	signal.Ignore(syscall.SIGPIPE)
	queue := logqueue.New(cmd.ErrOrStderr(), logqueue.Size, func(dropped int) []byte {
		var line bytes.Buffer
		newLogger(&line, cfg).Warn("log lines were dropped, because nobody read the log", "lines", dropped)
		return line.Bytes()
	})
	cmd.Root().SetErr(queue)
	return newLogger(queue, cfg)
}

// flush writes what is still queued, where the output is a queue.
func flush(ctx context.Context, errs io.Writer) {
	queue, ok := errs.(*logqueue.Writer)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushWait)
	defer cancel()
	_ = queue.Flush(ctx) // who does not read the log cannot be told
}

// newLogger writes as configured.
func newLogger(w io.Writer, cfg configs.Log) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(cfg.Level)) // one of the values the configuration allows
	options := &slog.HandlerOptions{Level: level}
	if cfg.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
