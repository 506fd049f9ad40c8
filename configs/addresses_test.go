package configs_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/freshet/freshet/configs"
)

func TestHeaderModePublicAddressRefused(t *testing.T) {
	for addr, ok := range map[string]bool{
		"127.0.0.1:0": true, "localhost:0": true, "[::1]:0": true, "127.9.9.9:1": true,
		"0.0.0.0:0": false, ":0": false, "[::]:0": false, "192.0.2.1:80": false, "10.0.0.1:80": false, "[::ffff:192.0.2.1]:80": false,
		"localhost.evil.example:80": false, "example.com:80": false, "[fe80::1]:80": false,
	} {
		cfg := configs.Default()
		cfg.Server.Addr = addr
		err := cfg.Validate()
		assert.Equal(t, ok, err == nil, "%s: %v", addr, err)
		cfg.Auth.TrustedGateway = true
		assert.NoError(t, cfg.Validate(), addr)
		cfg.Auth.TrustedGateway = false
		cfg.Auth.Mode, cfg.Auth.JWT.Secret = configs.ModeJWT, strings.Repeat("s", 32)
		assert.NoError(t, cfg.Validate(), addr)
	}
}
