package redisbloom

import (
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/dedup"
)

// verdict is that of a hit in the filter of one of the days asked.
// Tomorrow's is today's, by the clock of the server that wrote it.
func (q *question) verdict(i int) dedup.Verdict {
	return dedup.SeenDaysAgo(max(0, int(q.days[0]-q.days[i])))
}

func pendingVerdicts(look *redis.Cmd, out *dedup.Checked) error {
	n := len(out.Verdicts)
	reply, err := look.Slice()
	if err != nil {
		return err
	}
	if len(reply) < 2 {
		return fmt.Errorf("%w: %d values from the pending script", errAnswer, len(reply))
	}
	at, _ := reply[0].(int64)
	flags, _ := reply[1].(string)
	if at == 0 || (flags != "" && len(flags) != n) {
		return fmt.Errorf("%w: time %v and %d flags for %d groups from the pending script", errAnswer, reply[0], len(flags), n)
	}
	out.At = at
	for i := range len(flags) {
		if flags[i] == '1' {
			out.Verdicts[i] = dedup.Pending
		}
	}
	for _, group := range reply[2:] {
		if g, ok := group.(string); ok {
			out.Stale = append(out.Stale, g)
		}
	}
	return nil
}

// filterVerdicts marks what a day's filter holds. The latest day wins, in whatever order
// they come: tomorrow's is asked last.
func filterVerdicts(verdicts []dedup.Verdict, hits []*redis.BoolSliceCmd, q *question) error {
	for i, cmd := range hits {
		if err := markHits(verdicts, q.verdict(i), cmd); err != nil {
			return err
		}
	}
	return nil
}

// markHits reads what Redis answered for one day. A filter that does not
// exist answers zeros, nothing, or an error that says so, depending on the
// server's version.
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
		if hit && (verdicts[i] == dedup.Unseen || is < verdicts[i]) { // what is pending stays so
			verdicts[i] = is
		}
	}
	return nil
}
