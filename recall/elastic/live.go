package elastic

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/recall"
)

// counted is one of the counts of live popularity: a sum, which multiplied by a factor is
// the count at a moment, the epoch of the sum, and the count at the latest act.
type counted struct {
	sum, epoch, latest string // fields
	halfLife           time.Duration
	weight             float64
}

// countedBy returns the two counts of all indices, and those of further half-lives that the index has and
// the ranking weights.
func countedBy(r *feed.Ranking, s *esindex.Schema) []counted {
	all := []counted{
		{s.Fields.Sum2h, s.Fields.Epoch2h, s.Fields.Count2h, feed.ShortHalfLife, r.Popularity2h},
		{s.Fields.Sum2d, s.Fields.Epoch2d, s.Fields.Count2d, feed.LongHalfLife, r.Popularity2d},
	}
	for h := range s.More.All() {
		weight, more := r.PopularityMore[h.Index], esindex.MoreFieldsOf(h)
		if weight > 0 {
			all = append(all, counted{more.Sum, more.Epoch, more.Count, h.Duration, weight})
		}
	}
	return all
}

// countsIn returns where the factors of an item have the counts of [countedBy].
func countsIn(f *recall.Factors, r *feed.Ranking, s *esindex.Schema) []*float64 {
	all := []*float64{&f.Count2h, &f.Count2d}
	for h := range s.More.All() {
		if r.PopularityMore[h.Index] > 0 {
			all = append(all, &f.CountMore[h.Index])
		}
	}
	return all
}

// liveFunctions returns the terms weight × log10(1 + count): one per count and per epoch that
// contributes at the origin, for the items with a sum of that epoch, and one per count for the
// items whose latest act is a little later than the origin. Without weights there are none, so
// live popularity costs nothing.
func liveFunctions(q *feed.Query, s *esindex.Schema) []function {
	if !s.Live {
		return nil
	}
	var functions []function
	add := func(filter clause, field string, factor, weight float64) {
		functions = append(functions, counts(function{
			Filter: &filter, FieldValueFactor: &fieldValueFactor{Field: field, Modifier: "log1p", Factor: factor}, Weight: weight,
		}, s))
	}
	for _, c := range countedBy(&q.Ranking, s) {
		if c.weight == 0 {
			continue
		}
		for i, epoch := range feed.LiveEpochs(c.halfLife, q.Origin.Unix()) {
			filter := clause{Term: map[string]string{c.epoch: strconv.FormatInt(epoch.Number, 10)}}
			if i == 0 && s.Acts { // of the earlier epoch, no act is after the origin
				filter = clause{Bool: &boolean{Filter: []clause{filter}, MustNot: []clause{actsAfter(q, s, nil)}}}
			}
			add(filter, c.sum, epoch.Factor, c.weight)
		}
		if s.Acts {
			add(actsAfter(q, s, literal(latestAct(q))), c.latest, 1, c.weight)
		}
	}
	return functions
}

// actsAfter matches the items whose latest act is after the origin, and not after until unless that
// is nil. Documents written by an older version do not have it and do not match.
func actsAfter(q *feed.Query, s *esindex.Schema, until json.RawMessage) clause {
	return clause{Range: map[string]timeRange{s.Fields.LastAct: {GT: literal(q.Origin.Unix()), LTE: until}}}
}

func literal(unix int64) json.RawMessage { return strconv.AppendInt(nil, unix, 10) }

// latestAct returns the time of the latest act that counts at the origin.
func latestAct(q *feed.Query) int64 { return q.Origin.Add(feed.ActTolerance).Unix() }

// liveOrder appends the fields of live popularity to the sort values of an explanation.
func liveOrder(keys []map[string]sortKey, r *feed.Ranking, s *esindex.Schema) []map[string]sortKey {
	if !s.Live {
		return keys
	}
	number := sortKey{Order: "desc", Mode: "min", Missing: "0"}
	all := countedBy(r, s)
	for _, c := range all {
		keys = append(keys, map[string]sortKey{c.sum: number}, map[string]sortKey{c.epoch: {Order: "desc", Missing: "_last"}})
	}
	if s.Acts {
		last := sortKey{Order: "desc", Mode: "max", Missing: "0"}
		keys = append(keys, map[string]sortKey{s.Fields.LastAct: last})
		for _, c := range all {
			keys = append(keys, map[string]sortKey{c.latest: number})
		}
	}
	return keys
}

// liveValues returns the number of sort values that liveOrder adds.
func liveValues(r *feed.Ranking, s *esindex.Schema) int { return len(liveOrder(nil, r, s)) }

// readLive reads the sort values requested by liveOrder.
func readLive(f *recall.Factors, values []json.RawMessage, q *feed.Query, s *esindex.Schema) {
	if !s.Live {
		return
	}
	found := countsIn(f, &q.Ranking, s)
	acts := 2 * len(found) // where the latest act is
	if s.Acts {
		last := int64(atLeast0(values[acts]))
		if last > q.Origin.Unix() {
			for i, n := range found {
				if last <= latestAct(q) {
					*n = atLeast0(values[acts+1+i])
				}
			}
			return
		}
	}
	for i, c := range countedBy(&q.Ranking, s) {
		sum := feed.Sum{Value: atLeast0(values[2*i]), Epoch: epochNumber(values[2*i+1])}
		*found[i] = sum.Count(feed.LiveEpochs(c.halfLife, q.Origin.Unix()))
	}
}

// atLeast0 parses a sort value; a missing or negative one is 0, as in a query.
func atLeast0(value json.RawMessage) float64 {
	number, err := strconv.ParseFloat(string(value), 64)
	if err != nil {
		return 0
	}
	return max(0, number)
}

// epochNumber parses the number of an epoch, which is a string in a keyword field. For an item
// without live popularity the sort value is null or the lowest possible number. If it is not a
// number, the result is -1, which is no epoch.
func epochNumber(value json.RawMessage) int64 {
	var number json.Number
	if json.Unmarshal(value, &number) != nil {
		return -1
	}
	epoch, err := number.Int64()
	if err != nil {
		return -1
	}
	return epoch
}
