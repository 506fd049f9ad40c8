package bench

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
)

// Operations whose cost is known, as [Costs] names them.
const (
	costRefresh  = "refresh"
	costLoadMore = "load_more"
	costPage     = "timeline page"
	costPublish  = "publish" // without followers
	costPush     = "push into a list"
	costUnfollow = "unfollow"
	costRemove   = "removal from a list"
)

// Costs are the measured costs of operations.
type Costs struct {
	Measured string `json:"measured"`    // day of the run
	Machine  string `json:"measured_on"` // CPU, and versions of what ran on it
	// CPU is in µs of one operation, by process, of which that of Freshet includes the client.
	CPU map[string]map[string]float64 `json:"cpu_us"`
	// Entry is the memory of an entry of a list in Redis, in bytes.
	Entry float64 `json:"entry_bytes"`
}

//go:embed costs.json
var measuredCosts []byte

// MeasuredCosts returns the costs in docs/capacity.md.
func MeasuredCosts() (Costs, error) { return ReadCosts(bytes.NewReader(measuredCosts)) }

// ReadCosts reads what [Costs.Write] wrote, or takes the costs from a report. It returns an error that
// names the parts which a report lacks.
func ReadCosts(r io.Reader) (Costs, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return Costs{}, err
	}
	var c Costs
	if err := json.Unmarshal(text, &c); err != nil {
		return c, fmt.Errorf("no report and no costs: %w", err)
	}
	if len(c.CPU) > 0 {
		return c, nil
	}
	var report Report
	if err := json.Unmarshal(text, &report); err != nil {
		return c, fmt.Errorf("no report: %w", err)
	}
	return report.costs()
}

// Write writes the costs as indented JSON.
func (c Costs) Write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(c)
}

// costs takes the costs of operations from the measurements with services.
func (r *Report) costs() (Costs, error) {
	m := r.Machine
	c := Costs{
		Measured: m.Time.Format("2006-01-02"), CPU: map[string]map[string]float64{},
		Machine: fmt.Sprintf("%d cores of %s; Redis %s, Elasticsearch %s", m.Cores, orUnknown(m.CPU), orNone(m.Redis), orNone(m.Elasticsearch)),
	}
	ofCase := map[string]string{"load_more": costLoadMore, "refresh": costRefresh, "timeline": costPage}
	for _, result := range r.Results {
		if result.Mode != Services || result.Skipped != "" {
			continue
		}
		if operation, ok := ofCase[result.Part]; ok {
			c.add(operation, result, "freshet")
		}
		if result.Part == "posts" {
			c.addPosts(result)
		}
		for _, f := range result.Figures {
			if result.Part == "timeline" && strings.HasPrefix(f.Name, "bytes an entry") {
				c.Entry = f.Value
			}
		}
	}
	var lacks []string
	for _, operation := range []string{costRefresh, costLoadMore, costPage, costPublish, costPush, costUnfollow, costRemove} {
		if len(c.CPU[operation]) == 0 {
			lacks = append(lacks, operation)
		}
	}
	if len(lacks) > 0 {
		return c, fmt.Errorf("the report lacks %s: measure --only load_more,refresh,timeline,posts with all services", strings.Join(lacks, ", "))
	}
	return c, nil
}

// add takes the cost of an operation from a case, unless it is known: a part's first result is the
// one in which everything is there.
func (c *Costs) add(operation string, r Result, of string) {
	for _, one := range r.Cases {
		if one.Name == of && c.CPU[operation] == nil {
			c.CPU[operation] = one.CPU
		}
	}
}

// addPosts takes the costs of writes: of lists, those of posts with the fewest followers.
func (c *Costs) addPosts(r Result) {
	lists, ofLists := r.figure("lists")
	switch {
	case strings.HasPrefix(r.What, "publish"):
		c.add(costPublish, r, "freshet")
	case strings.HasPrefix(r.What, "unfollow"):
		c.add(costUnfollow, r, "freshet")
	case ofLists && c.CPU[costPush] == nil:
		for operation, of := range map[string]string{costPush: "published", costRemove: "deleted"} {
			c.add(operation, r, of)
			each := map[string]float64{}
			for process, us := range c.CPU[operation] {
				each[process] = us / lists
			}
			c.CPU[operation] = each
		}
	}
}

// Plan is a load and the prices of what serves it.
type Plan struct {
	Refreshes, LoadMores, Pages, Pushes, Deletes, Unfollows float64 // a second

	Followers float64 // of an author whose post is published or deleted
	Readers   float64 // who read a timeline within a week, with a full list each
	Cap       float64 // entries of a full list

	Busy     float64 // share of a core that is used at the peak
	Cores    float64 // of a Freshet or Elasticsearch server
	CoreHour float64 // price, in $
	GiBHour  float64 // price of memory, in $
}

// DefaultPlan is the load of the analysis of costs, at prices that large clouds asked in 2026.
func DefaultPlan() Plan {
	return Plan{
		Pages: 500_000, Pushes: 100_000, Deletes: 1000, Followers: 500, Readers: 10_000_000, Cap: 500,
		Busy: 0.6, Cores: 8, CoreHour: 0.04, GiBHour: 0.005,
	}
}

