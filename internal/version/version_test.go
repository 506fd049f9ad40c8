package version

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestVersion(t *testing.T) {
	built := &debug.BuildInfo{
		GoVersion: "go1.26", Main: debug.Module{Version: "v1.2.3"},
		Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: "abc"},
			{Key: "vcs.modified", Value: "true"},
			{Key: "vcs.time", Value: "2026-03-06T00:00:00Z"},
			{Key: "GOOS", Value: "linux"},
			{Key: "GOARCH", Value: "arm64"},
		},
	}
	for name, c := range map[string]struct {
		linked string
		build  *debug.BuildInfo
		long   string
	}{
		"from a repository":        {build: built, long: "v1.2.3 commit abc with changes of 2026-03-06T00:00:00Z go1.26 linux/arm64"},
		"the linker's comes first": {linked: "v2", build: built, long: "v2 commit abc with changes of 2026-03-06T00:00:00Z go1.26 linux/arm64"},
		"by go run":                {build: &debug.BuildInfo{GoVersion: "go1.26"}, long: "(devel) go1.26"},
		"without a repository":     {linked: "v2", build: &debug.BuildInfo{GoVersion: "go1.26", Main: debug.Module{Version: "(devel)"}}, long: "v2 go1.26"},
		"nothing is known":         {long: "(devel)"},
	} {
		t.Run(name, func(t *testing.T) {
			release = c.linked
			t.Cleanup(func() { release = "" })
			assert.Equal(t, c.long, read(c.build, c.build != nil).String())
		})
	}
}
