package trendingtest_test

import (
	"testing"

	"github.com/freshet/freshet/recall/trending"
	"github.com/freshet/freshet/recall/trending/trendingtest"
)

func TestConformance(t *testing.T) {
	trendingtest.Run(t, func(*testing.T) func() trending.Store {
		s := &trendingtest.Memory{}
		return func() trending.Store { return s }
	})
}
