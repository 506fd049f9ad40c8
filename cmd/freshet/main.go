// Command freshet contains all of Freshet: the server and the commands to operate it. Run it
// without arguments for a list.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/version"
	"github.com/freshet/freshet/server"
)

const (
	exitOK    = 0
	exitError = 1
	exitUsage = 2 // the command line is invalid
)

var commands = []func() *cobra.Command{
	newBackupCommand, newConfigCommand, newDoctorCommand, newExplainCommand, newExportCommand, newFeedCommand, newFollowCommand, newHealthCommand,
	newIngestCommand, newItemsCommand, newJobsCommand, newModerateCommand, newPostCommand, newPromoteCommand, newRankingCommand, newRestoreCommand, newServeCommand, newTimelineCommand, newVersionCommand, newWorkerCommand,
}

func main() {
	catchSignals(os.Args)
	ctx, stop := untilSignal()
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// untilSignal returns a context that the first signal cancels; the next signal kills the process at
// once.
func untilSignal() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		received := <-signals
		signal.Stop(signals)
		if received == os.Interrupt {
			cancel(server.ErrAtOnce)
			return
		}
		cancel(nil)
	}()
	return ctx, func() { signal.Stop(signals); cancel(nil) }
}

// run is main with all its dependencies as parameters.
func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	root := newRootCommand()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errs)
	err := root.ExecuteContext(ctx)
	errs = root.ErrOrStderr() // by now it masks secrets
	defer flush(ctx, errs)
	if err == nil {
		return exitOK
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = errors.New("interrupted")
	}
	if errors.Is(err, client.ErrUnauthenticated) || errors.Is(err, client.ErrForbidden) {
		err = fmt.Errorf("%w (give the token with --token)", err)
	}
	fmt.Fprintf(errs, "freshet: %v\n", err)
	var usage *usageError
	if errors.As(err, &usage) {
		fmt.Fprintf(errs, "Run \"%s --help\" for how to use it.\n", usage.command)
		return exitUsage
	}
	return exitError
}

func newRootCommand() *cobra.Command {
	root := newGroup("freshet", "A recommendation feed engine: fits the reader, fresh, never twice")
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(flagError)
	root.Version = versionLine()
	root.SetVersionTemplate("{{.Version}}\n")
	for _, newCommand := range commands {
		root.AddCommand(newCommand())
	}
	usageErrors(root)
	return root
}

// newGroup returns a command that only contains others: without arguments it prints its help, and
// for an unknown name it suggests the nearest one.
func newGroup(name, short string, below ...*cobra.Command) *cobra.Command {
	group := &cobra.Command{
		Use:                        name,
		Short:                      short,
		SuggestionsMinimumDistance: 2,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			message := fmt.Sprintf("there is no command %q", args[0])
			near := cmd.SuggestionsFor(args[0])
			if len(near) > 0 {
				message += "; did you mean " + strings.Join(near, " or ") + "?"
			}
			return errors.New(message)
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	group.AddCommand(below...)
	return group
}

// usageError is an error in the command line.
type usageError struct {
	command string
	error
}

func (u *usageError) Unwrap() error { return u.error }

// usageErrors converts errors of the argument checks of a command and its subcommands to usage
// errors.
func usageErrors(cmd *cobra.Command) {
	check := cmd.Args
	if check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return &usageError{cmd.CommandPath(), err}
			}
			return nil
		}
	}
	for _, below := range cmd.Commands() {
		usageErrors(below)
	}
}

// flagError adds to the error for an unknown flag the nearest configuration key, or how to pass an
// argument that begins with a hyphen.
func flagError(cmd *cobra.Command, err error) error {
	var missing *pflag.NotExistError
	if errors.As(err, &missing) {
		_, arguments, takesArguments := strings.Cut(cmd.Use, " ")
		isShort, hasKeys := missing.GetSpecifiedShortnames() != "", cmd.Flags().Lookup(configs.Keys()[0]) != nil
		switch {
		case isShort && takesArguments:
			err = fmt.Errorf("%w; if it is %s, write -- before it: %s -- -%s", err, arguments, cmd.CommandPath(), missing.GetSpecifiedShortnames())
		case hasKeys && missing.GetSpecifiedName() != "":
			err = fmt.Errorf("%w; the nearest key is --%s", err, configs.Nearest(missing.GetSpecifiedName()))
		}
	}
	return &usageError{cmd.CommandPath(), err}
}

// withConfig adds --config and a flag for every key, and calls run with the configuration. By then
// the command's output masks the configuration's secrets.
func withConfig(cmd *cobra.Command, run func(cmd *cobra.Command, cfg configs.Config) error) *cobra.Command {
	return withLoad(cmd, func(cmd *cobra.Command, _ loader, cfg configs.Config) error { return run(cmd, cfg) })
}

// loader reads file, environment and flags.
type loader func() (configs.Config, error)

// withLoad is [withConfig] for commands that load the configuration again later.
func withLoad(cmd *cobra.Command, run func(cmd *cobra.Command, load loader, cfg configs.Config) error) *cobra.Command {
	path := cmd.Flags().String("config", "", "configuration file (YAML)")
	configs.AddFlags(cmd.Flags())
	cmd.Args = cobra.NoArgs
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		from := configs.Options{Path: *path, Environ: os.Environ(), Flags: cmd.Flags()}
		cfg, err := configs.Load(from)
		if err != nil {
			return err
		}
		load := func() (configs.Config, error) {
			from.Again = true
			return configs.Load(from)
		}
		root := cmd.Root()
		root.SetOut(configs.Masking(root.OutOrStdout(), cfg))
		root.SetErr(configs.Masking(root.ErrOrStderr(), cfg))
		return run(cmd, load, cfg)
	}
	return cmd
}

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), versionLine())
			return err
		},
	}
}

func versionLine() string { return "freshet " + version.Long() }
