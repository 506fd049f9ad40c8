// Package telemetry sends traces if OTEL_EXPORTER_OTLP_ENDPOINT names a collector, and does nothing
// otherwise. The other OTEL_ variables have the meaning that the OpenTelemetry specification
// defines; what they ask for and this package does not do is logged.
package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// endpoint lists the variables that name the collector, for traces only or for all signals.
var endpoint = []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"}

// Tracing creates spans and sends them. The nil Tracing does neither.
type Tracing struct {
	provider *sdk.TracerProvider
}

// isHTTP reports whether a URL is that of an HTTP server.
func isHTTP(u *url.URL) bool {
	return (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// Start starts tracing. It returns nil if no collector is named, or the environment switches traces off.
// Spans are sent in batches in the background; Close sends the last ones. An invalid URL of a collector is
// an error. log is told what the environment asks for in vain, and when spans cannot be sent.
func Start(ctx context.Context, version string, log *slog.Logger) (*Tracing, error) {
	if off() {
		return nil, nil
	}
	named := false
	for _, name := range endpoint {
		value := os.Getenv(name)
		if value == "" {
			continue
		}
		named = true
		if u, err := url.Parse(value); err != nil || !isHTTP(u) { // the exporter would ignore it
			return nil, fmt.Errorf("tracing: %s must be the URL of a collector's OTLP/HTTP endpoint, such as http://127.0.0.1:4318", name)
		}
	}
	if !named {
		return nil, nil
	}
	for _, w := range inVain() {
		log.WarnContext(ctx, "a variable asks for traces that are not sent", "variable", w.name, "value", w.value, "instead", w.instead)
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	res, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(
		attribute.String("service.name", "freshet"), attribute.String("service.version", version)), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	return &Tracing{provider: sdk.NewTracerProvider(sdk.WithBatcher(&reporting{SpanExporter: exporter, log: log}), sdk.WithResource(res))}, nil
}

// Tracer returns the tracer of the spans, or nil without tracing.
func (t *Tracing) Tracer() trace.Tracer {
	if t == nil {
		return nil
	}
	return t.provider.Tracer("github.com/freshet/freshet")
}

// Handler creates a span for each request, which continues the caller's trace (W3C traceparent).
// The route sets the span's name later. Probes, which are frequent and not informative, have no
// span.
func (t *Tracing) Handler(next http.Handler) http.Handler {
	if t == nil {
		return next
	}
	tracer := t.Tracer()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/livez", "/readyz", "/metrics":
			next.ServeHTTP(w, r)
			return
		}
		ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
		ctx, span := tracer.Start(ctx, "request", trace.WithSpanKind(trace.SpanKindServer))
		defer span.End()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// Close sends the remaining spans.
func (t *Tracing) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}
