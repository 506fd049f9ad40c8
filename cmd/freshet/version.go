package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			info, _ := debug.ReadBuildInfo()
			_, err := fmt.Fprintln(cmd.OutOrStdout(), versionOf(info))
			return err
		},
	}
}

// versionOf writes what the Go tool recorded about the build: the module's
// version, the commit, whether the tree was changed, the compiler.
func versionOf(info *debug.BuildInfo) string {
	if info == nil {
		return "freshet (built without module information)"
	}
	version := info.Main.Version
	if version == "" {
		version = "(devel)"
	}
	settings := make(map[string]string, len(info.Settings))
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	s := "freshet " + version
	if commit := settings["vcs.revision"]; commit != "" {
		s += " commit " + commit
		if settings["vcs.modified"] == "true" {
			s += " with changes"
		}
		if at := settings["vcs.time"]; at != "" {
			s += " of " + at
		}
	}
	s += " " + info.GoVersion
	if settings["GOOS"] != "" {
		s += " " + settings["GOOS"] + "/" + settings["GOARCH"]
	}
	return s
}
