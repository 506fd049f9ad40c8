package bench

import (
	"encoding/json"
	"io"
	"time"
)

// Report holds the measurements of a run. Its JSON is a stable format: fields may be added, but
// are never renamed.
type Report struct {
	Machine     Machine      `json:"machine"`
	Settings    Settings     `json:"settings"`
	Results     []Result     `json:"results"`
	Simulations []Simulation `json:"simulations"`
	Budgets     []Budget     `json:"budgets"`
	// Impossible lists results that are wrong on any machine, however slow: repeats, wrong
	// answers. It should be empty.
	Impossible []string `json:"impossible"`
	Seconds    float64  `json:"seconds"` // duration of the run
}

// Machine describes the machine of a run.
type Machine struct {
	Time          time.Time `json:"time"`
	Freshet       string    `json:"freshet"`
	Go            string    `json:"go"`
	Platform      string    `json:"platform"`
	CPU           string    `json:"cpu,omitempty"`
	Cores         int       `json:"cores"`
	LoadBefore    string    `json:"load_before,omitempty"` // load averages of 1, 5 and 15 minutes
	LoadAfter     string    `json:"load_after,omitempty"`
	Redis         string    `json:"redis,omitempty"`
	Elasticsearch string    `json:"elasticsearch,omitempty"`
}

// Settings holds the settings of the run.
type Settings struct {
	Only     []string `json:"only"`
	Items    []int    `json:"items"`
	Duration string   `json:"duration"` // per side of a comparison
	Rounds   int      `json:"rounds"`
	Clients  int      `json:"clients"`
	Page     int      `json:"page"`
	Short    bool     `json:"short"`
}

// Result is one comparison.
type Result struct {
	Part    string  `json:"part"` // one of [Parts]
	Mode    string  `json:"mode"` // embedded or services
	What    string  `json:"what"` // description of the measurement: sizes and numbers
	Cases   []Case  `json:"cases,omitempty"`
	Ratios  []Ratio `json:"ratios,omitempty"`
	Figures []Value `json:"figures,omitempty"`
	Skipped string  `json:"skipped,omitempty"` // why it was not measured
}

// Case is one side of a comparison. Figures per call are means.
type Case struct {
	Name        string  `json:"name"`
	Calls       int64   `json:"calls"`
	PerSecond   float64 `json:"per_second"` // median of the rounds
	Latency     Latency `json:"latency_us"`
	Allocs      float64 `json:"allocs"` // 0, like AllocBytes, if other allocations cannot be separated
	AllocBytes  float64 `json:"alloc_bytes"`
	AnswerBytes float64 `json:"answer_bytes,omitempty"`
	// CPU is in µs, by process. The clients of the measurement run in the freshet process.
	CPU map[string]float64 `json:"cpu_us"`
}

// Latency is in µs.
type Latency struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// Ratio compares the rates of two sides that took turns.
type Ratio struct {
	Of     string    `json:"of"`
	To     string    `json:"to"`
	Median float64   `json:"median"`
	Min    float64   `json:"min"`
	Max    float64   `json:"max"`
	Rounds []float64 `json:"rounds"`
}

// Value is a single figure.
type Value struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}

// Budget is a promise and its measurement.
type Budget struct {
	What     string  `json:"what"`
	Limit    string  `json:"limit"`
	Measured float64 `json:"measured"`
	Unit     string  `json:"unit"`
	Met      bool    `json:"met"`
}

// Write writes the report as indented JSON.
func (r *Report) Write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// figure returns the value with a name; ok is false if it was not measured.
func (r Result) figure(name string) (v float64, ok bool) {
	for _, f := range r.Figures {
		if f.Name == name {
			return f.Value, true
		}
	}
	return 0, false
}
