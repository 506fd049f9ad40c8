package redisbloom

import (
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/dedup"
)

// verdict returns the verdict for a hit in the filter of the i-th day checked. A hit in tomorrow's
// filter counts as today's: it is today by the clock of the server that wrote it.
func (q *question) verdict(i int) dedup.Verdict {
	return dedup.SeenDaysAgo(max(0, int(q.days[0]-q.days[i])))
}

// filterVerdicts marks the groups found in the filters. The latest day wins regardless of order:
// tomorrow's filter is checked last.
func filterVerdicts(verdicts []dedup.Verdict, hits []*redis.BoolSliceCmd, q *question) error {
	for i, cmd := range hits {
		if err := markHits(verdicts, q.verdict(i), cmd); err != nil {
			return err
		}
	}
	return nil
}

// markHits applies the reply for one day. For a filter that does not exist the reply is zeros,
// empty, or an error, depending on the server's version.
func markHits(verdicts []dedup.Verdict, is dedup.Verdict, cmd *redis.BoolSliceCmd) error {
	found, err := cmd.Result()
	if err != nil && strings.Contains(err.Error(), "not found") {
		return nil
	}
	if err != nil {
		return err
	}
	if len(found) != 0 && len(found) != len(verdicts) {
		return fmt.Errorf("%w: %d values for %d members from BF.MEXISTS", errAnswer, len(found), len(verdicts))
	}
	for i, hit := range found {
		if hit && (verdicts[i] == dedup.Unseen || is < verdicts[i]) { // pending groups stay pending
			verdicts[i] = is
		}
	}
	return nil
}
