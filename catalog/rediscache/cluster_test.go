package rediscache

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/catalog/catalogtest"
	"github.com/freshet/freshet/internal/testenv"
)

func TestConformanceOnCluster(t *testing.T) {
	catalogtest.Run(t, func(t *testing.T) catalog.Catalog {
		client, prefix := testenv.RedisCluster(t)
		return New(store(t), client, Config{KeyPrefix: prefix})
	})
}

// TestReadThroughOnCluster reads items in several slots at once.
func TestReadThroughOnCluster(t *testing.T) {
	client, prefix := testenv.RedisCluster(t)
	g := store(t)
	c := New(g, client, Config{KeyPrefix: prefix})
	put(t, g.Catalog, item("a", "A"), item("b", "B"), item("c:/1", "C"), item("d", "D"))
	ids, want := []string{"d", "none", "c:/1", "a", "d", "b"}, []string{"D", "", "C", "A", "D", "B"}
	assert.Equal(t, want, titles(t, c, ids...))
	assert.EqualValues(t, 1, g.docs.Load(), "all that is missing in one call")
	assert.Equal(t, want, titles(t, c, ids...))
	assert.EqualValues(t, 2, g.docs.Load(), "what does not exist is asked for again")
	assert.Equal(t, want[2:], titles(t, c, ids[2:]...))
	assert.EqualValues(t, 2, g.docs.Load(), "from the cache")
}
