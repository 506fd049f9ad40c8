package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"

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
