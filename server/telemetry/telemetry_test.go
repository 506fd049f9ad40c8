package telemetry

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCollectorAddresses(t *testing.T) {
	for _, tc := range []struct {
		value string
		right bool
	}{
		{"http://127.0.0.1:1", true},
		{"https://collector.example.com/otlp", true},
		{"127.0.0.1:4318", false},
		{"collector:4318", false},
		{"collector", false},
		{"grpc://127.0.0.1:4317", false},
		{"http://", false},
		{"http:// 127.0.0.1", false},
	} {
		for i, name := range endpoint {
			t.Setenv(endpoint[1-i], "")
			t.Setenv(name, tc.value)
			tracing, err := Start(t.Context(), "test", slog.New(slog.DiscardHandler))
			if tc.right {
				require.NoError(t, err, tc.value)
				require.NotNil(t, tracing)
				require.NoError(t, tracing.Close(t.Context()))
				continue
			}
			require.ErrorContains(t, err, name, tc.value)
			require.Nil(t, tracing)
		}
	}
	t.Setenv(endpoint[0], "")
	t.Setenv(endpoint[1], "")
	tracing, err := Start(t.Context(), "test", slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	require.Nil(t, tracing)
}

// TestSwitchedOff checks the variables that switch traces off although a collector is named.
func TestSwitchedOff(t *testing.T) {
	t.Setenv(endpoint[1], "http://127.0.0.1:1")
	for name, value := range map[string]string{disabled: "True", tracesExporter: "none"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, value)
			tracing, err := Start(t.Context(), "test", slog.New(slog.DiscardHandler))
			require.NoError(t, err)
			require.Nil(t, tracing)
		})
	}
}

// TestAskedInVain checks that each value of the specification that is not followed is logged, with what is
// done instead, and the others are not.
func TestAskedInVain(t *testing.T) {
	t.Setenv(endpoint[1], "http://127.0.0.1:1")
	for _, tt := range []struct {
		name, value string
		values      []string // that are logged
	}{
		{tracesExporter, "otlp", nil},
		{tracesExporter, "console", []string{"console"}},
		{tracesExporter, "otlp,zipkin", []string{"zipkin"}},
		{protocol, "http/protobuf", nil},
		{protocol, "grpc", []string{"grpc"}},
		{protocol, "http/json", []string{"http/json"}},
		{ofTraces, "grpc", []string{"grpc"}},
		{propagator, "tracecontext,baggage", nil},
		{propagator, "b3, jaeger", []string{"b3", "jaeger"}},
		{disabled, "false", nil},
		{"OTEL_TRACES_SAMPLER", "always_off", nil},
	} {
		t.Run(tt.name+"="+tt.value, func(t *testing.T) {
			t.Setenv(tt.name, tt.value)
			var log bytes.Buffer
			tracing, err := Start(t.Context(), "test", slog.New(slog.NewTextHandler(&log, nil)))
			require.NoError(t, err)
			require.NotNil(t, tracing)
			require.NoError(t, tracing.Close(t.Context()))
			assert.Equal(t, len(tt.values), strings.Count(log.String(), "\n"), log.String())
			for _, value := range tt.values {
				assert.Contains(t, log.String(), "variable="+tt.name+" value="+value+" instead=")
			}
		})
	}
	t.Setenv(protocol, "grpc")
	t.Setenv(ofTraces, "http/protobuf")
	assert.Empty(t, inVain(), "the one for traces is in place of the other")
}

// TestLostSpansReportedOnce has a collector that refuses spans for a while.
func TestLostSpansReportedOnce(t *testing.T) {
	var refuses atomic.Bool
	refuses.Store(true)
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if refuses.Load() {
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(collector.Close)
	t.Setenv(endpoint[1], collector.URL)
	var log bytes.Buffer
	tracing, err := Start(t.Context(), "test", slog.New(slog.NewTextHandler(&log, nil)))
	require.NoError(t, err)
	send := func() {
		_, span := tracing.Tracer().Start(t.Context(), "a span")
		span.End()
		require.NoError(t, tracing.provider.ForceFlush(t.Context()))
	}
	send()
	send()
	assert.Equal(t, 1, strings.Count(log.String(), "\n"), log.String())
	assert.Contains(t, log.String(), "level=WARN msg=\"spans cannot be sent and are lost; OTEL_EXPORTER_OTLP_ENDPOINT must be the OTLP/HTTP endpoint of a collector, port 4318 of most\"")
	refuses.Store(false)
	send()
	send()
	assert.Equal(t, 2, strings.Count(log.String(), "\n"), log.String())
	assert.Contains(t, log.String(), "level=INFO msg=\"spans are sent to the collector again\" lost=2")
	require.NoError(t, tracing.Close(t.Context()))
}
