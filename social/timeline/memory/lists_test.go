package memory

import (
	"testing"
	"time"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social/timeline/timelinetest"
)

func open(_ *testing.T, most int) timelinetest.Env {
	now := timelinetest.Start
	s := New(Config{Cap: most, Clock: func() time.Time { return now }})
	return timelinetest.Env{A: s, B: s, Advance: func(d time.Duration) { now = now.Add(d) }}
}

func TestConformance(t *testing.T) { timelinetest.Run(t, open) }

func TestReference(t *testing.T) { timelinetest.Reference(t, open, testenv.Schedules(2000)) }

func TestModel(t *testing.T) { timelinetest.Model(t, open, testenv.Schedules(10_000)) }
