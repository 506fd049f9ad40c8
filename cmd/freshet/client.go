package main

import (
	"cmp"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/configs"
)

// serverFlag is shared by the commands that call a server.
func serverFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("server", "http://127.0.0.1:8080", "URL of the server")
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

// terminalWidth is the number of columns of a terminal; 0: w is none.
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
