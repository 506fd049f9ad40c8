package memory

import (
	"testing"

	"github.com/freshet/freshet/social/timeline/timelinetest"
)

func TestWakes(t *testing.T) {
	timelinetest.RunWakes(t, func(*testing.T) timelinetest.WakesEnv {
		w := NewWakes()
		return timelinetest.WakesEnv{A: w, B: w}
	})
}
