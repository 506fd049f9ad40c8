package redis

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/signals/events"
)

// contractError gives an error the sentinel a caller looks for.
func contractError(step string, err error) error {
	if err == nil {
		return nil
	}
	if rediskeys.Unreachable(err) {
		return fmt.Errorf("%w: %s: redis: %w", events.ErrUnavailable, step, err)
	}
	return fmt.Errorf("%s: redis: %w", step, err)
}

func sorted(all []events.Totals) []events.Totals {
	slices.SortFunc(all, func(a, b events.Totals) int { return cmp.Compare(a.Variant, b.Variant) })
	return all
}
