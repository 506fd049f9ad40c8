package app

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
)

// thief is another server that is always a little faster: whatever a check
// finds unseen, it hands out itself before the page step, for some checks.
type thief struct {
	dedup.Store
	checks int
}

func (s *thief) Check(ctx context.Context, agent string, groups []string, now time.Time) (dedup.Checked, error) {
	out, err := s.Store.Check(ctx, agent, groups, now)
	if err != nil || s.checks == 0 {
		return out, err
	}
	s.checks--
	_, err = s.Claim(ctx, agent, groups, len(groups), now)
	return out, err
}

// TestCandidatesStolenMeanwhile: a refresh whose candidates were all handed
// out elsewhere between its check and its page goes deeper instead of telling
// the reader that there is nothing.
func TestCandidatesStolenMeanwhile(t *testing.T) {
	for _, m := range modes {
		for _, requestID := range []string{"", "r1"} {
			t.Run(m.name+" "+requestID, func(t *testing.T) {
				a := open(t, m.config(t), WithClock(at(noon).Now))
				put(t, a, catalogue(20)...)
				e, err := engine.New(engine.Stores{
					Sources: a.stores.sources, Seen: &thief{Store: a.stores.dedup, checks: 1}, Recorder: a.recorder,
					Sessions: a.stores.sessions, Catalog: a.stores.catalog,
				}, engine.Config{Clock: at(noon).Now, Rankings: &feed.Live{Ranking: a.cfg.Parameters()}, N: 5, RoundsFor: time.Second, RecordServed: true})
				require.NoError(t, err)
				r := refresh("u_1", 5)
				r.RequestID = requestID
				answer, err := e.Feed(t.Context(), r)
				require.NoError(t, err)
				assert.Equal(t, []string{"doc_0005", "doc_0006", "doc_0007", "doc_0008", "doc_0009"}, ids(answer))
				if requestID != "" {
					again, err := e.Feed(t.Context(), r)
					require.NoError(t, err)
					assert.Equal(t, ids(answer), ids(again))
				}
			})
		}
	}
}
