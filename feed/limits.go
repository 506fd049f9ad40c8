package feed

import (
	"math"
	"strconv"
	"strings"
)

// Limits are guardrails of an experiment: by how much a rate of its readers may exceed that of control,
// as a part of control's, e.g. 0.1 for a tenth. 0 means no limit.
type Limits struct {
	Rejects float64 `json:"rejects,omitempty"` // hides and dislikes per impression
	Short   float64 `json:"short,omitempty"`   // share of pages with fewer items than requested, or none
	Latency float64 `json:"latency,omitempty"` // mean time to answer a page
	// None removes all limits of an experiment. It is only sent: a change without limits leaves them.
	None bool `json:"none,omitempty"`
}

// maxLimit bounds a limit: ten times control's rate more.
const maxLimit = 10

// On reports whether there is a limit.
func (l Limits) On() bool { return max(l.Rejects, l.Short, l.Latency) > 0 }

// limitNames holds the names of limits, in order.
var limitNames = [...]string{"rejects", "short", "latency"}

// Limit is one of [Limits].
type Limit struct {
	Name string
	Most float64
}

// Each returns all limits, in a fixed order; absent ones are 0.
func (l Limits) Each() []Limit {
	return []Limit{{limitNames[0], l.Rejects}, {limitNames[1], l.Short}, {limitNames[2], l.Latency}}
}

// Validate checks the limits; the error wraps [ErrInvalid].
func (l Limits) Validate() error {
	if l.None && l != (Limits{None: true}) {
		return Errorf(ErrInvalid, "bad ranking parameters: limits are either none or some, not both")
	}
	for _, limit := range l.Each() {
		if !(limit.Most >= 0 && limit.Most <= maxLimit) {
			return Errorf(ErrInvalid, "bad ranking parameters: the limit %s must be more than 0 and at most %d, not %v", limit.Name, maxLimit, limit.Most)
		}
	}
	return nil
}

// String returns the limits as [ParseLimits] reads them.
func (l Limits) String() string {
	var parts []string
	for _, limit := range l.Each() {
		if limit.Most > 0 {
			parts = append(parts, limit.Name+"="+strconv.FormatFloat(math.Round(limit.Most*1e6)/1e4, 'f', -1, 64)+"%")
		}
	}
	return strings.Join(parts, ",")
}

// ParseLimits parses a list such as rejects=10%,short=0.05; "none" means no limits. The error wraps
// [ErrInvalid].
func ParseLimits(text string) (l Limits, err error) {
	if text == "none" {
		return Limits{None: true}, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		number, percent := strings.CutSuffix(value, "%")
		most, err := strconv.ParseFloat(number, 64)
		if percent {
			most /= 100
		}
		if err != nil || !(most > 0) {
			return l, Errorf(ErrInvalid, "bad ranking parameters: a limit must be written like rejects=10%%, and more than 0, not %.60q", part)
		}
		switch name {
		case "rejects":
			l.Rejects = most
		case "short":
			l.Short = most
		case "latency":
			l.Latency = most
		default:
			return l, Errorf(ErrInvalid, "bad ranking parameters: unknown limit %.40q; there are %s", name, strings.Join(limitNames[:], ", "))
		}
	}
	return l, l.Validate()
}
