package kubernetes

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func newReader(text string) *bufio.Reader { return bufio.NewReader(strings.NewReader(text)) }

// TestUnits checks that systemd understands each line of the units.
func TestUnits(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	units, err := filepath.Glob(filepath.Join(deploy, "systemd", "*.service"))
	require.NoError(t, err)
	require.Len(t, units, 2)
	for _, unit := range units {
		text, err := os.ReadFile(unit)
		require.NoError(t, err)
		// The binary need not be installed here.
		copied := filepath.Join(t.TempDir(), filepath.Base(unit))
		require.NoError(t, os.WriteFile(copied, []byte(strings.ReplaceAll(string(text), "/usr/local/bin/freshet", "/bin/true")), 0o600))
		out, err := exec.Command(analyze, "verify", "--man=no", copied).CombinedOutput()
		require.NoError(t, err, "%s", out)
		for line := range strings.Lines(string(out)) {
			assert.NotContains(t, line, filepath.Base(unit), "systemd-analyze verify")
		}
	}
}

// TestUnitOfProduction checks that docs/production.md shows the unit.
func TestUnitOfProduction(t *testing.T) {
	page, err := os.ReadFile("../../../docs/production.md")
	require.NoError(t, err)
	unit, err := os.ReadFile(filepath.Join(deploy, "systemd", "freshet.service"))
	require.NoError(t, err)
	assert.Contains(t, string(page), "```ini\n"+string(unit)+"```\n")
}
