package telemetry

import (
	"testing"

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
			tracing, err := Start(t.Context(), "test")
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
	tracing, err := Start(t.Context(), "test")
	require.NoError(t, err)
	require.Nil(t, tracing)
}
