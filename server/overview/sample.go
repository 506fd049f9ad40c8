// Package overview keeps what the servers count as a point for each minute of the last hour and each
// hour of the last seven days. Once a minute each server reads its own metrics; nothing is counted
// on the path of a call. A server's share of a point takes up to 400 bytes: some 100 kB in Redis for
// each server, or 90 kB in the file of a server without Redis.
package overview

import (
	"math"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// Sample has the figures that a server counted in a part of a minute or hour.
type Sample struct {
	Refreshes float64 `json:"r,omitempty"`
	LoadMores float64 `json:"l,omitempty"`
	Errors    float64 `json:"e,omitempty"`
	Degraded  float64 `json:"d,omitempty"`
	Short     float64 `json:"s,omitempty"`
	Shown     float64 `json:"i,omitempty"`
	Clicks    float64 `json:"c,omitempty"`
	// Took has the number of calls by how long they took, in the buckets of [Bounds] and one above.
	Took []float64 `json:"t,omitempty"`

	// From when to when it was counted, in Unix seconds.
	From int64 `json:"f"`
	To   int64 `json:"u"`

	// Sums over the times at which the server looked.
	Fill    float64 `json:"a,omitempty"` // of today's filters, the highest
	Looks   float64 `json:"n"`
	Delay   float64 `json:"q,omitempty"` // seconds
	Streams float64 `json:"o,omitempty"`

	// Troubles has, of a sample of an hour, the minutes in which something was wrong: a bit for each. The
	// keys are those of troubles.
	Troubles map[string]uint64 `json:"b,omitempty"`

	Server Server `json:"v"`

	lacked, failed map[string]float64 // answers that lacked a part, by part; failed calls, by dependency
}

// Server describes the server of a sample. Started is in Unix seconds.
type Server struct {
	Name    string   `json:"name"`
	Version string   `json:"version"`
	Started int64    `json:"started"`
	Down    []string `json:"down,omitempty"`
}

// counted has the fields that are sums of counters.
func (s *Sample) counted() []*float64 {
	return []*float64{&s.Refreshes, &s.LoadMores, &s.Errors, &s.Degraded, &s.Short, &s.Shown, &s.Clicks}
}

// add adds what another sample counted.
func (s *Sample) add(other Sample) {
	from := other.counted()
	for i, to := range s.counted() {
		*to += *from[i]
	}
	took := make([]float64, max(len(s.Took), len(other.Took))) // a store may hold the other slice
	copy(took, s.Took)
	for i, n := range other.Took {
		took[i] += n
	}
	s.Took = took
	if s.From == 0 || other.From < s.From {
		s.From = other.From
	}
	s.To = max(s.To, other.To)
	s.Fill = max(s.Fill, other.Fill)
	s.addTroubles(other.Troubles)
	s.Looks, s.Delay, s.Streams = s.Looks+other.Looks, s.Delay+other.Delay, s.Streams+other.Streams
}

// since returns what was counted since an earlier reading of the same counters.
func (s Sample) since(before Sample) Sample {
	from := before.counted()
	for i, to := range s.counted() {
		*to = max(0, *to-*from[i])
	}
	s.Took = slices.Clone(s.Took)
	for i := range s.Took {
		if i < len(before.Took) {
			s.Took[i] = max(0, s.Took[i]-before.Took[i])
		}
	}
	s.lacked, s.failed = minus(s.lacked, before.lacked), minus(s.failed, before.failed)
	return s
}

// Bounds are the upper bounds of the buckets of a call's duration, in seconds, as
// freshet_http_request_seconds has them.
var Bounds = []float64{.0002, .0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 60, 600}

// read returns the counters and gauges of this process.
func read(metrics prometheus.Gatherer) (Sample, error) {
	families, err := metrics.Gather()
	if err != nil {
		return Sample{}, err
	}
	s := Sample{Looks: 1, lacked: map[string]float64{}, failed: map[string]float64{}}
	for _, f := range families {
		field := fields[f.GetName()]
		if field == nil {
			continue
		}
		for _, m := range f.GetMetric() {
			field(&s, m)
		}
	}
	return s, nil
}

// fields says what a sample takes from each metric.
var fields = map[string]func(s *Sample, m *dto.Metric){
	"freshet_feed_answers_total": func(s *Sample, m *dto.Metric) {
		n := m.GetCounter().GetValue()
		switch label(m, "action") {
		case "refresh":
			s.Refreshes += n
		case "load_more":
			s.LoadMores += n
		default:
			return
		}
		if label(m, "result") == "error" {
			s.Errors += n
		}
	},
	"freshet_feed_marked_total": func(s *Sample, m *dto.Metric) {
		if label(m, "mark") == "short" {
			s.Short += m.GetCounter().GetValue()
		} else {
			s.Degraded += m.GetCounter().GetValue()
		}
	},
	"freshet_feed_items_total": func(s *Sample, m *dto.Metric) { s.Shown += m.GetCounter().GetValue() },
	"freshet_acts_total": func(s *Sample, m *dto.Metric) {
		if label(m, "kind") == "click" {
			s.Clicks += m.GetCounter().GetValue()
		}
	},
	"freshet_http_request_seconds": func(s *Sample, m *dto.Metric) {
		if label(m, "route") == "POST /v1/feed" {
			s.Took = buckets(m.GetHistogram())
		}
	},
	"freshet_jobs_oldest_seconds": func(s *Sample, m *dto.Metric) { s.Delay += m.GetGauge().GetValue() },
	"freshet_streams_open":        func(s *Sample, m *dto.Metric) { s.Streams += m.GetGauge().GetValue() },
	"freshet_dedup_filter_fill_ratio": func(s *Sample, m *dto.Metric) {
		if label(m, "days_ago") == "0" {
			s.Fill = m.GetGauge().GetValue()
		}
	},
	"freshet_degraded_total": func(s *Sample, m *dto.Metric) { s.lacked[label(m, "part")] += m.GetCounter().GetValue() },
	"freshet_dependency_errors_total": func(s *Sample, m *dto.Metric) {
		s.failed[label(m, "dependency")] += m.GetCounter().GetValue()
	},
	"freshet_dependency_up": func(s *Sample, m *dto.Metric) {
		if m.GetGauge().GetValue() == 0 {
			s.Server.Down = append(s.Server.Down, label(m, "dependency"))
		}
	},
}

func label(m *dto.Metric, name string) string {
	for _, l := range m.GetLabel() {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}

// buckets returns the number of calls in each bucket, and in the one above.
func buckets(h *dto.Histogram) []float64 {
	all := make([]float64, 0, len(Bounds)+1)
	var below float64
	for _, b := range h.GetBucket() {
		if !math.IsInf(b.GetUpperBound(), 1) {
			n := float64(b.GetCumulativeCount())
			all, below = append(all, n-below), n
		}
	}
	return append(all, float64(h.GetSampleCount())-below)
}

// quantile returns an estimate of the time that the given part of the calls took at most, in
// seconds; nil if there were no calls. took has the number of calls in the buckets of bounds, and above.
func quantile(part float64, took, bounds []float64) *float64 {
	var total float64
	for _, n := range took {
		total += n
	}
	if total == 0 {
		return nil
	}
	left, lower := part*total, 0.0
	for i, n := range took {
		if i >= len(bounds) {
			break
		}
		if n >= left && n > 0 {
			at := lower + (bounds[i]-lower)*left/n
			return &at
		}
		left, lower = left-n, bounds[i]
	}
	return &lower
}
