// Command freshet-bench measures Freshet: by default the documented promises, each next to its
// baseline; with --simulate days of traffic against the formulas; with load the behaviour of a
// running server under load; with cost the servers and the money that a load takes.
//
//	scripts/bench.sh --help
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// usageError is an error in the command line.
type usageError struct{ error }

// run is main with its inputs and outputs as parameters. It returns 1 on an error and 2 if the
// command line is invalid.
func run(ctx context.Context, args []string, out, errs io.Writer) int {
	root := newMeasureCommand()
	root.AddCommand(newLoadCommand(), newProveCommand(), newCostCommand(), newServerCommand())
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errs)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		err = errors.New("interrupted")
	}
	fmt.Fprintf(root.ErrOrStderr(), "freshet-bench: %v\n", err) // the writer masks secrets once they are known
	if errors.As(err, &usageError{}) {
		return 2
	}
	return 1
}
