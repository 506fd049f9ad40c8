package elastic

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/recall"
)

// counted is one of the two counts of live popularity: a sum, which multiplied by a factor is
// the count at a moment, and the epoch of the sum.
type counted struct {
	sum, epoch string // fields
	halfLife   time.Duration
	weight     float64
}

func countedBy(r *feed.Ranking, s *esindex.Schema) []counted {
	return []counted{
		{s.Fields.Sum2h, s.Fields.Epoch2h, feed.ShortHalfLife, r.Popularity2h},
		{s.Fields.Sum2d, s.Fields.Epoch2d, feed.LongHalfLife, r.Popularity2d},
	}
}

// liveFunctions returns the terms weight × log10(1 + count): one per count and per epoch that
// contributes at the origin, for the items with a sum of that epoch. Without weights there are
// none, so live popularity costs nothing.
func liveFunctions(q *feed.Query, s *esindex.Schema) []function {
	if !s.Live {
		return nil
	}
	var functions []function
	for _, c := range countedBy(&q.Ranking, s) {
		if c.weight == 0 {
			continue
		}
		for _, epoch := range feed.LiveEpochs(c.halfLife, q.Origin.Unix()) {
			functions = append(functions, counts(function{
				Filter:           &clause{Term: map[string]string{c.epoch: strconv.FormatInt(epoch.Number, 10)}},
				FieldValueFactor: &fieldValueFactor{Field: c.sum, Modifier: "log1p", Factor: epoch.Factor},
				Weight:           c.weight,
			}, s))
		}
	}
	return functions
}

// liveOrder appends the fields of live popularity to the sort values of an explanation.
func liveOrder(keys []map[string]sortKey, s *esindex.Schema) []map[string]sortKey {
	if !s.Live {
		return keys
	}
	for _, c := range countedBy(&feed.Ranking{}, s) {
		keys = append(keys, map[string]sortKey{c.sum: {Order: "desc", Mode: "min", Missing: "0"}}, map[string]sortKey{c.epoch: {Order: "desc", Missing: "_last"}})
	}
	return keys
}

// readLive reads the sort values requested by liveOrder.
func readLive(f *recall.Factors, values []json.RawMessage, q *feed.Query, s *esindex.Schema) {
	if !s.Live {
		return
	}
	for i, c := range countedBy(&q.Ranking, s) {
		sum := feed.Sum{Value: atLeast0(values[2*i]), Epoch: epochNumber(values[2*i+1])}
		*[]*float64{&f.Count2h, &f.Count2d}[i] = sum.Count(feed.LiveEpochs(c.halfLife, q.Origin.Unix()))
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
