package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/internal/cli"
)

// adminWait is how long a command with one call may take; the server gives up
// sooner.
const adminWait = time.Minute

// adminCall holds the common parts of commands for admins: the server they ask, and
// how they answer.
type adminCall struct {
	cmd    *cobra.Command
	server func() string
	token  func() string
	json   *bool
}

// newAdminCall adds the flags; what names the output.
func newAdminCall(cmd *cobra.Command, what string) *adminCall {
	return &adminCall{cmd: cmd, server: serverFlag(cmd), token: adminTokenFlag(cmd), json: cmd.Flags().Bool("json", false, "print "+what+" as JSON")}
}

func (r *adminCall) connect(options ...client.Option) (*client.Client, error) {
	return connect(r.cmd, r.server(), append(options, client.WithToken(r.token()))...)
}

// do runs what a command does with a client.
func (r *adminCall) do(do func(ctx context.Context, c *client.Client) error) error {
	c, err := r.connect()
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(r.cmd.Context(), adminWait)
	defer cancel()
	return do(ctx, c)
}

// show prints what a command asks for.
func show[T any](r *adminCall, ask func(ctx context.Context, c *client.Client) (T, error), text func(io.Writer, T) error) error {
	return r.do(func(ctx context.Context, c *client.Client) error {
		v, err := ask(ctx, c)
		if err != nil {
			return err
		}
		return answer(r, v, text)
	})
}

// each does something with each of the arguments, and prints a line for it.
func (r *adminCall) each(args []string, what, done string, do func(ctx context.Context, c *client.Client, arg string) error) error {
	return r.do(func(ctx context.Context, c *client.Client) error {
		for _, arg := range args {
			if err := do(ctx, c, arg); err != nil {
				return fmt.Errorf("%s%s: %w", what, arg, err)
			}
			if _, err := fmt.Fprintf(r.cmd.OutOrStdout(), "%s%s %s\n", what, arg, done); err != nil {
				return err
			}
		}
		return nil
	})
}

// answer prints v as text, or as JSON where that is wanted.
func answer[T any](r *adminCall, v T, text func(io.Writer, T) error) error {
	if *r.json {
		return cli.WriteJSON(r.cmd.OutOrStdout(), v)
	}
	return text(r.cmd.OutOrStdout(), v)
}

func (r *adminCall) usage(err error) error { return &usageError{r.cmd.CommandPath(), err} }
