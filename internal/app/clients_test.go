package app

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
)

// TestClientsShareNoAddresses: a cluster client appends to the addresses that it is
// given, while another client of the same configuration reads them.
func TestClientsShareNoAddresses(t *testing.T) {
	t.Parallel()
	cfg := configs.Default()
	room := []string{"127.0.0.1:1", "127.0.0.1:2", ""}
	cfg.Redis.Addrs = room[:2]
	for range 2 {
		o := redisOptions(cfg)
		require.Equal(t, cfg.Redis.Addrs, o.Addrs)
		o.Addrs[0] = "127.0.0.1:3"
		_ = append(o.Addrs, "127.0.0.1:4")
	}
	require.Equal(t, []string{"127.0.0.1:1", "127.0.0.1:2", ""}, room)
}
