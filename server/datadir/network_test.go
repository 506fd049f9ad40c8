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

// TestFleetingFileSystems checks that data in the layer of a container, or in memory, is noticed, also where
// data_dir does not exist yet, and that a disk is not.
func TestFleetingFileSystems(t *testing.T) {
	t.Parallel()
	for magic, kind := range map[uint32]string{0x794c7630: "overlay", 0x61756673: "aufs", 0x01021994: "tmpfs", 0x858458f6: "ramfs", 0xef53: "", 0x58465342: "", 0x6969: ""} {
		assert.Equal(t, kind, kindOf(fleeting, "/var/lib/freshet/data", func(dir string) (uint32, error) {
			if dir != "/var" {
				return 0, filepath.ErrBadPattern
			}
			return magic, nil
		}))
	}
}
