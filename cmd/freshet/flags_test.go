package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
)

// TestFlagsZeroValuesSent gives every flag of every command that calls a server an empty value
// or the number 0. Either the command refuses it by name, or the flag is listed as one for which
// empty means the same as leaving it out, or the server gets the value.
func TestFlagsZeroValuesSent(t *testing.T) {
	t.Parallel()
	sent := []string{"after", "seed", "if-version"} // the server gets their zero, or uses it by default
	flags := 0
	visitCommands(newRootCommand(), nil, func(path []string, cmd *cobra.Command) {
		if cmd.Flags().Lookup("server") == nil || cmd.Flags().Lookup("token") == nil {
			return
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			isText := f.Value.Type() == "string" || strings.HasSuffix(f.Value.Type(), "Slice") || strings.HasSuffix(f.Value.Type(), "Array")
			isNumber := strings.HasPrefix(f.Value.Type(), "int") || f.Value.Type() == "float64"
			isFree := isText && (slices.Contains(mayBeEmpty, f.Name) || f.Name == "alt") || isNumber && slices.Contains(sent, f.Name)
			if isFree || !isText && !isNumber {
				return
			}
			flags++
			value := map[bool]string{true: "", false: "0"}[isText]
			args := append(slices.Clone(path), argumentsOf(path)...)
			args = append(args, "--token", "x", "--server", "http://127.0.0.1:1")
			if f.Name == "server" {
				args = args[:len(args)-2]
			}
			got := freshet(t, "", append(args, "--"+f.Name+"="+value)...)
			assert.Equal(t, exitUsage, got.code, "%v --%s=%q: %s", path, f.Name, value, got.errs)
			assert.Contains(t, got.errs, "--"+f.Name, "%v", path)
		})
	})
	assert.Greater(t, flags, 60)
}

// visitCommands calls visit for each command that does something.
func visitCommands(cmd *cobra.Command, path []string, visit func(path []string, cmd *cobra.Command)) {
	if cmd.Runnable() && !cmd.HasSubCommands() {
		visit(path, cmd)
	}
	for _, child := range cmd.Commands() {
		visitCommands(child, append(slices.Clone(path), child.Name()), visit)
	}
}

// argumentsOf returns what a command needs besides the flag that is tested.
func argumentsOf(path []string) []string {
	return map[string][]string{
		"feed": {"--agent", "u_1", "refresh"}, "timeline": {"--agent", "u_1"}, "post": {"--agent", "u_1", "x"}, "follow": {"--agent", "u_1", "ann"},
		"explain": {"--agent", "u_1"}, "export": {"u_1"}, "ingest": {"-"}, "jobs retry": {"1"}, "jobs drop": {"1"}, "jobs derive": {"post:a"}, "jobs rederive": {"--all"},
		"promote put": {"p", "--item", "i", "--for", "1h"}, "promote get": {"p"}, "promote delete": {"p"},
		"ranking set": {"scale=1h", "--as", "x"}, "ranking promote": {"x"}, "ranking drop": {"x"}, "ranking holdout": {"1%"}, "ranking revert": {"1"}, "ranking replay": {"-", "--sweep", "scale=1h..2h"},
		"ranking propose": {"-", "--as", "x", "--share", "10%"},
		"ranking sweep":   {"--scale", "1h..2h"},
	}[strings.Join(path, " ")]
}
