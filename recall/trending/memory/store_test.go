package memory_test

import (
	"testing"

	"github.com/freshet/freshet/recall/trending"
	"github.com/freshet/freshet/recall/trending/memory"
	"github.com/freshet/freshet/recall/trending/trendingtest"
)

func TestConformance(t *testing.T) {
	trendingtest.Run(t, func(*testing.T) func() trending.Store {
		s := &memory.Store{}
		return func() trending.Store { return s }
	})
}
