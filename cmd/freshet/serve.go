package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/app"
)

func newServeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the feed over HTTP",
		Long: "Serve the feed over HTTP until SIGINT or SIGTERM, then finish requests and record what was delivered.\n" +
			"Without a configuration everything runs in this process, on 127.0.0.1:8080.",
		Args: cobra.NoArgs,
	}
	demo := cmd.Flags().Bool("demo", false, "put 5,000 made-up items, 8 readers (u_1 to u_8) and a network of 300 authors into the stores, and something new every few seconds; 6 more readers (r_rust, r_food, …) are simulated for a minute; embedded, they have a directory of their own")
	load := addConfigFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg, err := load()
		if err != nil {
			return err
		}
		return serve(cmd.Context(), serverLog(cmd, cfg.Log), cfg, role{demo: *demo})
	}
	return cmd
}

// role holds the settings of a process that are not in its configuration.
type role struct {
	demo  bool
	shape func(*app.App) // changes the system before it serves; nil: nothing
}

func serve(ctx context.Context, log *slog.Logger, cfg configs.Config, r role, options ...app.Option) error {
	slog.SetDefault(log)
	// Listening first: a second server on the same address ends before it
	// touches the data directory.
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", cfg.Server.Addr)
	if err != nil {
		return fmt.Errorf("server.addr: %w", err)
	}
	options = append(options, app.WithLogger(log))
	if r.demo {
		if cfg.UsesElasticsearch() {
			log.WarnContext(ctx, "--demo writes made-up items and readers into this index; try it with an index of its own", "index", cfg.Elasticsearch.Index)
		}
		options = append(options, app.WithDemo())
	}
	a, err := app.Open(ctx, cfg, options...)
	if err != nil {
		_ = listener.Close()
		return err
	}
	if r.shape != nil {
		r.shape(a)
	}
	return a.Serve(ctx, listener)
}

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
