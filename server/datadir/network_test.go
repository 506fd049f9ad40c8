package datadir

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
)

func TestNetworkFileSystems(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cfg := configs.Default()
	magic := map[string]uint32{dir: 0x6969}
	kind := func(cfg configs.Config, dir string) string {
		return network(cfg, dir, func(dir string) (uint32, error) {
			number, known := magic[dir]
			if !known {
				return 0, filepath.ErrBadPattern
			}
			return number, nil
		})
	}
	assert.Equal(t, "nfs", kind(cfg, dir))
	assert.Equal(t, "nfs", kind(cfg, filepath.Join(dir, "not", "yet")), "it will be created there")
	magic[dir] = 0xef53 // ext4
	assert.Empty(t, kind(cfg, dir))
	magic[dir] = 0xfe534d42
	assert.Equal(t, "smb", kind(cfg, dir))

	cfg.Redis.URL, cfg.Elasticsearch.Addresses, cfg.Social.Off = "redis://h:1", []string{"http://h:1"}, true
	assert.Empty(t, kind(cfg, dir), "there are no databases")

	number, err := magicOf(dir)
	require.NoError(t, err)
	_, err = magicOf(filepath.Join(dir, "none"))
	if number != 0 { // known on this system
		require.Error(t, err)
	}
}
