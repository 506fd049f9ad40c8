package overview

import (
	"math"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/freshet/freshet/feed/api"
)

// Process has what the metrics of a process say about it, since it was started.
type Process struct {
	Dependencies []api.CalledDependency // without the states of their breakers, by name
	Recording    api.Recording
	OldestAt     float64 // Unix seconds of the oldest impression that is not recorded; 0 for none
}

// ReadProcess reads the metrics of a process.
func ReadProcess(metrics prometheus.Gatherer) (Process, error) {
	families, err := metrics.Gather()
	if err != nil {
		return Process{}, err
	}
	var p Process
	found := map[string]*api.CalledDependency{}
	of := func(m *dto.Metric) *api.CalledDependency {
		name := label(m, "dependency")
		if found[name] == nil {
			found[name] = &api.CalledDependency{Name: name, Calls: []api.CallDuration{}}
		}
		return found[name]
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			switch f.GetName() {
			case "freshet_dependency_call_seconds":
				d := of(m)
				d.Calls = append(d.Calls, callOf(m))
			case "freshet_dependency_errors_total":
				n := int64(m.GetCounter().GetValue())
				if label(m, "reason") == "refused" {
					of(m).Refused += n
				} else {
					of(m).Failed += n
				}
			default:
				p.record(f.GetName(), m)
			}
		}
	}
	p.Dependencies = make([]api.CalledDependency, 0, len(found))
	for _, d := range found {
		p.Dependencies = append(p.Dependencies, *d)
	}
	slices.SortFunc(p.Dependencies, func(a, b api.CalledDependency) int { return strings.Compare(a.Name, b.Name) })
	return p, nil
}

// record takes what is about impressions.
func (p *Process) record(name string, m *dto.Metric) {
	switch name {
	case "freshet_record_recorded_total":
		p.Recording.Recorded += int64(m.GetCounter().GetValue())
	case "freshet_record_deferred_total":
		p.Recording.Deferred += int64(m.GetCounter().GetValue())
	case "freshet_spool_dropped_total":
		p.Recording.Dropped += int64(m.GetCounter().GetValue())
	case "freshet_spool_bytes":
		p.Recording.SpoolBytes += int64(m.GetGauge().GetValue())
	case "freshet_record_oldest_timestamp_seconds":
		p.OldestAt = m.GetGauge().GetValue()
	}
}

func callOf(m *dto.Metric) api.CallDuration {
	h := m.GetHistogram()
	var bounds []float64
	for _, b := range h.GetBucket() {
		if !math.IsInf(b.GetUpperBound(), 1) {
			bounds = append(bounds, b.GetUpperBound())
		}
	}
	took := buckets(h)
	return api.CallDuration{
		Call: label(m, "call"), Count: int64(h.GetSampleCount()),
		P50: quantile(0.5, took, bounds), P99: quantile(0.99, took, bounds),
	}
}
