package recall

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
)

type answering struct {
	result Result
	err    error
}

func (a *answering) Name() string                                       { return "metered-test" }
func (a *answering) Recall(context.Context, feed.Query) (Result, error) { return a.result, a.err }

func asked(t *testing.T) uint64 {
	t.Helper()
	var m dto.Metric
	require.NoError(t, sourceSeconds.WithLabelValues("metered-test").(prometheus.Histogram).Write(&m))
	return m.GetHistogram().GetSampleCount()
}

func TestMeteredCountsWhatTheSourceAnswers(t *testing.T) {
	source := &answering{}
	m := NewMetered(source)
	assert.Equal(t, "metered-test", m.Name())
	failed := errors.New("failed")
	for _, c := range []struct {
		name               string
		answer             answering
		candidates, errors float64
	}{
		{"candidates", answering{result: Result{Candidates: make([]feed.Candidate, 3), Next: "x"}}, 3, 0},
		{"none", answering{}, 0, 0},
		{"an error", answering{err: failed}, 0, 1},
		{"a caller that went away", answering{err: fmt.Errorf("search: %w", context.Canceled)}, 0, 0},
	} {
		before := []float64{testutil.ToFloat64(m.candidates), testutil.ToFloat64(m.errors), float64(asked(t))}
		*source = c.answer
		result, err := m.Recall(t.Context(), feed.Query{})
		assert.Equal(t, c.answer.result, result, c.name)
		assert.Equal(t, c.answer.err, err, c.name)
		after := []float64{testutil.ToFloat64(m.candidates), testutil.ToFloat64(m.errors), float64(asked(t))}
		assert.Equal(t, []float64{before[0] + c.candidates, before[1] + c.errors, before[2] + 1}, after, c.name)
	}
}
