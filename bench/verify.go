package bench

import (
	"context"
	"errors"
	"sync"

	"github.com/freshet/freshet/engine"
)

// verify reads the feeds of a few agents with concurrent calls, and records items that occur
// twice. Measurements of wrong answers would be worthless.
func (b *bench) verify(ctx context.Context, s *system) error {
	calls := []func(string) engine.Request{refresh, loadMore, loadMore, loadMore, refresh, loadMore}
	for _, agent := range agentNames("verify_"+rest(b.name), 4) {
		var mu sync.Mutex
		var wg sync.WaitGroup
		times, errs := map[string]int{}, []error(nil)
		for worker := range 4 {
			wg.Go(func() {
				for i := range calls {
					answer, err := s.Engine.Feed(ctx, calls[(i+worker)%len(calls)](agent))
					mu.Lock()
					errs = append(errs, err)
					for _, doc := range answer.Docs {
						times[doc.ID]++
					}
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if err := errors.Join(errs...); err != nil {
			return err
		}
		if len(times) < page {
			b.impossible("%s was given %d items in %d calls", agent, len(times), 4*len(calls))
		}
		for id, n := range times {
			if n > 1 {
				b.impossible("%s was given %s %d times", agent, id, n)
			}
		}
	}
	return nil
}

// rest returns a run's name without the common prefix.
func rest(name string) string { return name[len(mark):] }
