package testenv

import (
	"io"
	"log/slog"
	"sync"
	"testing"
)

// Logger writes warnings and errors to the output of the test, which is shown if it fails. Messages
// logged after the test has ended are dropped.
func Logger(t testing.TB) *slog.Logger {
	w := &testOutput{w: t.Output()}
	t.Cleanup(w.end)
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// testOutput is the output of a test until it ends; writing to it later would panic.
type testOutput struct {
	mu sync.Mutex
	w  io.Writer
}

func (o *testOutput) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.w = io.Discard
}

// Write implements [io.Writer].
func (o *testOutput) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.w.Write(p)
}
