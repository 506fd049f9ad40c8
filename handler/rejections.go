package handler

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// The steps of the check of a token.
const (
	ofForm      = "form"
	ofKey       = "key"
	ofSignature = "signature"
	ofExpiry    = "exp"
)

// rejection is why a token is rejected.
type rejection struct {
	step string // of the check, or the claim
	error
}

func (r *rejection) Unwrap() error { return r.error }

func rejected(step string, err error) error { return &rejection{step, err} }

// tellEvery is the least time between two warnings about tokens that were rejected at the same step.
const tellEvery = 10 * time.Minute

// rejections logs why tokens are rejected: as a warning, so that an operator whose configuration does not fit
// the tokens learns it, and again only after a while, so that an attacker cannot fill the log. The others are
// logged at level debug.
type rejections struct {
	mu   sync.Mutex
	last map[string]time.Time // of warnings, by step
}

func (r *rejections) log(ctx context.Context, log *slog.Logger, now time.Time, err error) {
	level, step := slog.LevelDebug, ""
	var why *rejection
	if errors.As(err, &why) {
		step = why.step
	}
	if r.due(step, now) {
		level = slog.LevelWarn
	}
	log.Log(ctx, level, "a token was rejected; others that fail at this step are logged at level debug for the next ten minutes", "step", step, "cause", err)
}

// due reports whether a warning about a step is due, and notes it.
func (r *rejections) due(step string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	last, told := r.last[step]
	if told && now.Sub(last).Abs() < tellEvery {
		return false
	}
	if r.last == nil {
		r.last = map[string]time.Time{}
	}
	r.last[step] = now
	return true
}
