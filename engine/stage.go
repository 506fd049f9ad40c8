package engine

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// stage is a step of the feed that is measured and traced under its name.
type stage struct {
	name    string
	seconds prometheus.Observer
}

func newStage(name string) stage {
	return stage{name: name, seconds: stageSeconds.WithLabelValues(name)}
}

// enter begins a stage; the function it returns ends it. Without a tracer only
// its time is measured.
func (e *Engine) enter(ctx context.Context, s stage) (context.Context, func()) {
	timer := prometheus.NewTimer(s.seconds)
	if e.cfg.Tracer == nil {
		return ctx, func() { timer.ObserveDuration() }
	}
	ctx, span := e.cfg.Tracer.Start(ctx, s.name)
	return ctx, func() {
		span.End()
		timer.ObserveDuration()
	}
}

// traced answers a request within a span of its own.
func (e *Engine) traced(ctx context.Context, r Request, answer func(context.Context) (Answer, error)) (Answer, error) {
	if e.cfg.Tracer == nil {
		return answer(ctx)
	}
	ctx, span := e.cfg.Tracer.Start(ctx, "feed "+r.name(), trace.WithAttributes(
		attribute.String("freshet.agent", r.Agent), attribute.Int("freshet.limit", r.Limit)))
	defer span.End()
	a, err := answer(ctx)
	if err != nil {
		span.RecordError(err)
		span.SetStatus(codes.Error, "")
		return a, err
	}
	span.SetAttributes(attribute.Int("freshet.items", len(a.Docs)), attribute.StringSlice("freshet.degraded", a.Degraded))
	return a, nil
}
