// Package version identifies this build of Freshet: by [String] for the command, the OpenAPI
// document and traces, and by the metric freshet_build_info.
package version

import (
	"cmp"
	"runtime/debug"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// release is set by the linker if the sources are not in a repository:
// -ldflags "-X github.com/freshet/freshet/internal/version.release=v1.2.3".
var release string

var build = read(debug.ReadBuildInfo())

// String returns the version: the one that the linker set, else the one that the Go tool recorded,
// which is a tag, a pseudo-version or "(devel)".
func String() string { return build.version }

// Long returns the version with the commit and the toolchain, if known.
func Long() string { return build.String() }

func init() {
	promauto.NewGauge(prometheus.GaugeOpts{
		Name: "freshet_build_info",
		Help: "1; the labels say which version this is, by which commit and Go.",
		ConstLabels: prometheus.Labels{
			"version": build.version, "revision": build.revision, "go_version": build.goVersion,
		},
	}).Set(1)
}

// info describes a build; unknown fields are "".
type info struct {
	version, revision, at, goVersion, platform string
	changed                                    bool // since the revision
}

func read(b *debug.BuildInfo, ok bool) info {
	if !ok {
		return info{version: cmp.Or(release, "(devel)")}
	}
	settings := make(map[string]string, len(b.Settings))
	for _, s := range b.Settings {
		settings[s.Key] = s.Value
	}
	i := info{
		version:  cmp.Or(release, b.Main.Version, "(devel)"),
		revision: settings["vcs.revision"], changed: settings["vcs.modified"] == "true",
		at: settings["vcs.time"], goVersion: b.GoVersion,
	}
	if settings["GOOS"] != "" {
		i.platform = settings["GOOS"] + "/" + settings["GOARCH"]
	}
	return i
}

// String formats it as "v1.2.3 commit abc with changes of <time> go1.26 linux/arm64".
func (i info) String() string {
	words := []string{i.version}
	if i.revision != "" {
		words = append(words, "commit", i.revision)
		if i.changed {
			words = append(words, "with changes")
		}
		if i.at != "" {
			words = append(words, "of", i.at)
		}
	}
	for _, word := range []string{i.goVersion, i.platform} {
		if word != "" {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}
