package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/freshet/freshet/bench/load"
)

func newLoadCommand() *cobra.Command {
	var s load.Settings
	cmd := &cobra.Command{
		Use:   "load",
		Short: "Load-test a running server with many simulated readers",
		Long: "Sends requests at a fixed rate and reports latencies, errors, and items that were delivered twice.\n" +
			"A latency counts from the moment a request was due, so that a stall is not hidden by the requests it\n" +
			"delays.\n\n" +
			"It exits 1 on any error or repeat. The server must be in header mode, and must not have been\n" +
			"called as these agents before.",
		Example: "  freshet-bench load --server http://127.0.0.1:8080 --rate 200 --for 60s --agents 2000",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := s.Validate(); err != nil {
				return usageError{err}
			}
			return load.Run(cmd.Context(), s, cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&s.Server, "server", "http://127.0.0.1:8080", "where Freshet serves")
	flags.StringVar(&s.Token, "token", os.Getenv("FRESHET_ADMIN_TOKEN"), "admin token, to ingest items meanwhile")
	flags.Float64Var(&s.Rate, "rate", 200, "requests a second")
	flags.DurationVar(&s.Length, "for", time.Minute, "how long")
	flags.IntVar(&s.Agents, "agents", 2000, "how many readers")
	flags.IntVar(&s.Limit, "limit", 10, "items a page")
	flags.DurationVar(&s.Ingest, "ingest", 0, "interval between new items; 0: none")
	flags.StringVar(&s.Prefix, "prefix", fmt.Sprintf("load%d_", time.Now().Unix()), "prefix of the readers' ids")
	return cmd
}
