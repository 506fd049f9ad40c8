package handler

import (
	"context"

	"github.com/freshet/freshet/feed/api"
)

// System tells operators how the server runs. No text of it contains a secret.
type System interface {
	// System returns what the server knows without asking others.
	System(ctx context.Context) api.System
	// Diagnose checks every dependency, as freshet doctor does.
	Diagnose(ctx context.Context) api.Diagnosis
}

// getSystem answers GET /v1/system.
func (s *server) getSystem(ctx context.Context, _ *call, _ string) (any, error) {
	return s.deps.System.System(ctx), ctx.Err()
}

// postDoctor answers POST /v1/doctor. Its checks write to stores and remove what they wrote, and may take as
// long as a comparison.
func (s *server) postDoctor(ctx context.Context, _ *call, _ string) (any, error) {
	found := s.deps.System.Diagnose(ctx)
	return found, ctx.Err() // checks that had no time say nothing about their dependencies
}
