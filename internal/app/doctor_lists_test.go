package app

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDoctorSaysHowListsAreKept(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]string{
		"":    "not known",
		"128": "a skiplist, about 120 bytes a post; with 512",
		"502": "a skiplist",
		"503": "listpacks, about 40 bytes",
		"512": "listpacks",
	} {
		found := judgeLists(redisSettings{listpack: setting}, 500)
		assert.Equal(t, OK, found.level, setting)
		assert.Contains(t, found.detail, want, setting)
	}
	assert.Contains(t, judgeLists(redisSettings{listpack: "512"}, 1000).detail, "with 1003")
}