// Validate checks the plan.
func (p Plan) Validate() error {
	for _, v := range []float64{p.Refreshes, p.LoadMores, p.Pages, p.Pushes, p.Deletes, p.Unfollows, p.Readers, p.Cap, p.CoreHour, p.GiBHour} {
		if v < 0 || math.IsInf(v, 0) || math.IsNaN(v) {
			return errors.New("rates, readers, entries and prices must be 0 or more")
		}
	}
	if p.Followers < 1 || p.Busy <= 0 || p.Busy > 1 || p.Cores < 1 {
		return errors.New("--followers and --cores must be at least 1, and --busy above 0, at most 1")
	}
	return nil
}

// rates returns the operations a second, in the order of the table. A push and a removal are those of
// one list; a post is published for each Followers pushes.
func (p Plan) rates() ([]string, map[string]float64) {
	names := []string{costRefresh, costLoadMore, costPage, costPublish, costPush, costUnfollow, costRemove}
	return names, map[string]float64{
		costRefresh: p.Refreshes, costLoadMore: p.LoadMores, costPage: p.Pages, costPublish: p.Pushes / p.Followers, costPush: p.Pushes,
		costUnfollow: p.Unfollows, costRemove: p.Deletes * p.Followers,
	}
}

// Estimate has the servers and the money that a plan takes.
type Estimate struct {
	Cores    map[string]float64 // busy, by process
	Machines map[string]int     // Freshet and Elasticsearch servers, Redis masters, PostgreSQL primaries
	Database int                // cores of the PostgreSQL primary
	Memory   float64            // of lists, in GiB, once
	Hour     float64            // price, in $, with a replica of each Redis master and of PostgreSQL
	// Million is the price of a million operations of each kind, in $, without memory and replicas.
	Million map[string]float64
	Each    float64 // price of an operation of the whole, in $
}

// Estimate computes what a plan takes by the costs: cores = operations a second × CPU of one ÷ Busy. A
// Redis master uses one core.
func (p Plan) Estimate(c Costs) Estimate {
	e := Estimate{Cores: map[string]float64{}, Machines: map[string]int{}, Million: map[string]float64{}}
	names, rates := p.rates()
	sum := 0.0
	for _, name := range names {
		used := 0.0
		for process, us := range c.CPU[name] {
			e.Cores[process] += rates[name] * us / 1e6
			used += us / 1e6
		}
		e.Million[name] = 1e6 * used / p.Busy / 3600 * p.CoreHour
		sum += rates[name]
	}
	e.Machines[thisProcess] = up(e.Cores[thisProcess] / p.Busy / p.Cores)
	e.Machines[elasticProcess] = up(e.Cores[elasticProcess] / p.Busy / p.Cores)
	e.Machines[redisProcess] = up(e.Cores[redisProcess] / p.Busy)
	e.Database = up(e.Cores[databaseProcess] / p.Busy)
	e.Memory = p.Readers * p.Cap * c.Entry / (1 << 30)
	paid := p.Cores*float64(e.Machines[thisProcess]+e.Machines[elasticProcess]) + 2*float64(e.Machines[redisProcess]+e.Database)
	e.Hour = paid*p.CoreHour + 2*e.Memory*p.GiBHour
	if sum > 0 {
		e.Each = e.Hour / 3600 / sum
	}
	return e
}

// up rounds up; what is nothing needs nothing.
func up(v float64) int { return int(math.Ceil(v - 1e-9)) }

// Print writes the estimate as text.
func (p Plan) Print(w io.Writer, c Costs) error {
	out, e := &printer{w: w}, p.Estimate(c)
	names, rates := p.rates()
	processes := slices.Sorted(maps.Keys(e.Cores))
	rows := [][]string{slices.Concat([]string{"CPU of one, µs", "a second"}, processes, []string{"$ a million"})}
	busy := []string{"cores busy, of all", ""}
	for _, name := range names {
		row := []string{name, number(rates[name])}
		for _, process := range processes {
			row = append(row, number(c.CPU[name][process]))
		}
		rows = append(rows, append(row, number(e.Million[name])))
	}
	for _, process := range processes {
		busy = append(busy, number(e.Cores[process]))
	}
	out.line("costs of %s, on %s", c.Measured, c.Machine)
	out.table(append(rows, append(busy, ""))...)
	out.line("at %.0f %% of a core, %g cores a server, $%g a core-hour and $%g a GiB-hour:", 100*p.Busy, p.Cores, p.CoreHour, p.GiBHour)
	out.line("  Freshet, servers                    %d", e.Machines[thisProcess])
	out.line("  Redis, masters of one core          %d, and as many replicas; lists of %.3g GiB, and as much in replicas", e.Machines[redisProcess], e.Memory)
	out.line("  PostgreSQL, cores of the primary    %d, and a replica", e.Database)
	out.line("  Elasticsearch, servers              %d", e.Machines[elasticProcess])
	out.line("  $%.2f an hour; $%.2g an operation", e.Hour, e.Each)
	return out.err
}
