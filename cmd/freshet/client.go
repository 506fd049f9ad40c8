package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
)

// serverFlag is shared by the commands that call a server.
func serverFlag(cmd *cobra.Command) func() string {
	server := cmd.Flags().String("server", "http://127.0.0.1:8080", "URL of the server; also by "+configs.EnvServer)
	return func() string {
		if !cmd.Flags().Changed("server") {
			return cmp.Or(os.Getenv(configs.EnvServer), *server)
		}
		return *server
	}
}

// adminTokenFlag is shared by the commands that call admin routes. The
// environment is read when the command runs, so that help never shows a token.
func adminTokenFlag(cmd *cobra.Command) func() string {
	server := configs.EnvName("auth.admin_token")
	token := cmd.Flags().String("token", "", fmt.Sprintf("admin token; also by %s, or the server's own %s", configs.EnvAdminToken, server))
	return func() string { return cmp.Or(*token, os.Getenv(configs.EnvAdminToken), os.Getenv(server)) }
}

// connect makes the client, or says that --server is wrong.
func connect(cmd *cobra.Command, server string, options ...client.Option) (*client.Client, error) {
	c, err := client.New(server, options...)
	if err != nil {
		return nil, &usageError{cmd.CommandPath(), err}
	}
	return c, nil
}

// callerFlags say which agent calls, for commands that call as an app would.
type callerFlags struct {
	server func() string
	agent  string
	token  string
	does   string
}

// addCallerFlags adds them; does describes the agent's role.
func addCallerFlags(cmd *cobra.Command, does string) *callerFlags {
	f := &callerFlags{server: serverFlag(cmd), does: does}
	cmd.Flags().StringVar(&f.agent, "agent", "", "id of the agent that "+does)
	cmd.Flags().StringVar(&f.token, "token", "", "Bearer token of the agent, for a server in jwt mode (instead of --agent)")
	return f
}

// connect makes the agent's client, or says what is missing.
func (f *callerFlags) connect(cmd *cobra.Command) (*client.Client, error) {
	if f.agent == "" && f.token == "" {
		return nil, &usageError{cmd.CommandPath(), fmt.Errorf("who %s? give --agent, or --token for a server in jwt mode", f.does)}
	}
	options := []client.Option{client.WithToken(f.token)}
	if f.agent != "" {
		if err := feed.CheckAgentID(f.agent); err != nil {
			return nil, &usageError{cmd.CommandPath(), fmt.Errorf("--agent: %w", err)}
		}
		options = append(options, client.WithAgent(f.agent))
	}
	return connect(cmd, f.server(), options...)
}

// calling runs what a command does with a client, which is closed after it, in the time
// that a page may take; err is that of making the client.
func calling(cmd *cobra.Command, c *client.Client, err error, do func(ctx context.Context, c *client.Client) error) error {
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(cmd.Context(), feedWait)
	defer cancel()
	return do(ctx, c)
}

// do runs what a command does as the agent.
func (f *callerFlags) do(cmd *cobra.Command, do func(ctx context.Context, c *client.Client) error) error {
	c, err := f.connect(cmd)
	return calling(cmd, c, err, do)
}

// printPage prints a page as it came, or as text.
func printPage(cmd *cobra.Command, raw json.RawMessage, asJSON bool, text func(w io.Writer, width int) error) error {
	w := cmd.OutOrStdout()
	if asJSON {
		_, err := fmt.Fprintf(w, "%s\n", raw)
		return err
	}
	return text(w, terminalWidth(w))
}

// terminalWidth is the number of columns of a terminal; 0: w is not a terminal.
func terminalWidth(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}
