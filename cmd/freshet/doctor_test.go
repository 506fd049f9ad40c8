package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/server/doctor"
)

// TestDoctorMasksSecrets checks that a secret that contains a tab is still masked.
func TestDoctorMasksSecrets(t *testing.T) {
	t.Parallel()
	cfg := configs.Default()
	cfg.Redis.Password = "two\twords\nand a line"
	findings := []doctor.Finding{{Level: doctor.Broken, What: "redis", Detail: "refused: " + cfg.Redis.Password, Fix: "see the message"}}
	for _, asJSON := range []bool{false, true} {
		var said strings.Builder
		require.NoError(t, printFindings(configs.Masking(&said, cfg), findings, asJSON))
		assert.Contains(t, said.String(), "refused: ***")
		for _, part := range []string{"two", "words", "and a line"} {
			assert.NotContains(t, said.String(), part)
		}
	}
}
