package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func newHealthCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Ask a server whether it is ready; exit 1 if not",
		Long: "Asks /readyz, which reports on the server and everything it needs.\n" +
			"Made for the health checks of containers, whose images have no shell and no curl.",
		Args: cobra.NoArgs,
	}
	server := serverFlag(cmd)
	wait := cmd.Flags().Duration("timeout", 3*time.Second, "how long to wait for the answer")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx, cancel := context.WithTimeout(cmd.Context(), *wait)
		defer cancel()
		return health(ctx, cmd.OutOrStdout(), server())
	}
	return cmd
}

// health prints the answer: it names each dependency and its state.
func health(ctx context.Context, out io.Writer, server string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(server, "/")+"/readyz", nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("cannot reach the server: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	if err != nil {
		return fmt.Errorf("the server's answer broke off: %w", err)
	}
	if _, err := fmt.Fprintf(out, "%s\n", strings.TrimSpace(string(body))); err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("the server is not ready: it answered %s", res.Status)
	}
	return nil
}
