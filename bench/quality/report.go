package quality

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"
)

// Report holds the measurements.
type Report struct {
	From, Until time.Time     // times of the first and the last measured read
	Window      time.Duration // maximum age of a candidate
	Half        Half
	Readers     int
	Events      int     // measured first reads
	Candidates  float64 // mean number of candidates per read
	Outside     int     // of Events, reads of items older than the window, which no ranking finds
	LeftOut     int     // reads at or before an item's own time; not in Events
	Rankings    []Row
}

// Row is the figures of one ranking.
type Row struct {
	Ranking string
	Readers int
	Events  int
	Figures []Figure
}

// Figure is one figure of a row. Known is false if the data cannot provide it.
type Figure struct {
	Name  string
	Known bool
	Estimate
}

// compared lists the measures whose differences are reported.
var compared = []struct {
	name    string
	measure int
}{{"ndcg20", ndcg20}, {"mrr", mrr}, {"hr5", hr5}, {"hr20", hr20}}

// report computes the figures.
func (r *replay) report() (*Report, error) {
	b := r.board
	n := len(b.reads)
	if n == 0 {
		return nil, errors.New("no reads to measure; check --from, --until, --half and --count-readers")
	}
	out := &Report{From: b.first, Until: b.last, Window: r.o.Window, Half: r.o.Half, Readers: n, Outside: b.outside, LeftOut: b.leftOut}
	for _, reads := range b.reads {
		out.Events += reads
	}
	out.Candidates = float64(b.candidates) / float64(out.Events)
	all := draws(n)
	for i := range b.entries {
		e := &b.entries[i]
		row := Row{Ranking: e.name, Readers: n, Events: out.Events}
		for _, c := range compared {
			row.add(c.name, true, estimate(mean(b.means(e, c.measure)), n, all, 0, 1))
		}
		row.add("coverage", true, estimate(covered(e.shown, b.proposed), n, all, 0, 1))
		row.add("sites_per_page", b.hasSites, estimate(mean(b.means(e, sitesPerPage)), n, all, 0, pageSize))
		for _, other := range []struct{ name, of string }{{"minus_most_recent", mostRecent}, {"minus_default", byDefault}} {
			for _, c := range compared {
				row.add(c.name+"_"+other.name, true, estimate(mean(b.gains(e, b.entry(other.of), c.measure)), n, all, -1, 1))
			}
		}
		out.Rankings = append(out.Rankings, row)
	}
	return out, nil
}

func (row *Row) add(name string, known bool, e Estimate) {
	row.Figures = append(row.Figures, Figure{Name: name, Known: known, Estimate: e})
}

// Figure returns the figure with a name.
func (row *Row) Figure(name string) (Estimate, bool) {
	for _, f := range row.Figures {
		if f.Name == name {
			return f.Estimate, f.Known
		}
	}
	return Estimate{}, false
}

// entry returns the ranking with a name.
func (b *board) entry(name string) *entry {
	for i := range b.entries {
		if b.entries[i].name == name {
			return &b.entries[i]
		}
	}
	return nil
}

// means returns the mean of a measure over each reader's reads.
func (b *board) means(e *entry, measure int) []float64 {
	out := make([]float64, len(b.reads))
	for i := range out {
		out[i] = e.sums[i][measure] / float64(b.reads[i])
	}
	return out
}

// gains returns, for each reader, the mean of one ranking minus that of another.
func (b *board) gains(e, over *entry, measure int) []float64 {
	out := b.means(e, measure)
	for i, mean := range b.means(over, measure) {
		out[i] -= mean
	}
	return out
}

// Write writes one JSON object per ranking, each on its own line.
func (r *Report) Write(w io.Writer) error {
	enc := json.NewEncoder(w)
	for i := range r.Rankings {
		if err := enc.Encode(&r.Rankings[i]); err != nil {
			return err
		}
	}
	return nil
}

// MarshalJSON writes the figures in the same object as the names, each as x, x_low and x_high;
// null if unknown.
func (row *Row) MarshalJSON() ([]byte, error) {
	name, err := json.Marshal(row.Ranking)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, `{"ranking":%s,"readers":%d,"events":%d`, name, row.Readers, row.Events)
	for _, f := range row.Figures {
		fmt.Fprintf(&out, `,"%s":%s,"%[1]s_low":%[3]s,"%[1]s_high":%[4]s`, f.Name, f.number(f.Value), f.number(f.Low), f.number(f.High))
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// number formats six decimals, more than the precision of the intervals.
func (f *Figure) number(v float64) string {
	if !f.Known {
		return "null"
	}
	text, _ := json.Marshal(math.Round(v*1e6) / 1e6) // a figure is finite
	return string(text)
}
