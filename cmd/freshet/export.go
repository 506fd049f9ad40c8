package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/freshet/freshet/client"
)

const (
	// exportPoll is the pause between two looks at an export that is being made.
	exportPoll = time.Second
	// exportTries is how often a transfer that was cut is continued without a byte arriving.
	exportTries = 10
)

func newExportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "export AGENT", Short: "Fetch everything that is stored about an agent, as a zip", Args: cobra.ExactArgs(1),
		Long: "Asks for an export of the agent, or takes the one that is there, waits until it is made, and writes it to a file that " +
			"only you can read. The server sends an export once.",
		Example: "  freshet export u_10086 -o u_10086.zip",
	}
	call := newAdminCall(cmd, "the state of the export, without fetching it,")
	out := cmd.Flags().StringP("output", "o", "", "file to write, which must not exist; default AGENT.zip")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		agent := args[0]
		if *call.json {
			return show(call, func(ctx context.Context, c *client.Client) (client.Export, error) { return c.ExportState(ctx, agent) }, nil)
		}
		return fetchExport(call, agent, cmp.Or(*out, agent+".zip"))
	}
	return cmd
}

// fetchExport writes the export of an agent to a file. What has arrived of one that cannot be fetched to its end is
// removed.
func fetchExport(call *call, agent, path string) (err error) {
	c, err := call.connect(client.WithRetries(exportTries, exportPoll))
	if err != nil {
		return err
	}
	defer c.Close()
	ctx := call.cmd.Context()
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, file.Close())
		if err != nil {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	state, err := c.AskExport(ctx, agent)
	for err == nil && state.State == "running" {
		select {
		case <-time.After(exportPoll):
			state, err = c.ExportState(ctx, agent)
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	switch {
	case err != nil:
		return err
	case state.State != "ready":
		return fmt.Errorf("the export of %s is %s: %s", agent, state.State, cmp.Or(state.Reason, "ask again"))
	}
	n, err := c.FetchExport(ctx, agent, file)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(call.cmd.OutOrStdout(), "%s: %d bytes\n", path, n)
	return err
}
