package memory_test

import (
	"testing"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
	recallmemory "github.com/freshet/freshet/recall/memory"
	"github.com/freshet/freshet/recall/recalltest"
)

func open(_ *testing.T, items []feed.Item) recall.Source {
	s := recallmemory.New()
	s.Upsert(items)
	return s
}

func TestConformance(t *testing.T) { recalltest.Run(t, open) }
