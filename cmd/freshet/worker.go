package main

import (
	"errors"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/freshet/freshet/internal/app"
)

func newWorkerCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "Work on the queue of jobs without serving",
		Long: "Brings posts into timelines and into the catalog until SIGINT or SIGTERM, for servers that have\n" +
			"jobs.workers 0. It answers /livez, /readyz and /metrics on server.addr, and nothing else.",
		Args: cobra.NoArgs,
	}
	load := addConfigFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg, err := load()
		if err != nil {
			return err
		}
		switch {
		case !cfg.UsesPostgres():
			return errors.New("posts are not in PostgreSQL (postgres.url), so there is no queue that processes share: the server does the work itself")
		case cfg.Jobs.Workers == 0:
			return errors.New("jobs.workers is 0: set it to how many jobs this worker works on at once")
		}
		cfg.Server.Drain = 0 // nobody sends it calls
		return serve(cmd.Context(), serverLog(cmd, cfg.Log), cfg, role{shape: onlyProbes})
	}
	return cmd
}

// onlyProbes leaves of the routes what those ask that watch a process.
func onlyProbes(a *app.App) {
	all := a.Handler
	mux := http.NewServeMux()
	for _, path := range []string{"/livez", "/readyz", "/metrics"} {
		mux.Handle(path, all)
	}
	a.Handler = mux
}
