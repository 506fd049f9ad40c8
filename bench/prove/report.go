package prove

import (
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"time"
)

// Report is the result of a run over several systems.
type Report struct {
	Time    time.Time `json:"time"`
	Machine string    `json:"machine"`
	Repeat  string    `json:"repeat"` // the command that makes the same calls
	Options Options   `json:"options"`
	Columns []Column  `json:"columns"`
}

// Column is the result of one system.
type Column struct {
	Adapter   string   `json:"adapter"`
	About     string   `json:"about"`
	Disclaims string   `json:"disclaims,omitempty"`
	Skipped   string   `json:"skipped,omitempty"` // why it did not run
	Lacks     []Notion `json:"lacks,omitempty"`
	// OwesNothing means that the system promises no reader any entry, so that none is lost.
	OwesNothing bool `json:"owes_nothing,omitempty"`

	Repeated       int64 `json:"repeated"`        // entries shown again within seven days
	RepeatedMarked int64 `json:"repeated_marked"` // likewise, by answers that say so
	Lost           int64 `json:"lost"`            // entries owed to a reader who asked to the end, and never shown
	LostUnanswered int64 `json:"lost_unanswered"` // likewise, where a call of the reader was given up
	Leaked         int64 `json:"leaked"`          // entries shown to who may not see them
	LeakedMarked   int64 `json:"leaked_marked"`   // likewise, by answers that say that rights could not be checked
	Late           int64 `json:"late"`            // pages after more than a second
	Empty          int64 `json:"empty"`           // pages without entries though there was more
	EmptyMarked    int64 `json:"empty_marked"`    // likewise, of answers that say that they lack something
	Errors         int64 `json:"errors"`          // calls that were refused or given up
	NotMade        int64 `json:"not_made"`        // calls for which too many were waiting

	Pages       int64          `json:"pages"`
	Entries     int64          `json:"entries"`
	PerSecond   float64        `json:"pages_per_second"`
	P50         float64        `json:"p50_ms"`
	P95         float64        `json:"p95_ms"`
	P99         float64        `json:"p99_ms"`
	CPU         float64        `json:"cpu_ms_per_page"` // of the system's own processes; services are not counted
	Resident    float64        `json:"resident_mib"`    // of the same, at the peak
	Samples     []Sample       `json:"samples"`
	ErrorTexts  map[string]int `json:"error_texts,omitempty"`
	Findings    []Finding      `json:"findings"` // the first of each kind
	FaultsMade  []string       `json:"faults"`
	LoadSeconds float64        `json:"load_seconds"`
}

// Kept reports whether the system kept the three promises: nothing repeated, lost or leaked.
func (c Column) Kept() bool { return c.Repeated == 0 && c.Lost == 0 && c.Leaked == 0 }

// fill writes the counts of a run into its column.
func (r *run) fill(c *Column) {
	t := r.tally
	c.Repeated, c.RepeatedMarked, c.Leaked = t.repeated.Load(), t.repeatedMarked.Load(), t.leaked.Load()
	c.LeakedMarked = t.leakedMarked.Load()
	c.Lost, c.LostUnanswered = int64(t.lost), int64(t.lostUnanswered)
	c.Late, c.Empty, c.EmptyMarked, c.NotMade = t.late.Load(), t.empty.Load(), t.emptyMarked.Load(), t.dropped.Load()
	for _, n := range t.errors {
		c.Errors += int64(n)
	}
	ms := func(q float64) float64 { return float64(t.micro.ValueAtQuantile(q)) / 1000 }
	c.P50, c.P95, c.P99 = ms(50), ms(95), ms(99)
	c.Pages, c.Entries, c.LoadSeconds = t.pages, t.entries, t.took.Seconds()
	c.PerSecond = float64(t.pages) / max(t.took.Seconds(), 1e-9)
	c.CPU = t.cpu.Seconds() * 1000 / max(1, float64(t.pages))
	c.Resident, c.Samples, c.Findings = t.peak, t.samples, t.findings
	c.ErrorTexts = most(t.errors, 10)
	for _, n := range r.journal.byWho["fault"] {
		l := r.journal.lines[n]
		c.FaultsMade = append(c.FaultsMade, l.at.begin.Round(time.Millisecond).String()+": "+l.text)
	}
}

// most returns the most frequent texts.
func most(all map[string]int, n int) map[string]int {
	texts := slices.SortedFunc(maps.Keys(all), func(a, b string) int { return cmp.Compare(all[b], all[a]) })
	few := map[string]int{}
	for _, text := range texts[:min(n, len(texts))] {
		few[text] = all[text]
	}
	return few
}

// Write writes the report as JSON.
func (r *Report) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}
