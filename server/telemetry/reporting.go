package telemetry

import (
	"context"
	"log/slog"
	"sync/atomic"

	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// reporting logs when spans begin to be lost, and when they arrive again. The library would log each batch
// that is lost, every few seconds.
type reporting struct {
	sdk.SpanExporter
	log    *slog.Logger
	failed atomic.Bool // the last batch
	lost   atomic.Int64
}

// ExportSpans implements [sdk.SpanExporter].
func (r *reporting) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := r.SpanExporter.ExportSpans(ctx, spans)
	if err == nil {
		if r.failed.Swap(false) {
			r.log.InfoContext(ctx, "spans are sent to the collector again", "lost", r.lost.Swap(0))
		}
		return nil
	}
	r.lost.Add(int64(len(spans)))
	if !r.failed.Swap(true) {
		r.log.WarnContext(ctx, "spans cannot be sent and are lost; "+used()+" must be the OTLP/HTTP endpoint of a collector, port 4318 of most", "error", err)
	}
	return nil // it is reported
}
